// The posterior of missing cells, and expected counts and scores from it.
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/missing/groups.hpp"
#include "missing/expected_families.hpp"
#include "missing/posterior.hpp"

namespace {

// A posterior together with the rows and the groups it is of.
class BoundPosterior {
public:
    BoundPosterior(nb::object rows, nb::object groups, Array1<const double> values,
                   double max_cells, std::size_t n_draws, std::vector<std::uint64_t> key,
                   double seconds, int threads)
        : rows_(std::move(rows)), groups_(std::move(groups)) {
        const auto& held = nb::cast<const BoundGroups&>(groups_);
        held.require_cells(values.size());
        if (key.size() != 2 || n_draws == 0) throw std::invalid_argument("a key has two words");
        run_within(seconds, threads, [&](const bestdag::Execution& execution) {
            posterior =
                std::make_unique<bestdag::Posterior>(held.groups, held.tables, view(values),
                                                     bestdag::PosteriorLimits{max_cells, n_draws},
                                                     bestdag::PhiloxKey{key[0], key[1]}, execution);
        });
    }
    BoundPosterior(const BoundPosterior&) = delete;
    BoundPosterior& operator=(const BoundPosterior&) = delete;

    const bestdag::Table& table() const { return nb::cast<const BoundTable&>(rows_).table; }

    std::unique_ptr<bestdag::Posterior> posterior;

private:
    nb::object rows_;
    nb::object groups_;
};

using CellsList = nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::any>>;

}  // namespace

void register_missing_posterior(nb::module_& m) {
    m.def(
        "posterior_numbers",
        [](const BoundGroups& groups, double max_cells, std::size_t n_draws) {
            return bestdag::Posterior::n_numbers(groups.groups, groups.tables,
                                                 {max_cells, n_draws});
        },
        "groups"_a, "max_cells"_a, "n_draws"_a, "Numbers that a posterior would keep.");
    nb::class_<BoundPosterior>(m, "Posterior",
                               "Distributions of missing cells; see kernels/missing/posterior.hpp.")
        .def(nb::init<nb::object, nb::object, Array1<const double>, double, std::size_t,
                      std::vector<std::uint64_t>, double, int>(),
             "rows"_a, "groups"_a, "values"_a.noconvert(), "max_cells"_a, "n_draws"_a, "key"_a,
             "seconds"_a, "threads"_a)
        .def_prop_ro("is_possible",
                     [](const BoundPosterior& self) { return self.posterior->is_possible(); })
        .def_prop_ro("n_drawn",
                     [](const BoundPosterior& self) { return self.posterior->n_drawn(); })
        .def(
            "count",
            [](const BoundPosterior& self, const Int32s& children, const Int64s& offsets,
               const Int32s& parents, double seconds, int threads) {
                std::vector<bestdag::ExpectedCells> found;
                const auto families = family_list(children, offsets, parents);
                const bestdag::Table& rows = self.table();
                run_within(seconds, threads, [&](const bestdag::Execution& execution) {
                    found = bestdag::count_expected(rows, *self.posterior, families, execution);
                });
                CellsList result;
                for (bestdag::ExpectedCells& each : found) {
                    result.append(nb::make_tuple(to_numpy(std::move(each.cells)),
                                                 to_numpy(std::move(each.counts))));
                }
                return result;
            },
            "children"_a.noconvert(), "offsets"_a.noconvert(), "parents"_a.noconvert(), "seconds"_a,
            "threads"_a, "Numbers of the cells that are not zero, and their expected counts.")
        .def(
            "score",
            [](const BoundPosterior& self, const BoundTable& shown, const bestdag::Kernel& kernel,
               const Int32s& children, const Int64s& offsets, const Int32s& parents, bool bounds,
               double growth, Doubles out, double seconds, int threads) {
                const auto families = family_list(children, offsets, parents);
                if (out.size() != families.size()) {
                    throw std::invalid_argument("one score per family is needed");
                }
                const auto wanted = bounds ? bestdag::Wanted::kBound : bestdag::Wanted::kScore;
                const bestdag::Table& rows = self.table();
                run_within(seconds, threads, [&](const bestdag::Execution& execution) {
                    bestdag::score_expected(rows, *self.posterior, shown.table, kernel, families,
                                            wanted, growth, view(out), execution);
                });
            },
            "shown"_a, "kernel"_a, "children"_a.noconvert(), "offsets"_a.noconvert(),
            "parents"_a.noconvert(), "bounds"_a, "growth"_a, "out"_a.noconvert(), "seconds"_a,
            "threads"_a, "Local scores by expected counts, or bounds on all larger families.");
}
