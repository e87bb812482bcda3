#include "data/entropy_cuts.hpp"

#include <nanobind/stl/vector.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "bindings/common.hpp"
#include "bindings/running.hpp"

void register_entropy_cuts(nb::module_& m) {
    m.def(
        "entropy_cuts",
        [](Array1<const double> values, Array1<const std::uint16_t> classes,
           Array1<const double> weights, std::size_t n_classes) {
            if (classes.size() != values.size() ||
                (weights.size() != 0 && weights.size() != values.size())) {
                throw std::invalid_argument("one class and one weight per value is needed");
            }
            std::vector<std::size_t> rows;
            run_unlocked(1, [&](const bestdag::Execution& execution) {
                rows = bestdag::entropy_cuts(view(values), view(classes), view(weights), n_classes,
                                             execution);
            });
            return rows;
        },
        "values"_a.noconvert(), "classes"_a.noconvert(), "weights"_a.noconvert(), "n_classes"_a,
        "Rows of a sorted column before which it is cut; see kernels/data/entropy_cuts.hpp.");
}
