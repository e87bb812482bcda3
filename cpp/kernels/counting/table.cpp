#include "counting/table.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bitwise.hpp"
#include "special/log_gamma.hpp"

namespace bestdag {

namespace {

constexpr std::uint32_t kFewStates = 12;

TableShape shape_of_columns(const std::vector<Column>& columns, double total, bool has_real) {
    TableShape shape{{}, total, has_real};
    for (const Column& column : columns) shape.arities.push_back(column.arity);
    return shape;
}

double sum_of_weights(const Weights& weights, std::size_t n_rows) {
    if (weights.whole) {
        return static_cast<double>(
            std::accumulate(weights.whole, weights.whole + n_rows, std::int64_t{0}));
    }
    if (weights.real) return std::accumulate(weights.real, weights.real + n_rows, 0.0);
    return static_cast<double>(n_rows);
}

template <class Code>
void set_bits(const Code* codes, std::size_t first, std::size_t n_rows, std::size_t n_words,
              std::uint64_t* words) {
    for (std::size_t row = first; row < n_rows; ++row) {
        words[codes[row] * n_words + row / 64] |= std::uint64_t{1} << (row % 64);
    }
}

template <class Code, class Number>
void append(const Code* codes, Number arity, std::span<Number> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<Number>(numbers[i] * arity + codes[i]);
    }
}

// Add the weight of each row to the count of its state; nullptr weighs every row 1.
template <class Weight>
std::vector<Weight> count_states(const Column& column, const Weight* weights, std::size_t n_rows) {
    std::vector<Weight> counts(column.arity, Weight{0});
    for (std::size_t row = 0; row < n_rows; ++row) {
        counts[column[row]] += weights ? weights[row] : Weight{1};
    }
    return counts;
}

template <class Weight>
double sum_n_log_n(const std::vector<Weight>& counts) {
    double sum = 0.0;
    for (const Weight n : counts) sum += n_log_n(static_cast<double>(n));
    return sum;
}

}  // namespace

template <class Number>
void append_codes(const Column& column, std::size_t first, std::span<Number> numbers) noexcept {
    const auto arity = static_cast<Number>(column.arity);
    if (column.narrow) {
        append(column.narrow + first, arity, numbers);
    } else {
        append(column.wide + first, arity, numbers);
    }
}

template void append_codes(const Column&, std::size_t, std::span<std::uint16_t>) noexcept;
template void append_codes(const Column&, std::size_t, std::span<std::uint32_t>) noexcept;

Table::Table(std::size_t n_rows, std::vector<Column> columns, Weights weights)
    : n_rows_(n_rows),
      columns_(std::move(columns)),
      weights_(weights),
      shape_(shape_of_columns(columns_, sum_of_weights(weights, n_rows), weights.real != nullptr)),
      all_rows_(n_words(), 0),
      bitmaps_(std::make_unique<Bitmaps[]>(columns_.size())),
      marginals_(std::make_unique<Marginal[]>(columns_.size())) {
    std::fill_n(all_rows_.begin(), n_rows / 64, ~std::uint64_t{0});
    if (n_rows % 64 != 0) all_rows_[n_rows / 64] = (std::uint64_t{1} << (n_rows % 64)) - 1;
}

Table Table::slice(std::size_t first, std::size_t n_rows) const {
    std::vector<Column> columns = columns_;
    for (Column& column : columns) {
        if (column.narrow) column.narrow += first;
        if (column.wide) column.wide += first;
    }
    Weights weights = weights_;
    if (weights.whole) weights.whole += first;
    if (weights.real) weights.real += first;
    return Table(n_rows, std::move(columns), weights);
}

const std::uint64_t* Table::bitmaps(std::size_t column) const {
    Bitmaps& bitmaps = bitmaps_[column];
    std::call_once(bitmaps.once, [&] {
        const Column& codes = columns_[column];
        bitmaps.words.assign(codes.arity * n_words(), 0);
        // Few states: one after the other, many rows at a time; then the rows that are left.
        const std::size_t n_full = codes.narrow && codes.arity <= kFewStates ? n_rows_ / 64 : 0;
        for (std::uint32_t s = 0; n_full > 0 && s < codes.arity; ++s) {
            bitwise().mark_equal(codes.narrow, static_cast<std::uint8_t>(s), n_full,
                                 bitmaps.words.data() + s * n_words());
        }
        if (codes.narrow) {
            set_bits(codes.narrow, 64 * n_full, n_rows_, n_words(), bitmaps.words.data());
        } else {
            set_bits(codes.wide, 0, n_rows_, n_words(), bitmaps.words.data());
        }
    });
    return bitmaps.words.data();
}

double Table::marginal_n_log_n(std::size_t column) const {
    Marginal& marginal = marginals_[column];
    std::call_once(marginal.once, [&] {
        const Column& codes = columns_[column];
        marginal.n_log_n = weights_.real
                               ? sum_n_log_n(count_states(codes, weights_.real, n_rows_))
                               : sum_n_log_n(count_states(codes, weights_.whole, n_rows_));
    });
    return marginal.n_log_n;
}

double Table::weight_without_last(std::span<const std::int32_t> columns) const {
    std::vector<const std::uint64_t*> last;
    for (const std::int32_t c : columns) {
        const auto column = static_cast<std::size_t>(c);
        last.push_back(bitmaps(column) + (columns_[column].arity - 1) * n_words());
    }
    std::int64_t whole = 0;
    double real = 0.0;
    for (std::size_t w = 0; w < n_words(); ++w) {
        std::uint64_t rows = all_rows_[w];
        for (const std::uint64_t* const bits : last) rows &= ~bits[w];
        if (!is_weighted()) {
            whole += std::popcount(rows);
            continue;
        }
        for (; rows != 0; rows &= rows - 1) {
            const std::size_t row = 64 * w + static_cast<std::size_t>(std::countr_zero(rows));
            if (weights_.whole) whole += weights_.whole[row];
            if (weights_.real) real += weights_.real[row];
        }
    }
    return weights_.real ? real : static_cast<double>(whole);
}

}  // namespace bestdag
