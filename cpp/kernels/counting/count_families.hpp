// The observed counts of many families in one call.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "counting/family_list.hpp"
#include "counting/observed_counts.hpp"
#include "counting/table.hpp"

namespace bestdag {

std::vector<ObservedCounts> count_families(const Table& table, const FamilyList& families,
                                           double max_cells, const Execution& execution);

}  // namespace bestdag
