// What rounding left open in the dynamic program over subsets, decided without another array.
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
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "exact/subset_dp.hpp"

namespace bestdag {

// Among all choices that cost at most `most` units: one of least cost in fine units, exactly.
// `value` is R in units. The problem's fine costs are whole numbers, ascending for each variable,
// whose sums over the choices that matter are exact (below 2^53). Ties go to the smallest variable
// as last one. Nothing when there are more than max_steps steps from subset to subset. Throws
// Interrupted.
std::optional<SubsetSolution> best_of_rivals(const SubsetProblem& problem,
                                             const std::function<double(std::uint64_t)>& value,
                                             double most, std::size_t max_steps,
                                             const std::function<bool()>& should_stop);

}  // namespace bestdag
