#include "factors/row_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bestdag {

namespace {

// Rows and sums handled at a time: what a block touches stays in the second-level cache.
constexpr std::size_t kMaxBlockRows = 2048;
constexpr std::size_t kBlockSums = 16'384;
constexpr double kNanosecondsPerLookup = 1.0;
constexpr double kNanosecondsPerExp = 8.0;
constexpr std::size_t kLookupsPerSearch = 30;
// Up to so many states the loop over them is unrolled.
constexpr std::size_t kMaxUnrolled = 12;

template <class Offset>
struct Scratch {
    alignas(64) Offset offsets[kMaxBlockRows];
    alignas(64) std::uint8_t missing[kMaxBlockRows];  // only when some column has missing cells
};

template <class Code, class Offset>
void add_codes(const Code* codes, Offset stride, std::size_t n_rows, Offset* offsets) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) offsets[i] += stride * static_cast<Offset>(codes[i]);
}

template <class Code>
void mark_missing(const Code* codes, std::uint32_t arity, std::size_t n_rows,
                  std::uint8_t* missing) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) missing[i] |= codes[i] == arity;
}

// Fill the offsets of a block of rows; say whether any column may have missing cells.
template <class Offset>
bool fill_offsets(const Table& data, const RowTable& table,
                  std::span<const std::uint8_t> has_missing, std::size_t first_row,
                  std::size_t n_rows, Scratch<Offset>& scratch) noexcept {
    std::fill_n(scratch.offsets, n_rows, Offset{0});
    bool marked = false;
    for (std::size_t p = 0; p < table.columns.size(); ++p) {
        const Column& column = data.column(table.columns[p]);
        const auto stride = static_cast<Offset>(table.strides[p]);
        const auto visit = [&](const auto* codes) {
            add_codes(codes + first_row, stride, n_rows, scratch.offsets);
            if (!has_missing[table.columns[p]]) return;
            if (!std::exchange(marked, true)) {
                std::fill_n(scratch.missing, n_rows, std::uint8_t{0});
            }
            mark_missing(codes + first_row, column.arity, n_rows, scratch.missing);
        };
        column.narrow ? visit(column.narrow) : visit(column.wide);
    }
    return marked;
}

// N = 0: the number of states is known only at run time.
template <std::size_t N, class Offset>
void add_cells(const double* values, std::size_t n_states, const Scratch<Offset>& scratch,
               bool marked, std::size_t n_rows, double* sums) noexcept {
    const std::size_t n = N == 0 ? n_states : N;
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (marked && scratch.missing[i]) continue;
        const double* cells = values + scratch.offsets[i];
        double* row = sums + i * n;
        for (std::size_t k = 0; k < n; ++k) row[k] += cells[k];
    }
}

template <class Offset, std::size_t... N>
void add_cells_of(std::index_sequence<N...>, const RowTable& table, std::size_t n_states,
                  const Scratch<Offset>& scratch, bool marked, std::size_t n_rows,
                  double* sums) noexcept {
    const double* values = table.values.data();
    const bool unrolled =
        ((n_states == N + 1 &&
          (add_cells<N + 1>(values, n_states, scratch, marked, n_rows, sums), true)) ||
         ...);
    if (!unrolled) add_cells<0>(values, n_states, scratch, marked, n_rows, sums);
}

// Mark the rows of a block that have a missing cell in some column of the table.
bool mark_block(const Table& data, const RowTable& table, std::span<const std::uint8_t> has_missing,
                std::size_t first_row, std::size_t n_rows, std::uint8_t* missing) noexcept {
    bool marked = false;
    for (const std::uint32_t c : table.columns) {
        if (c == RowTable::kTarget || !has_missing[c]) continue;
        if (!std::exchange(marked, true)) std::fill_n(missing, n_rows, std::uint8_t{0});
        const Column& column = data.column(c);
        const auto visit = [&](const auto* codes) {
            mark_missing(codes + first_row, column.arity, n_rows, missing);
        };
        column.narrow ? visit(column.narrow) : visit(column.wide);
    }
    return marked;
}

// The rows of a listed table that a block of rows has when the target is in this state.
void find_rows(const Table& data, const RowTable& table, std::uint64_t target_state,
               std::size_t first_row, std::span<std::uint64_t> found) {
    table.finder->find(
        found, [&](std::size_t parent, std::uint64_t stride, std::span<std::uint64_t> keys) {
            if (table.columns[parent] == RowTable::kTarget) {
                for (std::uint64_t& key : keys) key += stride * target_state;
                return;
            }
            const Column& column = data.column(table.columns[parent]);
            const auto visit = [&](const auto* codes) {
                add_codes(codes + first_row, stride, keys.size(), keys.data());
            };
            column.narrow ? visit(column.narrow) : visit(column.wide);
        });
}

