// From the values of subsets to a choice: the way down from the full set, and what rounding left
// open on it, decided without another array.
//
// The recursion runs on costs in coarse units. Choices whose sums differ by a few units may be in
// another order before rounding. The subsets such choices pass through are few: S is one of them
// when
//
//     spent(S) + R(S) <= R(all) + slack,
//
// where spent(S) is the least cost of what comes after S. They are collected from the full set
// down, and the recursion is run again on them alone, on the same costs in fine units. That the
// best set inside a subset is the first in the list holds for both units.
//
// Not all values need to be known at once: subsets are taken layer by layer (subset_lattice.hpp),
// and whoever knows the values is asked to find those of lower layers again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "exact/subset_dp.hpp"

namespace bestdag {

// Who knows R, in units. A subset's layer is never below that of one inside it.
class SubsetOracle {
public:
    virtual ~SubsetOracle() = default;

    virtual int layer(std::uint64_t subset) const = 0;

    // Whether R is known on this layer and on the one below.
    virtual bool is_known(int layer) const = 0;

    // Nothing else will be asked about than the subsets of these: find R of them again, so that it
    // is known on the highest layer that one of these has then. Layers may change, and values may
    // be smaller: orders of pairs that no longer matter are forgotten. Throws Interrupted.
    virtual void find_again(std::span<const std::uint64_t> subsets) = 0;

    virtual void read(std::span<const std::uint64_t> subsets, std::span<double> values) const = 0;
};

struct Descent {
    SubsetSolution least;  // of least cost
    std::optional<SubsetSolution>
        finest;  // of least fine cost, `fine` is set; when it was asked for
};

// A choice that costs R(all) units, or less where values that were found again are of fewer orders.
// With fine costs also, among all choices that cost at
// most `most` units, one of least cost in fine units, exactly: the fine costs are whole numbers,
// ascending for each variable, whose sums over the choices that matter are below 2^53. Ties go to
// the smallest variable as last one. No finest when there are more than max_steps steps from subset
// to subset, or when should_stop said so in time. Throws Interrupted when the oracle does.
Descent descend(const SubsetProblem& problem, SubsetOracle& oracle, double most,
                std::size_t max_steps, const std::function<bool()>& should_stop);

}  // namespace bestdag
