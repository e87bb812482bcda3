// Missing cells: equal rows, groups of missing cells, expected counts, completed rows.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/missing/groups.hpp"
#include "missing/completion.hpp"
#include "missing/distinct_rows.hpp"
#include "missing/expected_counts.hpp"

namespace {

using DistinctArrays = nb::typed<nb::tuple, nb::any, nb::any, nb::any>;

bestdag::FamilyTables tables_of(std::vector<std::uint32_t> arities,
                                std::vector<std::vector<std::uint32_t>> members) {
    if (arities.size() != members.size()) {
        throw std::invalid_argument("one family per variable is needed");
    }
    bestdag::FamilyTables made(std::move(arities), std::move(members));
    if (made.order.size() != made.size()) throw std::invalid_argument("families form a cycle");
    return made;
}

bestdag::OpenColumn open_column(nb::handle array, std::size_t n_rows) {
    bestdag::OpenColumn column;
    Array1<std::uint8_t> narrow;
    Array1<std::uint16_t> wide;
    if (nb::try_cast(array, narrow, false) && narrow.size() == n_rows) {
        column.narrow = narrow.data();
    } else if (nb::try_cast(array, wide, false) && wide.size() == n_rows) {
        column.wide = wide.data();
    } else {
        throw nb::type_error("a column must be a writable array of uint8 or uint16");
    }
    return column;
}

}  // namespace

BoundGroups::BoundGroups(const BoundTable& rows, std::vector<std::uint32_t> arities,
                         std::vector<std::vector<std::uint32_t>> members, bool whole,
                         bool with_rows, double seconds, int threads)
    : tables(tables_of(std::move(arities), std::move(members))) {
    if (rows.table.n_columns() != tables.size()) {
        throw std::invalid_argument("one column per variable is needed");
    }
    const auto scope = whole ? bestdag::GroupScope::kWhole : bestdag::GroupScope::kAncestral;
    run_within(seconds, threads, [&](const bestdag::Execution& execution) {
        groups = bestdag::find_row_groups(rows.table, tables, scope, with_rows, execution);
    });
}

void BoundGroups::require_cells(std::size_t n) const {
    if (n != tables.n_cells()) throw std::invalid_argument("values must fit the tables");
}

void register_missing(nb::module_& m) {
    nb::exception<OutOfTime>(m, "OutOfTimeError");
    m.def(
        "distinct_rows",
        [](const BoundTable& table, int threads) -> DistinctArrays {
            bestdag::DistinctRows found;
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                found = bestdag::distinct_rows(table.table, execution);
            });
            return DistinctArrays(nb::make_tuple(to_numpy(std::move(found.rows)),
                                                 to_numpy(std::move(found.weights)),
                                                 to_numpy(std::move(found.number))));
        },
        "table"_a, "threads"_a,
        "One row of each kind, the weights of all rows of the kind, and the kind of every row.");
    nb::class_<BoundGroups>(m, "MissingGroups",
                            "Groups of missing cells; see kernels/missing/row_groups.hpp.")
        .def(nb::init<const BoundTable&, std::vector<std::uint32_t>,
                      std::vector<std::vector<std::uint32_t>>, bool, bool, double, int>(),
             "rows"_a, "arities"_a, "members"_a, "whole"_a, "with_rows"_a, "seconds"_a, "threads"_a)
        .def_prop_ro("n_cells", [](const BoundGroups& self) { return self.tables.n_cells(); })
        .def_prop_ro("n_kinds", [](const BoundGroups& self) { return self.groups.kinds.size(); })
        .def_prop_ro("n_cases", [](const BoundGroups& self) { return self.groups.n_cases(); })
        .def_prop_ro("largest",
                     [](const BoundGroups& self) {
                         double cells = 0.0;
                         for (const auto& kind : self.groups.kinds) {
                             cells = std::max(cells, kind.n_cells);
                         }
                         return cells;
                     })
        .def("complete_counts",
             [](const BoundGroups& self) {
                 return to_numpy(std::vector<double>(self.groups.complete));
             })
        .def(
            "expected_counts",
            [](const BoundGroups& self, Array1<const double> values, Doubles counts, double seconds,
               int threads) {
                self.require_cells(values.size());
                self.require_cells(counts.size());
                double log_sum = 0.0;
                run_within(seconds, threads, [&](const bestdag::Execution& execution) {
                    log_sum = bestdag::expected_counts(self.groups, self.tables, view(values),
                                                       view(counts), execution);
                });
                return log_sum;
            },
            "values"_a.noconvert(), "counts"_a.noconvert(), "seconds"_a, "threads"_a,
            "Fill the expected counts; return the log-likelihood of what the rows show.")
        .def(
            "complete",
            [](const BoundGroups& self, Array1<const double> values,
               Array1<const std::uint64_t> starts, Array1<const std::uint32_t> rows,
               std::vector<std::uint64_t> key, Columns columns, int threads) -> nb::object {
                self.require_cells(values.size());
                if (columns.size() != self.tables.size() || (key.size() != 0 && key.size() != 2)) {
                    throw std::invalid_argument("columns and key must fit the tables");
                }
                std::vector<bestdag::OpenColumn> open;
                for (nb::handle column : columns) open.push_back(open_column(column, rows.size()));
                const bestdag::PhiloxKey philox{key.empty() ? 0 : key[0], key.empty() ? 0 : key[1]};
                std::uint64_t wrong = bestdag::kNoRow;
                run_unlocked(threads, [&](const bestdag::Execution& execution) {
                    wrong = bestdag::complete_rows(
                        self.groups, self.tables, view(values), {view(starts), view(rows)},
                        key.empty() ? nullptr : &philox, open, execution);
                });
                return wrong == bestdag::kNoRow ? nb::none() : nb::cast(wrong);
            },
            "values"_a.noconvert(), "starts"_a.noconvert(), "rows"_a.noconvert(), "key"_a,
            "columns"_a, "threads"_a,
            "Fill in the missing cells; return the first row that is impossible, or None.");
}
