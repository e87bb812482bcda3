// Dynamic programming over subsets.
#include "exact/subset_dp.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/types.hpp"

namespace {

using Masks = Array1<const std::uint64_t>;
using Costs = Array1<const double>;
using Chosen = Array1<std::int64_t>;

bestdag::SubsetProblem problem_of(const Int64s& first, const Masks& members, const Costs& costs,
                                  const std::optional<Costs>& fine) {
    if (first.size() < 2 || first.size() > 65 || members.size() != costs.size()) {
        throw std::invalid_argument("one to 64 variables, one cost per set");
    }
    bestdag::SubsetProblem problem{static_cast<int>(first.size()) - 1, view(first), view(members),
                                   view(costs)};
    if (fine) problem.fine = view(*fine);
    return problem;
}

void put(const std::vector<std::int64_t>& from, const Chosen& to) {
    if (from.size() != to.size()) throw std::invalid_argument("one chosen set per variable");
    std::copy(from.begin(), from.end(), to.data());
}

using Answer = std::optional<std::tuple<double, std::optional<double>, bool>>;

template <class T>
Answer solve(const bestdag::SubsetProblem& problem, double limit, int threads, Watcher& watcher,
             const Chosen& chosen) {
    std::optional<bestdag::SubsetSolution> solution;
    bool is_interrupted = false;
    try {
        run_watched(threads, watcher, [&](const bestdag::Execution& execution) {
            solution = bestdag::best_by_subsets<T>(problem, limit, execution,
                                                   [&](double share) { return watcher(share); });
        });
    } catch (const nb::python_error& error) {
        // Ctrl-C while rivals were compared does not lose what was proved before.
        if (!solution || !error.matches(PyExc_KeyboardInterrupt)) throw;
        is_interrupted = true;
    }
    if (!solution) return std::nullopt;
    if (!solution->feasible) return {{INFINITY, std::nullopt, is_interrupted}};
    put(solution->chosen, chosen);
    return {{solution->cost, solution->fine, is_interrupted}};
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
           const std::optional<Costs>& fine, double limit, int bytes_per_cell, int threads,
           double seconds, nb::object progress, const Chosen& chosen) {
            const auto problem = problem_of(first, members, costs, fine);
            Watcher watcher(seconds, std::move(progress));
            return bytes_per_cell == 4
                       ? solve<std::uint32_t>(problem, limit, threads, watcher, chosen)
                       : solve<double>(problem, limit, threads, watcher, chosen);
        },
        "first"_a.noconvert(), "members"_a.noconvert(), "costs"_a.noconvert(),
        "fine"_a.noconvert().none(), "limit"_a, "bytes_per_cell"_a, "threads"_a, "seconds"_a,
        "progress"_a.none(), "chosen"_a.noconvert(),
        "Least cost of an acyclic choice, inf when none is below the limit, its fine cost or None, "
        "and whether Ctrl-C ended the comparison in fine costs; None when out of time; see "
        "kernels/exact/subset_dp.hpp.");
    m.def("subset_bytes", &bestdag::subset_bytes, "n"_a, "n_sets"_a, "threads"_a,
          "bytes_per_cell"_a, "Memory best_by_subsets takes.");
}
