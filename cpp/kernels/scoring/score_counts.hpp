// Scores from tables of counts, whoever counted them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "counting/family_list.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// The observed configurations of one family, in lexicographic order, and a row of counts for
// each: `whole`, or `real` where weights are real.
struct CountsView {
    const std::uint16_t* configurations;
    std::span<const std::int64_t> whole;
    std::span<const double> real;
};

// Upper bounds on the scores of all families of a child with these parents and at least one more,
// whose arity is at least growth[i]; infinite where nothing is known.
struct BoundsWanted {
    std::span<const double> growth;
    std::span<double> bounds;
};

// scores[i] = local score of families[i] from counts[i]: equal to the last bit to what
// score_families gives where all rows are in memory and count as whole numbers. Bounds are left
// out where `wanted` is empty.
void score_counts(const TableShape& table, const Kernel& kernel, const FamilyList& families,
                  std::span<const CountsView> counts, std::span<double> scores,
                  const BoundsWanted& wanted, const Execution& execution);

}  // namespace bestdag
