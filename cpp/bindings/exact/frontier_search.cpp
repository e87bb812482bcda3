#include "exact/frontier_search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/running.hpp"

namespace {

using Numbers = Array1<const std::int64_t>;
using ClusterTuple = std::tuple<std::uint64_t, int, std::int64_t>;  // members, k, multiplier
using Answer = std::tuple<std::vector<std::size_t>, std::int64_t, std::int64_t, bool, std::size_t,
                          std::size_t>;

bestdag::FrontierProblem problem_of(const Numbers& first, const Array1<const std::uint64_t>& masks,
                                    const Numbers& costs, const Numbers& least,
                                    const std::vector<ClusterTuple>& clusters) {
    const std::size_t n = least.size();
    if (n < 1 || n > 64 || first.size() != n + 1 || masks.size() != costs.size()) {
        throw std::invalid_argument("1 to 64 variables, and a mask and a cost for each set");
    }
    bestdag::FrontierProblem problem;
    for (std::size_t v = 0; v <= n; ++v) {
        if (v == 0 ? first(v) != 0 : first(v) <= first(v - 1)) {
            throw std::invalid_argument("each variable needs a set");
        }
        problem.first.push_back(static_cast<std::size_t>(first(v)));
    }
    if (problem.first.back() != masks.size()) throw std::invalid_argument("one child per set");
    problem.masks.assign(masks.data(), masks.data() + masks.size());
    problem.costs.assign(costs.data(), costs.data() + costs.size());
    problem.least.assign(least.data(), least.data() + n);
    const std::uint64_t outside = n == 64 ? 0 : ~std::uint64_t{0} << n;
    for (const auto& [members, k, multiplier] : clusters) {
        if (members & outside || k < 1 || k > std::popcount(members) || multiplier < 0) {
            throw std::invalid_argument("a cluster needs k >= 1 and at least k variables");
        }
        problem.clusters.push_back({members, k, multiplier});
    }
    return problem;
}

}  // namespace

void register_frontier_search(nb::module_& m) {
    m.def(
        "search_frontier",
        [](const Numbers& first, const Array1<const std::uint64_t>& masks, const Numbers& costs,
           const Numbers& least, const std::vector<ClusterTuple>& clusters, std::int64_t cutoff,
           std::size_t width, double seconds) -> std::optional<Answer> {
            const auto problem = problem_of(first, masks, costs, least, clusters);
            bestdag::FrontierResult result;
            const auto search = [&](std::size_t, const bestdag::StopFlag& stop) {
                result = bestdag::search_frontier(problem, cutoff, width, stop);
            };
            const double expected = 1e4 * static_cast<double>(width);  // nanoseconds
            const bool is_done = run_for(seconds, 1, [&](const bestdag::Execution& execution) {
                bestdag::parallel_for(1, expected, execution, search);
            });
            if (!is_done) return std::nullopt;
            return Answer{std::move(result.chosen), result.cost,     result.bound,
                          result.is_complete,       result.expanded, result.n_bytes};
        },
        "first"_a.noconvert(), "masks"_a.noconvert(), "costs"_a.noconvert(),
        "least"_a.noconvert(), "clusters"_a, "cutoff"_a, "width"_a, "seconds"_a,
        "Sets of a best choice below the cutoff, its cost, the bound, whether nothing was left "
        "out, subsets expanded, bytes; None when out of time; see "
        "kernels/exact/frontier_search.hpp.");
}
