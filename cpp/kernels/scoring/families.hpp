// Scores of many families in one call.
#pragma once

#include <span>

#include "base/parallel.hpp"
#include "counting/family_list.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// scores[i] = local score of families[i]; does not depend on the number of threads.
void score_families(const Table& table, const Kernel& kernel, const FamilyList& families,
                    std::span<double> scores, const Execution& execution);

}  // namespace bestdag
