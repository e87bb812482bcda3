// Scores of every family with at most a given number of parents.
#pragma once

#include <cstddef>
#include <span>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// scores[child * m + i] belongs to the i-th set of at most max_parents of the other columns, in
// the order of Subsets (the others numbered ascending, the child left out); m is their number.
//
// Every set of columns is counted once. A score with a set function needs one number per set; any
// other gets the set's counts once per member, as the family of that member.
void score_all_families(const Table& table, const Kernel& kernel, std::size_t max_parents,
                        std::span<double> scores, const Execution& execution);

}  // namespace bestdag
