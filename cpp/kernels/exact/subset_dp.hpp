// The best acyclic choice of one candidate parent set per variable, by dynamic programming over
// all 2^n subsets of the variables (Silander and Myllymaki 2006), in one array of 2^n cells:
//
//     R(S) = min over v in S of R(S \ v) + best_v(S \ v),   R({}) = 0,
//     best_v(S) = least cost of a candidate set of v inside S.
//
// No other table is kept: the sinks and sets of an optimum are found again by walking back from
// the full set. The bits of a subset are, from the lowest: `within` a block of 2^within cells that
// is computed at once in cache; the `middle` bits, walked through by one task; the `top` bits,
// which number the tasks. Tasks with equally many top bits set do not depend on each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "exact/subset_block.hpp"

namespace bestdag {

inline constexpr int kMaxSubsetVariables = 40;  // 4 TiB

// Candidate sets of variable v are first[v] .. first[v + 1] - 1, in ascending order of cost.
// A cost is a whole number of units; sets that cost `limit` or more are never used.
struct SubsetProblem {
    int n = 0;
    std::span<const std::int64_t> first;
    std::span<const std::uint64_t> members;  // bit u: variable u is in the set
    std::span<const double> costs;
    std::span<const double> fine = {};  // the same in smaller units, or nothing
};

struct SubsetSolution {
    bool feasible = false;  // some choice costs less than limit
    double cost = 0.0;      // units
    std::optional<double> fine;
    std::vector<std::int64_t> chosen;
};

// Told the share of the work done, now and then, by the calling thread; returns true to stop.
using Watch = std::function<bool(double)>;

// A choice of least cost. With fine costs, one of least fine cost among all that cost at most
// n + 1 units more than that, when these are few enough to be looked at and time allows; then
// `fine` is set. A limit above the incumbent by n + 2 lets all of them count.
//
// T is uint32_t or double: cells of 4 or 8 bytes, limit at most CellTraits<T>::kMaxLimit.
// Throws Interrupted when execution or `watch` said to stop, std::bad_alloc when the cells do not
// fit, std::invalid_argument for a malformed problem.
template <class T>
SubsetSolution best_by_subsets(const SubsetProblem& problem, double limit,
                               const Execution& execution, const Watch& watch);

// What the cells and the working memory of the threads take.
double subset_bytes(int n, std::size_t n_sets, int threads, std::size_t bytes_per_cell);

namespace detail {
const BlockLoops<std::uint32_t>* narrow_loops_avx2() noexcept;  // nullptr where not compiled in
const BlockLoops<std::uint32_t>* narrow_loops_avx512() noexcept;
const BlockLoops<double>* wide_loops_avx2() noexcept;
const BlockLoops<double>* wide_loops_avx512() noexcept;
}  // namespace detail

}  // namespace bestdag