void add_listed(const Table& data, const RowTable& table, std::span<const std::uint8_t> has_missing,
                std::size_t n_states, std::size_t first_row, std::size_t n_rows, double* sums) {
    Scratch<std::uint64_t> scratch;
    const bool marked = mark_block(data, table, has_missing, first_row, n_rows, scratch.missing);
    const std::span<std::uint64_t> found{scratch.offsets, n_rows};
    if (table.columns.back() == RowTable::kTarget) {
        find_rows(data, table, 0, first_row, found);
        for (std::uint64_t& offset : found) offset *= table.arity;
        add_cells<0>(table.values.data(), n_states, scratch, marked, n_rows, sums);
        return;
    }
    const Column& child = data.column(table.columns.back());
    // Without the target among the parents, n_states is 1.
    for (std::size_t k = 0; k < n_states; ++k) {
        find_rows(data, table, k, first_row, found);
        for (std::size_t i = 0; i < n_rows; ++i) {
            if (marked && scratch.missing[i]) continue;
            sums[i * n_states + k] += table.values[found[i] * table.arity + child[first_row + i]];
        }
    }
}

template <class Offset>
void add_table(const Table& data, const RowTable& table, std::span<const std::uint8_t> has_missing,
               std::size_t n_states, std::size_t first_row, std::size_t n_rows,
               double* sums) noexcept {
    Scratch<Offset> scratch;
    const bool marked = fill_offsets(data, table, has_missing, first_row, n_rows, scratch);
    add_cells_of(std::make_index_sequence<kMaxUnrolled>(), table, n_states, scratch, marked, n_rows,
                 sums);
}

void share(std::span<double> sums, RowResult result) noexcept {
    const double highest = *std::max_element(sums.begin(), sums.end());
    if (highest == -std::numeric_limits<double>::infinity()) {
        std::fill(sums.begin(), sums.end(), std::numeric_limits<double>::quiet_NaN());
        return;
    }
    double total = 0.0;
    if (result == RowResult::kLogShare) {
        for (const double sum : sums) total += std::exp(sum - highest);
        const double log_total = std::log(total);
        for (double& sum : sums) sum = (sum - highest) - log_total;
        return;
    }
    for (double& sum : sums) {
        sum = std::exp(sum - highest);
        total += sum;
    }
    for (double& sum : sums) sum /= total;
}

double expected_nanoseconds(std::size_t n_rows, std::span<const RowTable> tables,
                            std::size_t n_states, RowResult result) noexcept {
    std::size_t lookups = tables.size() * n_states;
    for (const RowTable& table : tables) {
        lookups += table.columns.size();
        if (table.finder) lookups += n_states * (kLookupsPerSearch + table.columns.size());
    }
    double row = static_cast<double>(lookups) * kNanosecondsPerLookup;
    if (result != RowResult::kSum) row += static_cast<double>(n_states) * kNanosecondsPerExp;
    return static_cast<double>(n_rows) * row;
}

}  // namespace

void sum_row_tables(const Table& data, std::span<const RowTable> tables,
                    std::span<const std::uint8_t> has_missing, std::size_t n_states,
                    RowResult result, std::span<double> out, const Execution& execution) {
    const std::size_t n_rows = data.n_rows();
    const std::size_t block_rows = std::clamp(kBlockSums / n_states, std::size_t{1}, kMaxBlockRows);
    const std::size_t n_blocks = (n_rows + block_rows - 1) / block_rows;
    const double expected = expected_nanoseconds(n_rows, tables, n_states, result);
    parallel_for(n_blocks, expected, execution, [&](std::size_t block, const StopFlag& stop) {
        const std::size_t first = block * block_rows;
        const std::size_t rows = std::min(block_rows, n_rows - first);
        double* sums = out.data() + first * n_states;
        for (const RowTable& table : tables) {
            if (stop.load(std::memory_order_relaxed)) return;
            if (table.finder) {
                add_listed(data, table, has_missing, n_states, first, rows, sums);
                continue;
            }
            // 32 bits do for all but tables of 32 GiB, and are twice as fast.
            if (table.values.size() <= std::numeric_limits<std::uint32_t>::max()) {
                add_table<std::uint32_t>(data, table, has_missing, n_states, first, rows, sums);
            } else {
                add_table<std::uint64_t>(data, table, has_missing, n_states, first, rows, sums);
            }
        }
        if (result == RowResult::kSum) return;
        for (std::size_t i = 0; i < rows; ++i) share({sums + i * n_states, n_states}, result);
    });
}

}  // namespace bestdag
