// A table of codes as the kernels see it: columns owned by the caller, bitmaps of rows made on
// first use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/aligned_words.hpp"

namespace bestdag {

// Codes of one column, one or two bytes each: exactly one pointer is set. Codes are < arity.
struct Column {
    const std::uint8_t* narrow = nullptr;
    const std::uint16_t* wide = nullptr;
    std::uint32_t arity = 1;

    std::uint32_t operator[](std::size_t row) const noexcept {
        return narrow ? narrow[row] : wide[row];
    }
};

// numbers[i] = numbers[i] * arity + code of row first + i: the mixed-radix number of a
// configuration. Number is std::uint32_t, or std::uint16_t where all numbers fit (twice as many at
// a time).
template <class Number>
void append_codes(const Column& column, std::size_t first, std::span<Number> numbers) noexcept;

// Row weights: whole numbers, real numbers, or none (every row counts once).
struct Weights {
    const std::int64_t* whole = nullptr;
    const double* real = nullptr;
};

// What is known of a table without its rows.
struct TableShape {
    std::vector<std::uint32_t> arities;  // by column
    double total_weight = 0.0;           // N
    bool has_real_weights = false;

    double arity(std::size_t column) const noexcept { return static_cast<double>(arities[column]); }
};

// What a score may ask of the data beside the counts of a family. Both are functions of these
// counts, and of those of every family with the same columns.
class Marginals {
public:
    virtual ~Marginals() = default;

    // Sum of n ln n over the states of one column, n their counts.
    virtual double marginal_n_log_n(std::size_t column) const = 0;

    // The weight of the rows in which none of these columns has its last state.
    virtual double weight_without_last(std::span<const std::int32_t> columns) const = 0;
};

class Table final : public Marginals {
public:
    // Requires n_rows >= 1, every pointer valid for n_rows while the table lives, weights >= 0 and
    // a sum of whole weights below 2^53.
    Table(std::size_t n_rows, std::vector<Column> columns, Weights weights);

    std::size_t n_rows() const noexcept { return n_rows_; }
    std::size_t n_columns() const noexcept { return columns_.size(); }
    const Column& column(std::size_t i) const noexcept { return columns_[i]; }
    const Weights& weights() const noexcept { return weights_; }
    bool is_weighted() const noexcept { return weights_.whole || weights_.real; }
    const TableShape& shape() const noexcept { return shape_; }
    double total_weight() const noexcept { return shape_.total_weight; }  // N

    // The rows first .. first + n_rows - 1 as a table of their own, over the same arrays.
    Table slice(std::size_t first, std::size_t n_rows) const;

    // Bitmaps of one column, one per state, each n_words() long: bit t of word w of state s tells
    // whether row 64 w + t has state s. Built once, by whichever thread asks first. Each begins on
    // a cache line unless it is shorter than one; what is beyond the rows is zero.
    const std::uint64_t* bitmaps(std::size_t column) const;
    std::size_t n_words() const noexcept {
        const std::size_t words = (n_rows_ + 63) / 64;
        return words < kLineWords ? words : (words + kLineWords - 1) / kLineWords * kLineWords;
    }
    // Bitmap with every row of the table set.
    const std::uint64_t* all_rows() const noexcept { return all_rows_.data(); }

    // Worked out once, by whichever thread asks first.
    double marginal_n_log_n(std::size_t column) const override;
    double weight_without_last(std::span<const std::int32_t> columns) const override;

private:
    struct Bitmaps {
        std::once_flag once;
        AlignedWords words;
    };
    struct Marginal {
        std::once_flag once;
        double n_log_n = 0.0;
    };

    std::size_t n_rows_;
    std::vector<Column> columns_;
    Weights weights_;
    TableShape shape_;
    AlignedWords all_rows_;
    std::unique_ptr<Bitmaps[]> bitmaps_;
    std::unique_ptr<Marginal[]> marginals_;
};

}  // namespace bestdag
