// The observed counts of one family: configurations that occur, and how often.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "counting/family_counts.hpp"

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

// Appends the configurations that occur to an ObservedCounts.
template <class Count>
class Collector {
public:
    Collector(const TableShape& table, const Family& family, double max_cells, ObservedCounts& out)
        : table_(table), family_(family), max_cells_(max_cells), out_(out) {}

    void operator()(const CountRows<Count>& rows) {
        std::size_t number = rows.first;
        for (std::size_t begin = 0; begin < rows.cells.size(); begin += rows.arity, ++number) {
            const auto cells = rows.cells.subspan(begin, rows.arity);
            if (std::all_of(cells.begin(), cells.end(), [](Count n) { return n == Count{0}; })) {
                continue;
            }
            append(cells);
            if (rows.data_rows) {
                append_codes_of_row(*rows.data, rows.data_rows[begin / rows.arity]);
            } else {
                append_codes_of_number(number);
            }
        }
    }

private:
    void append(std::span<const Count> cells) {
        ++out_.n_rows;
        const double n_cells = static_cast<double>(out_.n_rows) * static_cast<double>(cells.size());
        if (n_cells > max_cells_) throw TooManyCells("too many cells");
        if constexpr (std::is_same_v<Count, double>) {
            out_.real.insert(out_.real.end(), cells.begin(), cells.end());
        } else {
            for (const Count n : cells) out_.whole.push_back(static_cast<std::int64_t>(n));
        }
    }

    void append_codes_of_row(const Table& data, std::uint32_t row) {
        for (const std::int32_t parent : family_.parents) {
            const Column& column = data.column(static_cast<std::size_t>(parent));
            out_.configurations.push_back(static_cast<std::uint16_t>(column[row]));
        }
    }

    // The last parent's code varies fastest.
    void append_codes_of_number(std::size_t number) {
        const std::size_t n_parents = family_.parents.size();
        out_.configurations.resize(out_.configurations.size() + n_parents);
        for (std::size_t back = 1; back <= n_parents; ++back) {
            const auto parent = static_cast<std::size_t>(family_.parents[n_parents - back]);
            const std::size_t arity = table_.arities[parent];
            out_.configurations[out_.configurations.size() - back] =
                static_cast<std::uint16_t>(number % arity);
            number /= arity;
        }
    }

    const TableShape& table_;
    const Family& family_;
    double max_cells_;
    ObservedCounts& out_;
};

}  // namespace bestdag
