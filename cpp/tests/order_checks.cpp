// Checks of the search over orders, against every order there is.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "search/choice_sets.hpp"
#include "search/order_chains.hpp"
#include "tests/checks.hpp"

namespace {

struct RandomSets {
    std::vector<std::int64_t> begin{0}, offsets{0};
    std::vector<double> costs;
    std::vector<std::int32_t> members;

    RandomSets(std::size_t n, unsigned seed) {
        std::mt19937 random(seed);
        for (std::size_t v = 0; v < n; ++v) {
            for (std::size_t f = 0; f < 12; ++f) {
                costs.push_back(static_cast<double>(f) + static_cast<double>(random() % 5) * 0.1);
                for (std::size_t u = 0; u < n && f < 11; ++u) {
                    if (u != v && random() % 3 == 0)
                        members.push_back(static_cast<std::int32_t>(u));
                }
                offsets.push_back(static_cast<std::int64_t>(members.size()));
            }
            begin.push_back(static_cast<std::int64_t>(costs.size()));
            std::sort(costs.end() - 12, costs.end());
        }
    }
};

double cost_of_order(const bestdag::ChoiceSets& sets, const std::vector<std::size_t>& order) {
    double sum = 0.0;
    std::vector<std::uint8_t> placed(order.size(), 0);
    for (const std::size_t v : order) {
        std::size_t f = sets.first(v);
        const auto fits = [&] {
            return std::all_of(sets.members(f).begin(), sets.members(f).end(), [&](std::int32_t u) {
                return placed[static_cast<std::size_t>(u)] != 0;
            });
        };
        while (!fits()) ++f;
        sum += sets.cost(f);
        placed[v] = 1;
    }
    return sum;
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 5; ++seed) {
        const std::size_t n = 2 + seed;
        const RandomSets random(n, seed);
        const bestdag::ChoiceSets sets(random.begin, random.costs, random.offsets, random.members);
        std::vector<std::size_t> order(n);
        for (std::size_t v = 0; v < n; ++v) order[v] = v;
        double least = std::numeric_limits<double>::infinity();
        do {
            least = std::min(least, cost_of_order(sets, order));
        } while (std::next_permutation(order.begin(), order.end()));

        std::vector<double> found;
        for (const int threads : {1, 3}) {
            const bestdag::Execution execution{threads, [] { return false; }};
            bestdag::OrderChains chains(sets, seed, 3);
            check(chains.is_feasible(), "empty sets make every order fit");
            std::vector<std::int32_t> start(n);
            for (std::size_t v = 0; v < n; ++v) start[v] = static_cast<std::int32_t>(v);
            chains.descend_from(start, execution);
            chains.scatter(execution);
            for (int i = 0; i < 5; ++i) chains.improve(20, execution);
            double sum = 0.0;
            for (const std::size_t f : chains.best_choice()) sum += sets.cost(f);
            check(std::abs(sum - chains.best_cost()) < 1e-9, "the cost is that of the choice");
            found.push_back(chains.best_cost());
        }
        check(found[0] == found[1], "any number of threads finds the same");
        check(std::abs(found[0] - least) < 1e-9, "the best of all orders is found");
    }
    return report();
}
