// The observed counts of many families in one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "counting/family_list.hpp"
#include "counting/table.hpp"

namespace bestdag {

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

}  // namespace bestdag
