#include "factors/row_tables.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "bindings/types.hpp"

namespace {

// No nb::enum_: it runs Python code while the module is loaded, and a Ctrl-C there would abort.
bestdag::RowResult result_of(std::string_view name) {
    if (name == "sum") return bestdag::RowResult::kSum;
    if (name == "log share") return bestdag::RowResult::kLogShare;
    if (name == "share") return bestdag::RowResult::kShare;
    throw std::invalid_argument("result is 'sum', 'log share' or 'share'");
}

}  // namespace

void register_row_tables(nb::module_& m) {
    nb::class_<bestdag::RowFinder>(m, "RowFinder", "Finds parent configurations in a sorted list.")
        .def(
            "__init__",
            [](bestdag::RowFinder* self, Array2<const std::uint16_t> configurations,
               Array1<const std::uint32_t> arities) {
                if (configurations.shape(1) != arities.size() || arities.size() == 0) {
                    throw std::invalid_argument("one arity per column of codes is needed");
                }
                new (self) bestdag::RowFinder(view(configurations), view(arities));
            },
            "configurations"_a.noconvert(), "arities"_a.noconvert())
        .def(
            "find",
            [](const bestdag::RowFinder& self, Array2<const std::uint16_t> codes,
               Array1<std::uint64_t> out) {
                if (codes.shape(1) != self.n_parents() || codes.shape(0) != out.size()) {
                    throw std::invalid_argument("codes and out must fit the configurations");
                }
                const nb::gil_scoped_release unlocked;
                self.find(view(out), [&](std::size_t parent, std::uint64_t stride,
                                         std::span<std::uint64_t> keys) {
                    for (std::size_t i = 0; i < keys.size(); ++i) {
                        keys[i] += stride * codes.data()[i * self.n_parents() + parent];
                    }
                });
            },
            "codes"_a.noconvert(), "out"_a.noconvert(),
            "Where each row of codes is in the list, or the length of the list.");
    m.def(
        "sum_row_tables",
        [](const BoundTable& data, std::vector<Array1<const double>> values,
           std::vector<Array1<const std::uint32_t>> columns,
           std::vector<Array1<const std::uint64_t>> strides, Finders finders,
           std::vector<std::size_t> arities, Array1<const std::uint8_t> has_missing,
           std::string_view result, Array2<double> out, int threads) {
            const std::size_t n_tables = values.size();
            if (columns.size() != n_tables || strides.size() != n_tables ||
                finders.size() != n_tables || arities.size() != n_tables) {
                throw std::invalid_argument("one column and stride list per table is needed");
            }
            if (out.shape(0) != data.table.n_rows() || out.shape(1) == 0 ||
                has_missing.size() != data.table.n_columns()) {
                throw std::invalid_argument("out and has_missing must fit the data");
            }
            const bestdag::RowResult wanted = result_of(result);
            std::vector<bestdag::RowTable> tables;
            tables.reserve(n_tables);
            for (std::size_t i = 0; i < n_tables; ++i) {
                const bestdag::RowFinder* finder = finder_at(finders, i);
                if (columns[i].size() != (finder ? finder->n_parents() + 1 : strides[i].size()) ||
                    (finder && values[i].size() != (finder->n_listed() + 1) * arities[i])) {
                    throw std::invalid_argument("columns, strides and values must fit each other");
                }
                tables.push_back(
                    {view(values[i]), view(columns[i]), view(strides[i]), finder, arities[i]});
            }
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::sum_row_tables(data.table, tables, view(has_missing), out.shape(1), wanted,
                                        view(out), execution);
            });
        },
        "data"_a, "values"_a.noconvert(), "columns"_a.noconvert(), "strides"_a.noconvert(),
        "finders"_a, "arities"_a, "has_missing"_a.noconvert(), "result"_a, "out"_a.noconvert(),
        "threads"_a,
        "Sums over tables looked up at the states of each row; see "
        "kernels/factors/row_tables.hpp.");
}
