// A good acyclic choice of parent sets, quickly: orders of the variables improved by moving one
// variable at a time. For the incumbent of an exact search over at most 64 variables.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/subset_dp.hpp"

namespace bestdag {

// Costs need not be whole. Returns the chosen set of each variable, counted from its first, or
// nothing when no choice is acyclic. Begins with a greedy order and then goes on from the best so
// far, shaken, `rounds` times. Asked to stop between rounds, it throws Interrupted.
std::vector<std::int64_t> climb_orders(const SubsetProblem& problem, int rounds,
                                       const Execution& execution);

}  // namespace bestdag
