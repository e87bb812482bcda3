// Lists of parent sets with upper bounds, made shorter: what is left promises no less.
//
// Somebody who may choose a set Q at its score gives nothing away by choosing a subset P of Q at a
// score that is no lower: fewer parents close no new cycle. So a list may lose a set for a subset
// of it with the larger of the scores.
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
