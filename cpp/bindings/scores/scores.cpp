// Kernels of the scores.
#include <exception>

#include "bindings/types.hpp"
#include "scores/bd_tables.hpp"
#include "scores/bde.hpp"
#include "scores/contaminated_prior.hpp"
#include "scores/list.hpp"
#include "scores/node_average.hpp"
#include "scores/support.hpp"

namespace {

using Values = Array1<const double>;

template <class Make, class... Names>
void define_score(nb::module_& m, const char* name, const char* help, Make make, Names... names) {
    m.def(name, make, nb::arg(names)..., help);
}

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
        "Native twin of scores/bd.py with given tables (see kernels/scores/bd_tables.hpp).");
    m.def(
        "bde",
        [](double ess, const Int32s& arities, const Int64s& ends, const Int32s& axes,
           const Values& values, const Int32s& nodes, double max_bytes) {
            return bestdag::make_bde(
                ess, {view(arities), view(ends), view(axes), view(values), view(nodes)}, max_bytes);
        },
        "ess"_a, "arities"_a.noconvert(), "ends"_a.noconvert(), "axes"_a.noconvert(),
        "values"_a.noconvert(), "nodes"_a.noconvert(), "max_bytes"_a,
        "Native twin of scores/bde.py with a prior network (see kernels/scores/bde.hpp).");
    m.def(
        "node_average",
        [](double penalty, const Array1<const std::uint8_t>& has_missing) {
            return bestdag::make_node_average(
                penalty, {has_missing.data(), has_missing.data() + has_missing.size()});
        },
        "penalty"_a, "has_missing"_a.noconvert(),
        "Native twin of scores/node_average.py (see kernels/scores/node_average.hpp).");
}

}  // namespace

void register_scores(nb::module_& m) {
    nb::class_<bestdag::Kernel>(m, "Kernel", "Native twin of a score.");
#define BESTDAG_DEFINE(name, settings, ...)                       \
    define_score(m, #name, "Native twin of scores/" #name ".py.", \
                 &bestdag::make_##name __VA_OPT__(, ) __VA_ARGS__);
    BESTDAG_SCORES(BESTDAG_DEFINE)
#undef BESTDAG_DEFINE
    register_bound_scores(m);
    m.def(
        "within_support",
        [](const bestdag::Kernel& kernel, double max_cells, const Int32s& children,
           const Int64s& offsets, const Int32s& parents) {
            const auto families = family_list(children, offsets, parents);
            std::vector<bestdag::ExemptFamily> exempt;
            for (std::size_t i = 0; i < families.size(); ++i) {
                const bestdag::Family family = families[i];
                exempt.push_back({family.child, {family.parents.begin(), family.parents.end()}});
            }
            return bestdag::within_support(kernel, max_cells, std::move(exempt));
        },
        "kernel"_a, "max_cells"_a, "children"_a.noconvert(), "offsets"_a.noconvert(),
        "parents"_a.noconvert(),
        "The same score, minus infinity where the columns of a family take more than `max_cells` "
        "different values and the family is not listed (see kernels/scores/support.hpp).");
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
}
