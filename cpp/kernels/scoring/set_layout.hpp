// A table laid out for a walk over all sets of its columns: the distinct rows, the columns in the
// order in which the walk decides on them, and the shapes of sets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scoring/arity_shapes.hpp"

namespace bestdag {

inline constexpr std::uint32_t kFirst = 255;  // "differs" of the first row of a cell

template <class Weight>
struct DistinctRow {
    std::uint32_t number;   // among the distinct rows
    std::uint32_t differs;  // the last place at which it differs from the row before in its cell
    Weight weight;
};

// What is the same for all threads: the distinct rows, the places and the shapes.
template <class Weight>
struct SetLayout {
    const Table& table;
    std::size_t n;
    std::vector<std::size_t> column;  // at each place
    std::vector<std::vector<std::uint16_t>> codes;
    std::vector<DistinctRow<Weight>> rows;
    ArityShapes shapes;           // of the columns at the places
    std::vector<double> n_cells;  // of each shape
    std::size_t n_tail;
    std::vector<std::uint32_t> tail_shape;  // of each set of the last n_tail places

    SetLayout(const Table& table_, const StopFlag& stop)
        : table(table_),
          n(table_.n_columns()),
          column(by_entropy(table_)),
          shapes(arities_at(table_, column)),
          n_cells(shapes.n_cells()),
          n_tail(std::min(n, kTailColumns)) {
        std::vector<std::size_t> tail(n_tail);  // from the last place on
        for (std::size_t k = 0; k < n_tail; ++k) tail[k] = n - 1 - k;
        tail_shape = shapes.of_sets(tail);
        collapse(stop);
    }

    std::size_t arity(std::size_t place) const { return table.column(column[place]).arity; }

private:
    // Columns that tell much come first: their cells are soon small. What is left at the end of a
    // walk, where most of the sets are, is then told apart by columns that tell little.
    static std::vector<std::size_t> by_entropy(const Table& table) {
        std::vector<double> entropy(table.n_columns());
        for (std::size_t c = 0; c < entropy.size(); ++c) entropy[c] = -table.marginal_n_log_n(c);
        std::vector<std::size_t> column(table.n_columns());
        std::iota(column.begin(), column.end(), std::size_t{0});
        std::stable_sort(column.begin(), column.end(),
                         [&](std::size_t a, std::size_t b) { return entropy[a] > entropy[b]; });
        return column;
    }

    static std::vector<std::size_t> arities_at(const Table& table,
                                               const std::vector<std::size_t>& columns) {
        std::vector<std::size_t> arities;
        for (const std::size_t c : columns) arities.push_back(table.column(c).arity);
        return arities;
    }

    double weight_of(std::size_t row) const {
        const Weights& weights = table.weights();
        if (weights.real) return weights.real[row];
        return weights.whole ? static_cast<double>(weights.whole[row]) : 1.0;
    }

    // Sort by the last place, then the one before and so on; equal rows become one.
    void collapse(const StopFlag& stop) {
        std::vector<std::uint32_t> order, sorted;
        for (std::size_t row = 0; row < table.n_rows(); ++row) {
            if (weight_of(row) > 0.0) order.push_back(static_cast<std::uint32_t>(row));
        }
        sorted.resize(order.size());
        std::vector<std::size_t> begin;
        for (std::size_t place = 0; place < n; ++place) {
            if (stop) return;
            const Column& codes_here = table.column(column[place]);
            begin.assign(codes_here.arity + 1, 0);
            for (const std::uint32_t row : order) ++begin[codes_here[row] + 1];
            std::partial_sum(begin.begin(), begin.end(), begin.begin());
            for (const std::uint32_t row : order) sorted[begin[codes_here[row]]++] = row;
            order.swap(sorted);
        }
        codes.resize(n);
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i % kRowsAtOnce == 0 && stop) return;
            const std::uint32_t differs = i == 0 ? kFirst : last_difference(order[i - 1], order[i]);
            if (differs == kNone) {
                rows.back().weight += static_cast<Weight>(weight_of(order[i]));
                continue;
            }
            rows.push_back({static_cast<std::uint32_t>(rows.size()), differs,
                            static_cast<Weight>(weight_of(order[i]))});
            for (std::size_t place = 0; place < n; ++place) {
                codes[place].push_back(
                    static_cast<std::uint16_t>(table.column(column[place])[order[i]]));
            }
        }
    }

    static constexpr std::uint32_t kNone = 254;
    static constexpr std::size_t kTailColumns = 10;       // filled in one loop where no row is left
    static constexpr std::size_t kRowsAtOnce = 1u << 16;  // between two looks at the stop flag

    std::uint32_t last_difference(std::size_t a, std::size_t b) const {
        for (std::size_t place = n; place-- > 0;) {
            const Column& codes_here = table.column(column[place]);
            if (codes_here[a] != codes_here[b]) return static_cast<std::uint32_t>(place);
        }
        return kNone;
    }
};

}  // namespace bestdag
