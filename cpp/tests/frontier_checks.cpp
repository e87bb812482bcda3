// Bounds by ascent and the search over few subsets, for the sanitizers: against the recursion over
// all subsets. Exits 0 when all is well.
#include <algorithm>
#include <random>
#include <vector>

#include "exact/dual_ascent.hpp"
#include "exact/frontier_search.hpp"
#include "search/choice_sets.hpp"
#include "tests/checks.hpp"

namespace {

using bestdag::StopFlag;

// Random candidate sets with whole costs, ascending; the empty set is among them.
struct Choices {
    std::size_t n;
    std::vector<std::int64_t> begin{0}, offsets{0}, costs;
    std::vector<std::int32_t> members;
    std::vector<std::uint64_t> masks;

    Choices(std::size_t n_variables, std::size_t n_sets, unsigned seed) : n(n_variables) {
        std::mt19937_64 random(seed);
        for (std::size_t v = 0; v < n; ++v) {
            std::vector<std::int64_t> drawn;
            for (std::size_t k = 0; k < n_sets; ++k) {
                const std::uint64_t everyone = (std::uint64_t{1} << n) - 1;
                const std::uint64_t some = random() & random() & everyone;
                masks.push_back(k + 1 < n_sets ? some & ~(std::uint64_t{1} << v) : 0);
                for (std::size_t u = 0; u < n; ++u) {
                    if (masks.back() >> u & 1) members.push_back(static_cast<std::int32_t>(u));
                }
                offsets.push_back(static_cast<std::int64_t>(members.size()));
                drawn.push_back(static_cast<std::int64_t>(random() % 1000));
            }
            std::sort(drawn.begin(), drawn.end());
            costs.insert(costs.end(), drawn.begin(), drawn.end());
            begin.push_back(static_cast<std::int64_t>(masks.size()));
        }
    }

    bestdag::ChoiceSets sets() const {
        const std::vector<double> as_numbers(costs.begin(), costs.end());
        return {begin, as_numbers, offsets, members};
    }

    std::int64_t optimum() const {
        std::vector<std::int64_t> value(std::size_t{1} << n, 0);
        for (std::uint64_t s = 1; s < value.size(); ++s) {
            value[s] = std::int64_t{1} << 60;
            for (std::size_t v = 0; v < n; ++v) {
                if (!(s >> v & 1)) continue;
                const std::uint64_t rest = s & ~(std::uint64_t{1} << v);
                auto k = static_cast<std::size_t>(begin[v]);
                while (masks[k] & ~rest) ++k;
                value[s] = std::min(value[s], value[rest] + costs[k]);
            }
        }
        return value.back();
    }

    // With the multipliers of an ascent that stops at `enough`, and one on all variables for k = 2.
    bestdag::FrontierProblem problem(std::int64_t enough, std::int64_t& bound) const {
        const StopFlag stop{false};
        const auto ascent = bestdag::ascend(sets(), costs, enough, stop);
        bound = ascent.bound;
        bestdag::FrontierProblem result;
        for (const auto first : begin) result.first.push_back(static_cast<std::size_t>(first));
        result.masks = masks;
        result.costs = costs;
        for (const auto& raised : ascent.clusters) {
            std::uint64_t inside = 0;
            for (const auto v : raised.members) inside |= std::uint64_t{1} << v;
            result.clusters.push_back({inside, 1, raised.multiplier});
        }
        if (n > 2) result.clusters.push_back({(std::uint64_t{1} << n) - 1, 2, 3});
        for (std::size_t v = 0; v < n; ++v) {
            std::int64_t least = std::int64_t{1} << 60;
            for (auto k = result.first[v]; k < result.first[v + 1]; ++k) {
                std::int64_t reduced = costs[k];
                for (const auto& cluster : result.clusters) {
                    const bool few = __builtin_popcountll(masks[k] & cluster.members) < cluster.k;
                    if (cluster.members >> v & 1 && few) reduced -= cluster.multiplier;
                }
                least = std::min(least, reduced);
            }
            result.least.push_back(least);
        }
        return result;
    }
};

void same_as_the_recursion() {
    const StopFlag stop{false};
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Choices choices(1 + seed % 9, 2 + seed % 7, seed);
        const std::int64_t optimum = choices.optimum();
        std::int64_t bound = 0;
        const auto problem = choices.problem(std::int64_t{1} << 40, bound);
        check(bound <= optimum, "an ascent proves no more than the optimum");
        const auto whole = bestdag::search_frontier(problem, optimum + 1, 1 << 20, stop);
        check(whole.is_complete && !whole.chosen.empty(), "the whole search finds a choice");
        check(whole.cost == optimum && whole.bound == optimum, "which is the best one");
        std::int64_t sum = 0;
        for (const auto set : whole.chosen) sum += choices.costs[set];
        check(sum == optimum, "its sets cost as much as it says");
        const auto none = bestdag::search_frontier(problem, optimum, 1 << 20, stop);
        check(none.is_complete && none.chosen.empty() && none.bound == optimum,
              "nothing costs less than the optimum");
        const auto beam = bestdag::search_frontier(problem, 100000, 1, stop);
        check(beam.bound <= optimum, "the bound of a beam is one");
        check(beam.chosen.empty() || beam.cost >= optimum, "nothing in a beam is better");
    }
}

void stops() {
    const Choices choices(12, 40, 7);
    const StopFlag stop{true};
    std::int64_t bound = 0;
    const auto problem = choices.problem(1, bound);
    bool was_stopped = false;
    try {
        bestdag::search_frontier(problem, 1 << 30, 1 << 20, stop);
    } catch (const bestdag::Interrupted&) {
        was_stopped = true;
    }
    check(was_stopped, "a search that is told to stop stops");
    const auto ascent = bestdag::ascend(choices.sets(), choices.costs, 1 << 30, stop);
    check(ascent.clusters.empty(), "an ascent that is told to stop raises nothing");
}

}  // namespace

int main() {
    same_as_the_recursion();
    stops();
    return report();
}
