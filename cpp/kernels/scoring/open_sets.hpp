// Lists of parent sets with upper bounds, made shorter: no bound becomes lower.
//
// Where a set Q may be chosen at its score, a subset P of Q with a score that is no lower may be
// chosen instead: fewer parents close no new cycle. So a set of the list may be replaced by a
// subset of it with the larger of the scores.
#pragma once

#include <cstddef>
#include <span>

#include "scoring/found_sets.hpp"

namespace bestdag {

// At most `most` >= 1 sets are left: those with the lowest scores lose their last members, and of
// sets side by side that become equal one is left, with the highest score.
void coarsen(FoundSets& sets, std::size_t most);

// Leaves out every set of which a subset, or the set itself once more, has a score as high; the
// rest come best first.
void drop_dominated(FoundSets& sets, const StopFlag& stop);

// Both, for each list, on threads.
void make_optimistic(std::span<FoundSets> lists, std::size_t most, const Execution& execution);

}  // namespace bestdag
