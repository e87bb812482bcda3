// Equal rows of a table, found once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "counting/table.hpp"

namespace bestdag {

struct DistinctRows {
    std::vector<std::uint32_t> rows;    // one row of each kind, in lexicographic order of the codes
    std::vector<double> weights;        // of all rows of the kind together
    std::vector<std::uint32_t> number;  // of the kind of each row of the table
};

// Missing cells (code = arity) are equal to each other. Weights are added in the order of the rows.
// Requires fewer than 2^32 rows. Throws Interrupted.
DistinctRows distinct_rows(const Table& table, const Execution& execution);

}  // namespace bestdag
