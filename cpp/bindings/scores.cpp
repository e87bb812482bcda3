// Kernels of the scores, and local scores of many families.
#include "bindings/types.hpp"
#include "kernels/all_families.hpp"
#include "kernels/bdeu.hpp"
#include "kernels/bic.hpp"
#include "kernels/changes.hpp"
#include "kernels/fnml.hpp"
#include "kernels/qnml.hpp"

void register_scores(nb::module_& m) {
    nb::class_<bestdag::Kernel>(m, "Kernel", "Native twin of a score.");
    m.def("bic", &bestdag::make_bic, "Native twin of scores/bic.py.");
    m.def("bdeu", &bestdag::make_bdeu, "ess"_a, "Native twin of scores/bdeu.py.");
    m.def("fnml", &bestdag::make_fnml, "Native twin of scores/fnml.py.");
    m.def("qnml", &bestdag::make_qnml, "is_exact"_a, "Native twin of scores/qnml.py.");
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
    m.def(
        "score_changes",
        [](const BoundTable& table, const bestdag::Kernel& kernel, const Int32s& children,
           const Int64s& offsets, const Int32s& parents, const Int32s& candidates,
           const Doubles& out, int threads) {
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::score_changes(table.table, kernel, family_list(children, offsets, parents),
                                       view(candidates), view(out), execution);
            });
        },
        "table"_a, "kernel"_a, "children"_a.noconvert(), "offsets"_a.noconvert(),
        "parents"_a.noconvert(), "candidates"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
        "Local scores of families after adding or dropping each candidate parent.");
    m.def(
        "score_all_families",
        [](const BoundTable& table, const bestdag::Kernel& kernel, std::size_t max_parents,
           const Doubles& out, int threads) {
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::score_all_families(table.table, kernel, max_parents, view(out), execution);
            });
        },
        "table"_a, "kernel"_a, "max_parents"_a, "out"_a.noconvert(), "threads"_a,
        "Local scores of every family with at most max_parents parents.");
}
