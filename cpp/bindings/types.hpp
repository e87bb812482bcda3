// Bound values that several binding files share.
#pragma once

#include "bindings/common.hpp"
#include "bindings/running.hpp"
#include "counting/block_counts.hpp"
#include "counting/family_list.hpp"
#include "counting/table.hpp"
#include "factors/row_finder.hpp"

using Columns = nb::typed<nb::list, nb::object>;
using Arities = nb::typed<nb::list, int>;

// The columns and weights as kernels see them; the arrays must live as long.
bestdag::RowArrays row_arrays(std::size_t n_rows, const Columns& columns, const Arities& arities,
                              const nb::object& weights);

// A native table together with the arrays it points into.
class BoundTable {
public:
    BoundTable(std::size_t n_rows, Columns columns, Arities arities, nb::object weights);

    const bestdag::Table table;

private:
    nb::list columns_;
    nb::object weights_;
};

// Finders of sparse tables, None for a dense one; the list keeps them alive.
using Finders = nb::typed<nb::list, nb::object>;

inline const bestdag::RowFinder* finder_at(const Finders& finders, std::size_t i) {
    const nb::object found = finders[i];
    return found.is_none() ? nullptr : nb::cast<const bestdag::RowFinder*>(found);
}

using Int32s = Array1<const std::int32_t>;
using Int64s = Array1<const std::int64_t>;
using Doubles = Array1<double>;

inline bestdag::FamilyList family_list(const Int32s& children, const Int64s& offsets,
                                       const Int32s& parents) {
    return {view(children), view(offsets), view(parents)};
}
