// What the bindings of the dynamic program over subsets take and give back.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/types.hpp"
#include "exact/subset_dp.hpp"

using Masks = Array1<const std::uint64_t>;
using Costs = Array1<const double>;
using Chosen = Array1<std::int64_t>;

inline bestdag::SubsetProblem problem_of(const Int64s& first, const Masks& members,
                                         const Costs& costs, const std::optional<Costs>& fine) {
    if (first.size() < 2 || first.size() > 65 || members.size() != costs.size()) {
        throw std::invalid_argument("one to 64 variables, one cost per set");
    }
    bestdag::SubsetProblem problem{static_cast<int>(first.size()) - 1, view(first), view(members),
                                   view(costs)};
    if (fine) problem.fine = view(*fine);
    return problem;
}

// Cost, fine cost, whether Ctrl-C ended the comparison, whether all was looked at, subsets visited.
using Answer = std::optional<std::tuple<double, std::optional<double>, bool, bool, double>>;

// Run solve(execution); nothing when time ran out before there was an answer.
template <class Solve>
Answer answer(int threads, Watcher& watcher, const Chosen& chosen, Solve&& solve) {
    std::optional<bestdag::SubsetSolution> solution;
    bool is_interrupted = false;
    try {
        run_watched(threads, watcher,
                    [&](const bestdag::Execution& execution) { solution = solve(execution); });
    } catch (const nb::python_error& error) {
        // Ctrl-C while rivals were compared does not lose what was proved before.
        if (!solution || !error.matches(PyExc_KeyboardInterrupt)) throw;
        is_interrupted = true;
    }
    if (!solution) return std::nullopt;
    const auto& [is_feasible, is_complete, cost, fine, sets, last, visited] = *solution;
    if (!is_feasible) return {{INFINITY, std::nullopt, is_interrupted, is_complete, visited}};
    if (sets.size() != chosen.size()) throw std::invalid_argument("one chosen set per variable");
    std::copy(sets.begin(), sets.end(), chosen.data());
    return {{cost, fine, is_interrupted, is_complete, visited}};
}
