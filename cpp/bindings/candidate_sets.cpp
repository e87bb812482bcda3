// Candidate parent sets of every child.
#include "kernels/candidate_sets.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/local_scores.hpp"

namespace {

using Values = Array1<const double>;
using Result = nb::typed<nb::tuple, LocalScoresTuple, nb::any, nb::any>;

template <class T>
std::span<const T> part(const Array1<const T>& array, std::int64_t first, std::int64_t last) {
    return view(array).subspan(static_cast<std::size_t>(first),
                               static_cast<std::size_t>(last - first));
}

}  // namespace

void register_candidate_sets(nb::module_& m) {
    // Its arguments are the child's number and the number of parents.
    static PyObject* const too_many =
        PyErr_NewException("bestdag._core.TooManySetsError", nullptr, nullptr);
    m.attr("TooManySetsError") = nb::handle(too_many);
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const bestdag::TooManySets& error) {
            PyErr_SetObject(too_many, nb::make_tuple(error.child, error.size).ptr());
        }
    });
    m.def(
        "candidate_sets",
        [](const BoundTable& table, const bestdag::Kernel& kernel, const Int64s& required_ends,
           const Int32s& required, const Int64s& allowed_ends, const Int32s& allowed,
           const Values& bonuses, const Int64s& max_parents, const Values& base_bonuses, bool prune,
           double seconds, double max_bytes, int threads) {
            std::vector<bestdag::ParentLimits> limits;
            for (std::size_t i = 0; i < max_parents.size(); ++i) {
                limits.push_back({part(required, required_ends(i), required_ends(i + 1)),
                                  part(allowed, allowed_ends(i), allowed_ends(i + 1)),
                                  static_cast<std::size_t>(max_parents(i)), base_bonuses(i),
                                  part(bonuses, allowed_ends(i), allowed_ends(i + 1))});
            }
            bestdag::CandidateSets result;
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                result = bestdag::candidate_sets(table.table, kernel, limits,
                                                 {prune, seconds, max_bytes}, execution);
            });
            return Result(nb::make_tuple(to_python(std::move(result.sets)),
                                         to_numpy(std::move(result.n_scored)),
                                         to_numpy(std::move(result.is_complete))));
        },
        "table"_a, "kernel"_a, "required_ends"_a.noconvert(), "required"_a.noconvert(),
        "allowed_ends"_a.noconvert(), "allowed"_a.noconvert(), "bonuses"_a.noconvert(),
        "max_parents"_a.noconvert(), "base_bonuses"_a.noconvert(), "prune"_a, "seconds"_a,
        "max_bytes"_a, "threads"_a,
        "Candidate parent sets of every child (see kernels/candidate_sets.hpp), how many families "
        "were scored for each, and whether all were.");
}
