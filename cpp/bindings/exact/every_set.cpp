// Functions of every set of columns, and the best network straight from them.
#include "scoring/every_set.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/types.hpp"
#include "exact/every_set_dp.hpp"

namespace {

using Masks = Array1<const std::uint64_t>;
using Values = Array1<const double>;

// The values of all sets with what they were made of, so that several questions can be asked.
class EverySet {
public:
    EverySet(const BoundTable& table, const bestdag::Kernel& kernel)
        : table_(table.table), kernel_(kernel) {}

    // For several at once, of the same table: each set is counted once for all. False when out of
    // time; the values are then not to be used.
    static bool compute_all(const std::vector<EverySet*>& all, bool leave_out, int threads,
                            double seconds, nb::object progress) {
        std::vector<bestdag::Kernel> kernels;
        for (const EverySet* one : all) {
            if (&one->table_ != &all.front()->table_) {
                throw std::invalid_argument("all sets must be those of one table");
            }
            kernels.push_back(one->kernel_);
        }
        Watcher watcher(seconds, std::move(progress));
        return run_watched(threads, watcher, [&](const bestdag::Execution& execution) {
            auto values = bestdag::every_set_by(all.front()->table_, kernels, leave_out, execution,
                                                [&](double share) { return watcher(share); });
            for (std::size_t k = 0; k < all.size(); ++k) all[k]->values_ = std::move(values[k]);
        });
    }

    bool compute(bool leave_out, int threads, double seconds, nb::object progress) {
        return compute_all({this}, leave_out, threads, seconds, std::move(progress));
    }

    bestdag::EverySetProgram program(const Masks& required, const Masks& allowed,
                                     const Int64s& max_parents, const Values& base_bonuses,
                                     const Array2<const double>& bonuses) const {
        const std::size_t n = values_.n();
        if (n == 0) throw std::invalid_argument("the values are not worked out");
        if (required.size() != n || allowed.size() != n || max_parents.size() != n ||
            base_bonuses.size() != n || (bonuses.size() != 0 && bonuses.size() != n * n)) {
            throw std::invalid_argument("one rule for each column");
        }
        std::vector<bestdag::ParentRules> rules(n);
        for (std::size_t c = 0; c < n; ++c) {
            rules[c] = {required(c),
                        allowed(c),
                        static_cast<std::size_t>(max_parents(c)),
                        base_bonuses(c),
                        {}};
            if (bonuses.size() == 0) continue;
            for (std::size_t p = 0; p < n; ++p) rules[c].bonuses.push_back(bonuses(c, p));
        }
        return {table_, kernel_, values_, std::move(rules)};
    }

private:
    const bestdag::Table& table_;
    const bestdag::Kernel kernel_;
    bestdag::SetValues values_;
};

using Program = bestdag::EverySetProgram;

}  // namespace

void register_every_set(nb::module_& m) {
    m.def(
        "forecast_every_set",
        [](const BoundTable& table, const bestdag::Kernel& kernel, bool leave_out,
           int threads) -> std::optional<std::pair<double, double>> {
            bestdag::EverySetForecast forecast;
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                forecast = bestdag::forecast_every_set(table.table, kernel, leave_out, execution);
            });
            if (!forecast.is_possible) return std::nullopt;
            const std::size_t n = table.table.n_columns();
            return std::pair{forecast.bytes + bestdag::every_set_program_bytes(n, threads),
                             forecast.row_steps};
        },
        "table"_a, "kernel"_a, "leave_out"_a, "threads"_a,
        "Bytes and steps that all sets and the program over them take; None where the score or the "
        "table does not allow it.");
    nb::class_<EverySet>(m, "EverySet",
                         "The values of all sets: see kernels/scoring/every_set.hpp.")
        .def(nb::init<const BoundTable&, const bestdag::Kernel&>(), "table"_a, "kernel"_a,
             nb::keep_alive<1, 2>())
        .def("compute", &EverySet::compute, "leave_out"_a, "threads"_a, "seconds"_a,
             "progress"_a.none(), "Work out the values; False when out of time.");
    m.def("compute_every_set", &EverySet::compute_all, "all"_a, "leave_out"_a, "threads"_a,
          "seconds"_a, "progress"_a.none(),
          "Work out the values by several scores of one table, each set counted once for all; "
          "False when out of time.");
    m.def(
        "has_set_form",
        [](const BoundTable& table, const bestdag::Kernel& kernel) {
            return bestdag::has_set_form(table.table, kernel);
        },
        "table"_a, "kernel"_a, "Whether the values of all sets make every local score.");
    nb::class_<Program>(m, "EverySetProgram")
        .def(
            "__init__",
            [](Program* self, const EverySet& sets, const Masks& required, const Masks& allowed,
               const Int64s& max_parents, const Values& base_bonuses,
               const Array2<const double>& bonuses) {
                new (self)
                    Program(sets.program(required, allowed, max_parents, base_bonuses, bonuses));
            },
            "sets"_a, "required"_a.noconvert(), "allowed"_a.noconvert(),
            "max_parents"_a.noconvert(), "base_bonuses"_a.noconvert(), "bonuses"_a.noconvert(),
            nb::keep_alive<1, 2>())
        .def(
            "score",
            [](const Program& self, std::size_t column, std::uint64_t parents) {
                return self.score(column, parents);
            },
            "column"_a, "parents"_a, "Local score of a column given a mask of columns.")
        .def(
            "all_scores",
            [](const Program& self, std::size_t column, int threads, const Doubles& out) {
                run_unlocked(threads, [&](const auto& execution) {
                    self.all_scores(column, execution, view(out));
                });
            },
            "column"_a, "threads"_a, "out"_a.noconvert(),
            "Local scores of a column for all sets of the others.")
        .def(
            "best_scores",
            [](const Program& self, int threads, double seconds, const Doubles& out) {
                std::vector<double> best;
                const bool is_done = run_for(seconds, threads, [&](const auto& execution) {
                    best = self.best_scores(execution);
                });
                if (is_done) std::copy(best.begin(), best.end(), out.data());
                return is_done;
            },
            "threads"_a, "seconds"_a, "out"_a.noconvert(),
            "Best score of each column over all its parent sets; False when out of time.")
        .def(
            "solve",
            [](const Program& self, const Values& best, double unit, double limit, int threads,
               double seconds, nb::object progress,
               const Array1<std::uint64_t>& parents) -> std::optional<double> {
                Watcher watcher(seconds, std::move(progress));
                std::optional<bestdag::EverySetSolution> solution;
                const bool is_done = run_watched(threads, watcher, [&](const auto& execution) {
                    solution = self.solve(view(best), unit, limit, execution,
                                          [&](double share) { return watcher(share); });
                });
                if (!is_done) return std::nullopt;
                if (!solution) return std::numeric_limits<double>::infinity();
                if (parents.size() != solution->parents.size()) {
                    throw std::invalid_argument("one set of parents for each column");
                }
                std::copy(solution->parents.begin(), solution->parents.end(), parents.data());
                return solution->cost;
            },
            "best"_a.noconvert(), "unit"_a, "limit"_a, "threads"_a, "seconds"_a,
            "progress"_a.none(), "parents"_a.noconvert(),
            "Least cost of a network in units, inf when none is below the limit, None when out of "
            "time; see kernels/exact/every_set_dp.hpp.");
}
