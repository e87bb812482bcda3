// Kernels of the scores, and local scores of many families.
#include "bindings/types.hpp"
#include "kernels/aic.hpp"
#include "kernels/all_families.hpp"
#include "kernels/bd.hpp"
#include "kernels/bd_tables.hpp"
#include "kernels/bde.hpp"
#include "kernels/bdeu.hpp"
#include "kernels/bdq.hpp"
#include "kernels/bic.hpp"
#include "kernels/changes.hpp"
#include "kernels/contaminated_prior.hpp"
#include "kernels/fnml.hpp"
#include "kernels/hqc.hpp"
#include "kernels/ll.hpp"
#include "kernels/max_bdeu.hpp"
#include "kernels/min_bdeu.hpp"
#include "kernels/mit.hpp"
#include "kernels/qnml.hpp"

namespace {

using Values = Array1<const double>;

void register_bound_scores(nb::module_& m) {
    // Its arguments are the child's number, the parents' numbers and the bytes it would need.
    static PyObject* const refused =
        PyErr_NewException("bestdag._core.RefusedFamilyError", nullptr, nullptr);
    m.attr("RefusedFamilyError") = nb::handle(refused);
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const bestdag::RefusedFamily& error) {
            nb::list parents;
            for (const std::int32_t parent : error.parents) parents.append(parent);
            PyErr_SetObject(refused, nb::make_tuple(error.child, parents, error.n_bytes).ptr());
        }
    });
    m.def(
        "bd_tables",
        [](const Int32s& children, const Int64s& offsets, const Int32s& parents,
           const Int64s& first_values, const Values& values) {
            return bestdag::make_bd_tables(family_list(children, offsets, parents),
                                           view(first_values), view(values));
        },
        "children"_a.noconvert(), "offsets"_a.noconvert(), "parents"_a.noconvert(),
        "first_values"_a.noconvert(), "values"_a.noconvert(),
        "Native twin of scores/bd.py with given tables (see kernels/bd_tables.hpp).");
    m.def(
        "bde",
        [](double ess, const Int32s& arities, const Int64s& ends, const Int32s& axes,
           const Values& values, const Int32s& nodes, double max_bytes) {
            return bestdag::make_bde(
                ess, {view(arities), view(ends), view(axes), view(values), view(nodes)}, max_bytes);
        },
        "ess"_a, "arities"_a.noconvert(), "ends"_a.noconvert(), "axes"_a.noconvert(),
        "values"_a.noconvert(), "nodes"_a.noconvert(), "max_bytes"_a,
        "Native twin of scores/bde.py with a prior network (see kernels/bde.hpp).");
}

}  // namespace

void register_scores(nb::module_& m) {
    nb::class_<bestdag::Kernel>(m, "Kernel", "Native twin of a score.");
    m.def("ll", &bestdag::make_ll, "Native twin of scores/ll.py.");
    m.def("aic", &bestdag::make_aic, "Native twin of scores/aic.py.");
    m.def("bic", &bestdag::make_bic, "Native twin of scores/bic.py.");
    m.def("hqc", &bestdag::make_hqc, "Native twin of scores/hqc.py.");
    m.def("bd", &bestdag::make_bd, "pseudo_count"_a, "Native twin of scores/bd.py.");
    m.def("bdq", &bestdag::make_bdq, "pseudo_count"_a, "Native twin of scores/bdq.py.");
    m.def("bdeu", &bestdag::make_bdeu, "ess"_a, "Native twin of scores/bdeu.py.");
    register_bound_scores(m);
    m.def("mit", &bestdag::make_mit, "confidence"_a, "Native twin of scores/mit.py.");
    m.def("fnml", &bestdag::make_fnml, "Native twin of scores/fnml.py.");
    m.def("qnml", &bestdag::make_qnml, "is_exact"_a, "Native twin of scores/qnml.py.");
    m.def("min_bdeu", &bestdag::make_min_bdeu, "ess"_a, "epsilon"_a,
          "Native twin of scores/min_bdeu.py.");
    m.def("max_bdeu", &bestdag::make_max_bdeu, "ess"_a, "epsilon"_a,
          "Native twin of scores/max_bdeu.py.");
    m.def(
        "max_bdeu_priors",
        [](const Array2<const double>& counts, const Array1<const double>& totals,
           const Array1<const double>& epsilons, const Array2<double>& out) {
            const std::size_t arity = counts.shape(1);
            bestdag::PriorMaximiser maximiser;
            for (std::size_t row = 0; row < counts.shape(0); ++row) {
                maximiser.solve_row(
                    view(counts).subspan(row * arity, arity), {totals(row), arity, epsilons(row)},
                    bestdag::PriorMaximiser::kForPriors, view(out).subspan(row * arity, arity));
            }
        },
        "counts"_a.noconvert(), "totals"_a.noconvert(), "epsilons"_a.noconvert(),
        "out"_a.noconvert(),
        "For each row of counts the prior of this sum and epsilon that maximises its probability.");
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
           const Doubles& out, int threads) {
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::score_all_families(table.table, kernel, max_parents, view(out), execution);
            });
        },
        "table"_a, "kernel"_a, "max_parents"_a, "out"_a.noconvert(), "threads"_a,
        "Local scores of every family with at most max_parents parents.");
}
