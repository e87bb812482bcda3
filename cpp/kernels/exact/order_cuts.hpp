// Cuts on a few variables W, of any form: a gain for each set of parents inside W, and the most
// that an acyclic choice can gain in all,
//
//     sum_{v in W} sum_f gain_v(P_f and W) x_f <= most.
//
// Every facet of the polytope of acyclic choices among |W| variables is one, clusters and the
// facets of Cussens, Jarvisalo, Korhonen and Bartlett (2017) included. Validity is a recursion over
// the subsets of W (the last of an order gains from some of those before it), which takes
// microseconds: so cuts are found as local cuts are (Applegate, Bixby, Chvatal and Cook 2001), by a
// small linear program whose columns are acyclic choices, and lifted and checked in whole numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "search/choice_sets.hpp"

namespace bestdag {

inline constexpr std::size_t kMostOrderCutMembers = 8;
inline constexpr std::int32_t kMostOrderCutGain = 30;

struct OrderCut {
    std::vector<std::int32_t> members;  // ascending
    // gains[i << members.size() | S]: of members[i] with the members in S (bits) as its parents
    // inside; S without i. Never falls as S grows; 0 for the empty S of each member.
    std::vector<std::int32_t> gains;
    std::int32_t most = 0;

    std::span<const std::int32_t> gains_of(std::size_t i) const noexcept {
        return {gains.data() + (i << members.size()), std::size_t{1} << members.size()};
    }
    std::int32_t largest_of(std::size_t i) const noexcept {
        return *std::max_element(gains_of(i).begin(), gains_of(i).end());
    }
    // In the form of other cuts: what is forgone of the largest gains is at least this.
    std::int32_t right_side() const noexcept {
        std::int32_t total = -most;
        for (std::size_t i = 0; i < members.size(); ++i) total += largest_of(i);
        return total;
    }
};

// The most that acyclic choices of parents among the members gain.
std::int32_t most_gain(std::size_t n_members, std::span<const std::int32_t> gains);

struct ViolatedOrderCut {
    OrderCut cut;
    double violation;  // (left-hand side - most) / the largest gain, > 0
};

// `support`: sets with x > 0, grouped by child. Looks among the n_members variables that the
// support ties together around each variable. Different cuts only, most violated first. Finding
// none does not mean that there is none; every cut is valid.
std::vector<ViolatedOrderCut> separate_order_cuts(const ChoiceSets& sets,
                                                  std::span<const std::int64_t> support,
                                                  std::span<const double> x, std::size_t n_members,
                                                  double min_violation, std::size_t most,
                                                  const StopFlag& stop);

}  // namespace bestdag
