// Scores of every single-parent change of a family.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/families.hpp"
#include "kernels/kernel.hpp"
#include "kernels/parallel.hpp"

namespace bestdag {

// scores[i * candidates.size() + k]: the score of families[i] after adding candidates[k] to its
// parents, or dropping it when it is one of them, or as it is when it is the child itself. Equal
// to the last bit to what score_families gives for the changed family.
//
// All additions come from one partition of the rows by the family.
void score_changes(const Table& table, const Kernel& kernel, const FamilyList& families,
                   std::span<const std::int32_t> candidates, std::span<double> scores,
                   const Execution& execution);

// The same with candidates of its own for each family: those of families[i] are
// candidates[ends[i] .. ends[i+1]-1], and scores[k] belongs to candidates[k].
void score_listed_changes(const Table& table, const Kernel& kernel, const FamilyList& families,
                          std::span<const std::int64_t> ends,
                          std::span<const std::int32_t> candidates, std::span<double> scores,
                          const Execution& execution);

}  // namespace bestdag
