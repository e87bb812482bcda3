// Dynamic programming over subsets that looks only where an optimum may be: a subset is dropped
// when what its members cost at least, and what multipliers on clusters prove of all others, reach
// the cutoff.
//
// A subset S stands for the choices that have it first in an order. Its members contribute at least
// min(k, |C and S|) to the cut of a cluster (C, k), see cut_pool.hpp, whatever their parents are:
// the i-th of them in C has fewer than i parents there. Let R(S) be the least that S costs, m_c >= 0
// multipliers, and r_v the least reduced cost of variable v. Along an order
//     R(S) - sum_{v in S} r_v - sum_c m_c min(k_c, |C_c and S|)
// never falls: a set that does not contribute to a cluster of which S has fewer than k members
// would have k members of it in S. At the end it is the cost of a choice less the bound that the
// multipliers prove. So
//     f(S) = R(S) + sum_{v not in S} r_v + sum_c m_c (k_c - min(k_c, |C_c and S|))
// is a lower bound of the choices that have S first, and may guide a search over the order graph
// (Yuan and Malone 2013), which is done here subset size after subset size (Malone, Yuan, Hansen
// and Bridges 2011).
//
// A variable whose cheapest set is inside S follows at once: a choice that has S first costs no
// more when it does (Karan and Zola 2016).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace bestdag {

struct GuideCluster {
    std::uint64_t members = 0;
    int k = 1;                    // at most as many as there are members
    std::int64_t multiplier = 0;  // > 0
};

// Variables 0 .. n-1, n <= 64. The sets of variable v are first[v] .. first[v + 1] - 1, at least
// one, costs ascending, in whole units >= 0; least[v] is the least reduced cost of v's sets. Sums
// of costs, multipliers times k, and cutoffs stay below 2^62.
struct FrontierProblem {
    std::vector<std::size_t> first;
    std::vector<std::uint64_t> masks;
    std::vector<std::int64_t> costs;
    std::vector<std::int64_t> least;
    std::vector<GuideCluster> clusters;
};

struct FrontierResult {
    // A best choice of those that were met and cost less than the cutoff, as set numbers; or empty.
    std::vector<std::size_t> chosen;
    std::int64_t cost = 0;  // of the choice
    // No choice costs less: the cost of `chosen`, or the cutoff, when nothing was left out.
    std::int64_t bound = 0;
    bool is_complete = false;  // whether nothing was left out
    std::size_t expanded = 0;  // subsets from which steps were taken
    std::size_t n_bytes = 0;   // most memory at a time
};

// Search for a best choice that costs less than `cutoff`. Of the subsets of each size the `width`
// with the least f are followed, ties by number; when there are more the answer is incomplete,
// which makes a beam search. Throws Interrupted.
FrontierResult search_frontier(const FrontierProblem& problem, std::int64_t cutoff,
                               std::size_t width, const StopFlag& stop);

}  // namespace bestdag
