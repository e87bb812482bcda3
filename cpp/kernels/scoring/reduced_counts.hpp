// Joint counts of all small sets of columns from few numbers: those of the joint values in which no
// column has its last state. The others follow from these numbers for all subsets, because a
// column's last state has what the others leave. So a set of m columns with r states takes
// (r - 1)^m new counts instead of r^m, each the number of common bits of bitmaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/subsets.hpp"
#include "counting/table.hpp"

namespace bestdag {

// The numbers, for sets with few of them; shared by threads, each of which fills rows of its own.
// A row has all sets that add one larger column to the same prefix, the larger ones ascending; of
// a set, the last column's states vary fastest.
class ReducedCounts {
public:
    // Requires a table without weights. `subsets` must outlive it.
    ReducedCounts(const Table& table, const Subsets& subsets);

    // States without the last; a column with one state has a second, which never occurs.
    std::size_t states(std::int32_t column) const { return states_[index(column)]; }

    // How many numbers a set has; those with more than `most` have none here.
    std::size_t n_numbers(std::span<const std::int32_t> columns) const;
    std::size_t most() const noexcept { return most_; }
    bool covers(std::size_t numbers_of_prefix, std::int32_t column) const {
        return numbers_of_prefix <= most_ && numbers_of_prefix * states(column) <= most_;
    }

    // Room for the sets of one size, the sizes ascending from 1; what that takes.
    void add_size(std::size_t size);
    double bytes_of(std::size_t size) const;
    bool has_size(std::size_t size) const noexcept { return size <= rows_.size(); }

    // Numbers in the row of a prefix, and where those of column d are in it.
    std::size_t row_size(std::span<const std::int32_t> prefix) const;
    std::size_t place(std::size_t numbers_of_prefix, std::int32_t first, std::int32_t d) const {
        if (numbers_of_prefix > most_) return 0;
        const auto& ends = ends_[numbers_of_prefix];
        return ends[index(d)] - ends[index(first)];
    }
    std::uint32_t* row(std::span<const std::int32_t> prefix);

    double bytes() const noexcept;

private:
    static std::size_t index(std::int32_t column) { return static_cast<std::size_t>(column); }

    struct Rows {
        std::vector<std::size_t> starts;  // by rank of the prefix
        std::vector<std::uint32_t> numbers;
    };

    template <class Use>
    void for_prefixes(std::size_t size, const Use& use) const;

    const Subsets& subsets_;
    std::size_t most_;
    std::vector<std::size_t> states_;
    // By numbers of the prefix: over the columns, numbers of all before it.
    std::vector<std::vector<std::size_t>> ends_;
    std::vector<Rows> rows_;  // by size - 1
};

// One thread's counting of the sets of one prefix.
class ReducedCounter {
public:
    ReducedCounter(const Table& table, ReducedCounts& counts);

    // Count the prefix with each of the columns: ascending, larger than those of the prefix and
    // covered. All smaller sets must be there. If the numbers of this size are kept, the row of the
    // prefix gets them.
    void count(std::span<const std::int32_t> prefix, std::span<const std::int32_t> columns,
               const StopFlag& stop);

    // Cells of the prefix with one of these columns, its states fastest. A column with one state
    // has two here; the second is empty.
    std::span<const std::uint32_t> cells(std::int32_t d);

    // The same for `n` <= kTogether columns at once, d, d + 1, ...: cell k of the i-th is at
    // [k * kTogether + i]. Requires two states, or one, of every column.
    static constexpr std::size_t kTogether = 64;
    const std::uint32_t* cells_together(std::int32_t d, std::size_t n);

private:
    // Where a cell with the prefix's states (or the sum over some of them) comes from.
    struct Source {
        std::size_t subset;  // bits of the prefix's columns that are not summed over
        std::size_t place;   // of the numbers of that subset
    };

    void plan(std::span<const std::int32_t> prefix);
    void count_numbers(std::span<const std::int32_t> columns, const StopFlag& stop);
    void fill_bitmaps(std::size_t first_word, std::size_t n_words);
    void keep(std::span<const std::int32_t> columns);

    const Table& table_;
    ReducedCounts& counts_;
    std::vector<const std::uint64_t*> bitmaps_;  // by column

    std::vector<std::int32_t> prefix_;
    std::int32_t first_ = 0;  // the least column that may follow
    std::size_t n_numbers_ = 1;
    std::vector<Source> sources_;       // by cell of the prefix, sums included
    std::vector<std::uint32_t> whole_;  // of each such cell, the rows
    // By subset of the prefix: its row, what may follow it first and its numbers.
    struct Row {
        const std::uint32_t* numbers;
        std::int32_t first;
        std::size_t n_numbers;
    };
    std::vector<Row> rows_;
    std::vector<std::uint32_t> own_;  // the row of the prefix, where it is not kept
    std::vector<std::size_t> extended_;
    std::vector<std::int32_t> subset_;
    std::vector<std::uint32_t> cells_, together_;
    AlignedWords bits_, spare_bits_;
};

}  // namespace bestdag
