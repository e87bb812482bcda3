// Counts of many families.
#include <vector>

#include "bindings/types.hpp"
#include "counting/count_families.hpp"

namespace {

using CountsList = nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::any>>;

CountsList to_python(std::vector<bestdag::ObservedCounts>&& counts,
                     const bestdag::FamilyList& families, const bestdag::Table& table) {
    CountsList result;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const bestdag::Family family = families[i];
        bestdag::ObservedCounts& c = counts[i];
        const std::size_t arity = table.column(family.child).arity;
        nb::object cells = table.weights().real ? to_numpy(std::move(c.real), {c.n_rows, arity})
                                                : to_numpy(std::move(c.whole), {c.n_rows, arity});
        result.append(nb::make_tuple(
            to_numpy(std::move(c.configurations), {c.n_rows, family.parents.size()}), cells));
    }
    return result;
}

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
            return to_python(std::move(counts), families, table.table);
        },
        "table"_a, "children"_a.noconvert(), "offsets"_a.noconvert(), "parents"_a.noconvert(),
        "max_cells"_a, "threads"_a, "Observed configurations and counts of each family.");
}
