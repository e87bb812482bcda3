// Scores of every single-parent change of a family.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/families.hpp"
#include "kernels/kernel.hpp"
#include "kernels/parallel.hpp"

namespace bestdag {

// The candidates of family i are members[offsets[i] .. offsets[i + 1]).
struct CandidateLists {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> members;
};

// scores[k]: the score of the family that members[k] is a candidate of after adding it to its
// parents, or dropping it when it is one of them, or as it is when it is the child itself. Equal
// to the last bit to what score_families gives for the changed family.
//
// All additions to a family come from one partition of the rows.
void score_changes(const Table& table, const Kernel& kernel, const FamilyList& families,
                   const CandidateLists& candidates, std::span<double> scores,
                   const Execution& execution);

}  // namespace bestdag
