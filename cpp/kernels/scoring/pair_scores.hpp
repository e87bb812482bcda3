// Scores of every column given each other one, and given some columns that all of them have.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// With m columns: scores[i * m + j] is that of column j with the parents `given` and column i, and
// scores[j * m + j] that of column j with the parents `given` alone. `given` is ascending and has
// none of the columns. Every set is counted once, for both directions.
//
// After `seconds` no further set is begun; scores not worked out are left as they were. Returns
// whether all were. What is written before an interruption is right, too.
bool score_pairs(const Table& table, const Kernel& kernel, std::span<const std::int32_t> given,
                 std::span<const std::int32_t> columns, double seconds, std::span<double> scores,
                 const Execution& execution);

}  // namespace bestdag
