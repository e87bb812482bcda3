// Counts of many families.
#include <vector>

#include "bindings/types.hpp"
#include "counting/count_families.hpp"

namespace {

using CountsList = nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::any>>;

CountsList to_python(std::vector<bestdag::ObservedCounts>&& counts,
                     const bestdag::FamilyList& families, const bestdag::TableShape& table) {
    CountsList result;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const bestdag::Family family = families[i];
        bestdag::ObservedCounts& c = counts[i];
        const std::size_t arity = table.arities[family.child];
        nb::object cells = table.has_real_weights ? to_numpy(std::move(c.real), {c.n_rows, arity})
                                                  : to_numpy(std::move(c.whole), {c.n_rows, arity});
        result.append(nb::make_tuple(
            to_numpy(std::move(c.configurations), {c.n_rows, family.parents.size()}), cells));
    }
    return result;
}

// Columns of codes that are read block by block, with the arrays they are in.
class BoundBlocks {
public:
    BoundBlocks(std::size_t n_rows, Columns columns, Arities arities, nb::object weights)
        : columns_(columns),
          weights_(weights),
          rows(row_arrays(n_rows, columns, arities, weights)),
          shape{{}, 0.0, rows.weights.real != nullptr} {
        for (const bestdag::Column& column : rows.columns) shape.arities.push_back(column.arity);
    }

private:
    nb::list columns_;
    nb::object weights_;

public:
    bestdag::RowArrays rows;
    bestdag::TableShape shape;
};

}  // namespace

void register_counts(nb::module_& m) {
    nb::exception<bestdag::TooManyCells>(m, "TooManyCellsError");
    m.def(
        "count_families",
        [](const BoundTable& table, const Int32s& children, const Int64s& offsets,
           const Int32s& parents, double max_cells, int threads) {
            const auto families = family_list(children, offsets, parents);
            std::vector<bestdag::ObservedCounts> counts;
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                counts = bestdag::count_families(table.table, families, max_cells, execution);
            });
            return to_python(std::move(counts), families, table.table.shape());
        },
        "table"_a, "children"_a.noconvert(), "offsets"_a.noconvert(), "parents"_a.noconvert(),
        "max_cells"_a, "threads"_a, "Observed configurations and counts of each family.");
    nb::class_<BoundBlocks>(m, "Blocks",
                            "Columns of codes read block by block (see "
                            "kernels/counting/block_counts.hpp).")
        .def(nb::init<std::size_t, Columns, Arities, nb::object>(), "n_rows"_a, "columns"_a,
             "arities"_a, "weights"_a.none())
        .def(
            "count",
            [](const BoundBlocks& self, const Int32s& children, const Int64s& offsets,
               const Int32s& parents, std::size_t block_rows, double max_cells, double max_bytes,
               double weight_scale, int threads) {
                const auto families = family_list(children, offsets, parents);
                bestdag::BlockCounts found;
                run_unlocked(threads, [&](const bestdag::Execution& execution) {
                    found = bestdag::count_in_blocks(
                        self.rows, families, {block_rows, max_cells, max_bytes, weight_scale},
                        execution);
                });
                return nb::typed<nb::tuple, CountsList, std::size_t>(nb::make_tuple(
                    to_python(std::move(found.counts), families, self.shape), found.n_passes));
            },
            "children"_a.noconvert(), "offsets"_a.noconvert(), "parents"_a.noconvert(),
            "block_rows"_a, "max_cells"_a, "max_bytes"_a, "weight_scale"_a, "threads"_a,
            "Observed configurations and counts of each family, and how often all rows were read.");
}
