// Dynamic programming over subsets.
#include "exact/subset_dp.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "bindings/exact/subset_answer.hpp"
#include "bindings/types.hpp"

namespace {

template <class T>
Answer solve(const bestdag::SubsetProblem& problem, double limit, const bestdag::SubsetPlan& plan,
             int threads, Watcher& watcher, const Chosen& chosen) {
    return answer(threads, watcher, chosen, [&](const bestdag::Execution& execution) {
        return bestdag::best_by_subsets<T>(problem, limit, plan, execution,
                                           [&](double share) { return watcher(share); });
    });
}

}  // namespace

void register_subset_dp(nb::module_& m) {
    m.def(
        "parent_masks",
        [](const Int64s& offsets, const Int32s& members, const Array1<std::uint64_t>& out) {
            if (offsets.size() != out.size() + 1) throw std::invalid_argument("one mask per set");
            for (std::size_t k = 0; k < out.size(); ++k) {
                std::uint64_t mask = 0;
                for (std::int64_t i = offsets(k); i < offsets(k + 1); ++i) {
                    if (i < 0 || static_cast<std::size_t>(i) >= members.size() || members(i) < 0 ||
                        members(i) > 63) {
                        throw std::invalid_argument("members outside 0 to 63");
                    }
                    mask |= std::uint64_t{1} << members(i);
                }
                out(k) = mask;
            }
        },
        "offsets"_a.noconvert(), "members"_a.noconvert(), "out"_a.noconvert(),
        "Write each set of variable numbers below 64 as a bit mask.");
    m.def(
        "best_by_subsets",
        [](const Int64s& first, const Masks& members, const Costs& costs,
           const std::optional<Costs>& fine, double limit, int bytes_per_cell,
           const bestdag::SubsetPlan& plan, int threads, double seconds, nb::object progress,
           const Chosen& chosen) {
            const auto problem = problem_of(first, members, costs, fine);
            Watcher watcher(seconds, std::move(progress));
            return bytes_per_cell == 4
                       ? solve<std::uint32_t>(problem, limit, plan, threads, watcher, chosen)
                       : solve<double>(problem, limit, plan, threads, watcher, chosen);
        },
        "first"_a.noconvert(), "members"_a.noconvert(), "costs"_a.noconvert(),
        "fine"_a.noconvert().none(), "limit"_a, "bytes_per_cell"_a, "plan"_a, "threads"_a,
        "seconds"_a, "progress"_a.none(), "chosen"_a.noconvert(),
        "Least cost of an acyclic choice, inf when none is below the limit, its fine cost or None, "
        "whether Ctrl-C came after the first answer, whether all was looked at, and the subsets "
        "visited; None when out of time; see kernels/exact/subset_dp.hpp.");
    nb::class_<bestdag::SubsetPlan>(m, "SubsetPlan", "How best_by_subsets goes about it.")
        .def(
            "__init__",
            [](bestdag::SubsetPlan* plan, int within, int middle, int pairs, double cells) {
                new (plan) bestdag::SubsetPlan{within, middle, pairs, cells};
            },
            "within"_a, "middle"_a, "pairs"_a, "cells"_a)
        .def_ro("within", &bestdag::SubsetPlan::within)
        .def_ro("middle", &bestdag::SubsetPlan::middle)
        .def_ro("pairs", &bestdag::SubsetPlan::pairs)
        .def_ro("cells", &bestdag::SubsetPlan::cells)
        .def_ro("n_bytes", &bestdag::SubsetPlan::bytes)
        .def_ro("visited", &bestdag::SubsetPlan::visited);
    m.def("plan_subsets", &bestdag::plan_subsets, "n"_a, "n_sets"_a, "threads"_a,
          "bytes_per_cell"_a, "room"_a, "most_middle"_a,
          "The fastest way to solve within so many bytes; the smallest when none fits.");
}
