// Scores from tables of counts.
#include "scoring/score_counts.hpp"

#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <vector>

#include "bindings/types.hpp"

namespace {

using Codes = Array2<const std::uint16_t>;
using Pairs = nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::any>>;

bestdag::CountsView counts_of(nb::handle pair, std::size_t n_parents, std::size_t arity,
                              bool has_real) {
    bestdag::CountsView view{};
    const auto codes = nb::cast<Codes>(pair[0], false);
    view.configurations = codes.data();
    std::size_t n_rows = 0;
    std::size_t width = 0;
    const auto take = [&](const auto& cells, auto& out) {
        out = ::view(cells);
        n_rows = cells.shape(0);
        width = cells.shape(1);
    };
    if (has_real) {
        take(nb::cast<Array2<const double>>(pair[1], false), view.real);
    } else {
        take(nb::cast<Array2<const std::int64_t>>(pair[1], false), view.whole);
    }
    if (codes.shape(0) != n_rows || codes.shape(1) != n_parents || width != arity) {
        throw std::invalid_argument("counts do not have the shape of their family");
    }
    return view;
}

}  // namespace

void register_score_counts(nb::module_& m) {
    m.def(
        "score_counts",
        [](const std::vector<std::uint32_t>& arities, double total_weight, bool has_real_weights,
           const bestdag::Kernel& kernel, const Int32s& children, const Int64s& offsets,
           const Int32s& parents, const Pairs& counts, const Doubles& out,
           const Array1<const double>& growth, const Doubles& bounds, int threads) {
            const bestdag::TableShape table{arities, total_weight, has_real_weights};
            const auto families = family_list(children, offsets, parents);
            std::vector<bestdag::CountsView> views;
            views.reserve(families.size());
            for (std::size_t i = 0; i < families.size(); ++i) {
                const bestdag::Family family = families[i];
                views.push_back(counts_of(counts[i], family.parents.size(), arities[family.child],
                                          has_real_weights));
            }
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::score_counts(table, kernel, families, views, view(out),
                                      {view(growth), view(bounds)}, execution);
            });
        },
        "arities"_a, "total_weight"_a, "has_real_weights"_a, "kernel"_a, "children"_a.noconvert(),
        "offsets"_a.noconvert(), "parents"_a.noconvert(), "counts"_a, "out"_a.noconvert(),
        "growth"_a.noconvert(), "bounds"_a.noconvert(), "threads"_a,
        "Local scores of families from their observed counts, and bounds on those of larger ones "
        "where `bounds` is not empty.");
}
