// Table: the columns of a data set, borrowed from NumPy.
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "base/bitwise.hpp"
#include "bindings/types.hpp"

namespace {

template <class T>
bool borrow(nb::handle array, std::size_t n_rows, const T*& out) {
    Array1<const T> typed;
    if (!nb::try_cast(array, typed, false)) return false;
    if (typed.size() != n_rows) throw std::invalid_argument("columns differ in length");
    out = typed.data();
    return true;
}

}  // namespace

bestdag::RowArrays row_arrays(std::size_t n_rows, const Columns& columns, const Arities& arities,
                              const nb::object& weights) {
    std::vector<bestdag::Column> made;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        bestdag::Column column;
        column.arity = nb::cast<std::uint32_t>(arities[i]);
        if (!borrow(columns[i], n_rows, column.narrow) &&
            !borrow(columns[i], n_rows, column.wide)) {
            throw nb::type_error("a column must be a contiguous array of uint8 or uint16");
        }
        made.push_back(column);
    }
    bestdag::Weights w;
    if (!weights.is_none() && !borrow(weights, n_rows, w.whole) &&
        !borrow(weights, n_rows, w.real)) {
        throw nb::type_error("weights must be a contiguous array of int64 or float64");
    }
    return {n_rows, std::move(made), w};
}

BoundTable::BoundTable(std::size_t n_rows, Columns columns, Arities arities, nb::object weights)
    : table(row_arrays(n_rows, columns, arities, weights).block(0, n_rows)),
      columns_(columns),
      weights_(weights) {}

void register_tables(nb::module_& m) {
    nb::class_<BoundTable>(m, "Table", "Columns of codes; keeps the arrays it was made of alive.")
        .def(nb::init<std::size_t, Columns, Arities, nb::object>(), "n_rows"_a, "columns"_a,
             "arities"_a, "weights"_a.none());
    m.def(
        "instruction_sets",
        [] {
            std::size_t count;
            const bestdag::Bitwise* const* sets = bestdag::bitwise_sets(count);
            nb::typed<nb::list, std::string> names;
            for (std::size_t i = 0; i < count; ++i) names.append(sets[i]->name);
            return names;
        },
        "Names of the instruction sets this processor can run, slowest first.");
    m.def(
        "use_instruction_set",
        [](const std::string& name) {
            if (!bestdag::choose_bitwise(name.c_str())) {
                throw nb::value_error(("no instruction set called '" + name + "' here").c_str());
            }
        },
        "name"_a, "Use this instruction set from now on (tests and measurements).");
}
