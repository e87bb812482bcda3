// Scores of many families in one call.
#include "scoring/families.hpp"

#include "bindings/types.hpp"
#include "scoring/all_families.hpp"
#include "scoring/changes.hpp"

void register_families(nb::module_& m) {
    m.def(
        "score_families",
        [](const BoundTable& table, const bestdag::Kernel& kernel, const Int32s& children,
           const Int64s& offsets, const Int32s& parents, const Doubles& out, int threads) {
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::score_families(table.table, kernel,
                                        family_list(children, offsets, parents), view(out),
                                        execution);
            });
        },
        "table"_a, "kernel"_a, "children"_a.noconvert(), "offsets"_a.noconvert(),
        "parents"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
        "Local scores of many families in one call.");
    nb::class_<bestdag::ChangeScorers>(m, "ChangeScorers",
                                       "Scores of changes of families, call after call.")
        .def(
            "__init__",
            [](bestdag::ChangeScorers* self, const BoundTable& table,
               const bestdag::Kernel& kernel) {
                new (self) bestdag::ChangeScorers(table.table, kernel);
            },
            "table"_a, "kernel"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def(
            "score",
            [](bestdag::ChangeScorers& self, const Int32s& children, const Int64s& offsets,
               const Int32s& parents, const Int64s& candidate_offsets, const Int32s& candidates,
               const Doubles& out, int threads, double seconds) {
                run_for(seconds, threads, [&](const bestdag::Execution& execution) {
                    self.score(family_list(children, offsets, parents),
                               {view(candidate_offsets), view(candidates)}, view(out), execution);
                });
            },
            "children"_a.noconvert(), "offsets"_a.noconvert(), "parents"_a.noconvert(),
            "candidate_offsets"_a.noconvert(), "candidates"_a.noconvert(), "out"_a.noconvert(),
            "threads"_a, "seconds"_a,
            "Local scores of families after adding or dropping each of their candidate parents; "
            "what is not done in so many seconds stays as it is.");
    m.def(
        "score_all_families",
        [](const BoundTable& table, const bestdag::Kernel& kernel, std::size_t max_parents,
           const Doubles& out, int threads, double seconds) {
            return run_for(seconds, threads, [&](const bestdag::Execution& execution) {
                bestdag::score_all_families(table.table, kernel, max_parents, view(out), execution);
            });
        },
        "table"_a, "kernel"_a, "max_parents"_a, "out"_a.noconvert(), "threads"_a, "seconds"_a,
        "Local scores of every family with at most max_parents parents; False when out of time.");
}
