// Many families in one call: their counts, or their scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "counting/family_counts.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// Families as three arrays: family i is children[i] with parents[offsets[i] .. offsets[i + 1]),
// ascending. offsets has one entry more than children.
struct FamilyList {
    std::span<const std::int32_t> children;
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> parents;

    std::size_t size() const noexcept { return children.size(); }
    Family operator[](std::size_t i) const noexcept {
        const auto first = static_cast<std::size_t>(offsets[i]);
        const auto last = static_cast<std::size_t>(offsets[i + 1]);
        return {static_cast<std::size_t>(children[i]), parents.subspan(first, last - first)};
    }
};

// The observed configurations of one family, in lexicographic order, and their counts.
struct ObservedCounts {
    std::vector<std::uint16_t> configurations;  // one row of parent codes per configuration
    std::vector<std::int64_t> whole;            // counts, row-major; empty with real weights
    std::vector<double> real;                   // counts, row-major; empty without real weights
    std::size_t n_rows = 0;                     // configurations observed
};

// The observed counts of one family have more cells than the caller allows.
class TooManyCells : public std::length_error {
public:
    using std::length_error::length_error;
};

std::vector<ObservedCounts> count_families(const Table& table, const FamilyList& families,
                                           double max_cells, const Execution& execution);

// scores[i] = local score of families[i]; does not depend on the number of threads.
void score_families(const Table& table, const Kernel& kernel, const FamilyList& families,
                    std::span<double> scores, const Execution& execution);

}  // namespace bestdag
