// Sums over the tables of a network, looked up at the states of each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "factors/row_finder.hpp"

namespace bestdag {

// One table of logarithms over some columns and the states k of one more variable, the target. Row
// i looks at the cells offset(i) + k, where offset(i) = sum_p strides[p] * code of columns[p].
// Without a target there is one k.
//
// With a finder, the table is that of a family, of which some parent configurations are listed:
// values has a row of `arity` numbers for each, and one more for all others. The columns are those
// of the parents and, last, of the child; kTarget stands for the target, which has no column.
struct RowTable {
    static constexpr std::uint32_t kTarget = 0xffffffff;

    std::span<const double> values;
    std::span<const std::uint32_t> columns;
    std::span<const std::uint64_t> strides;  // none with a finder
    const RowFinder* finder = nullptr;
    std::size_t arity = 0;  // of the child; with a finder
};

enum class RowResult : int {
    kSum = 0,       // s_k = start + sum of the tables
    kLogShare = 1,  // s_k - ln sum_m exp s_m
    kShare = 2,     // exp s_k / sum_m exp s_m, without overflow or underflow of the sum
};

// Work out n_states numbers for each row of `data`, row after row, in `out`, whose content is
// where the sums start. A table with a missing cell in the row (code = arity) adds nothing; only
// columns where has_missing is set may have such codes. Shares of a row where every s_k is minus
// infinity are NaN. Requires: out.size() = n_rows * n_states; n_states cells behind every offset;
// a table with a finder has at most one kTarget, and then n_states is the arity of the target;
// no value is NaN or plus infinity. A row's numbers do not depend on threads or on other rows.
// Throws Interrupted; `out` then holds anything.
void sum_row_tables(const Table& data, std::span<const RowTable> tables,
                    std::span<const std::uint8_t> has_missing, std::size_t n_states,
                    RowResult result, std::span<double> out, const Execution& execution);

}  // namespace bestdag
