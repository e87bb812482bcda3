// Dynamic programming over subsets and the pieces of branch and cut, for the sanitizers: against
// the recursion as it is written, all instruction sets, many threads. Exits 0 when all is well.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "base/bitwise.hpp"
#include "exact/cluster_separation.hpp"
#include "exact/cut_pool.hpp"
#include "exact/order_cuts.hpp"
#include "exact/subset_descent.hpp"
#include "exact/subset_dp.hpp"
#include "exact/subset_lattice.hpp"
#include "exact/zero_half_cuts.hpp"
#include "search/choice_sets.hpp"
#include "search/order_search.hpp"
#include "tests/checks.hpp"

namespace {

// Random candidate sets with whole costs, the empty set last and most expensive.
struct Choices {
    int n;
    std::vector<std::int64_t> first{0};
    std::vector<std::uint64_t> members;
    std::vector<double> costs;

    Choices(int n_variables, int n_sets, unsigned seed) : n(n_variables) {
        std::mt19937_64 random(seed);
        for (int v = 0; v < n; ++v) {
            std::vector<double> drawn;
            for (int k = 0; k < n_sets; ++k) {
                const std::uint64_t everyone = (std::uint64_t{1} << n) - 1;
                const std::uint64_t some = random() & random() & everyone;
                members.push_back(k + 1 < n_sets ? some & ~(std::uint64_t{1} << v) : 0);
                drawn.push_back(static_cast<double>(random() % 1000));
            }
            std::sort(drawn.begin(), drawn.end());
            costs.insert(costs.end(), drawn.begin(), drawn.end());
            first.push_back(static_cast<std::int64_t>(members.size()));
        }
    }

    bestdag::SubsetProblem problem() const { return {n, first, members, costs}; }

    double best(std::size_t v, std::uint64_t inside) const {
        for (auto k = static_cast<std::size_t>(first[v]);; ++k) {
            if ((members[k] & ~inside) == 0) return costs[k];
        }
    }

    // The recursion as it is written.
    double optimum() const {
        std::vector<double> value(std::size_t{1} << n, 0.0);
        for (std::uint64_t s = 1; s < value.size(); ++s) {
            value[s] = 1e300;
            for (std::uint64_t left = s; left != 0; left &= left - 1) {
                const std::uint64_t rest = s & ~(left & (~left + 1));
                const auto v = static_cast<std::size_t>(__builtin_ctzll(left));
                value[s] = std::min(value[s], value[rest] + best(v, rest));
            }
        }
        return value.back();
    }

    double cost_of(const std::vector<std::int64_t>& chosen) const {
        double sum = 0;
        for (std::size_t v = 0; v < chosen.size(); ++v) {
            sum += costs[static_cast<std::size_t>(first[v] + chosen[v])];
        }
        return sum;
    }
};

bestdag::SubsetPlan flat(int n) { return bestdag::plan_subsets(n, 100, 4, 8, 1e18); }

// Small blocks, two layers of them in memory, some pairs ordered.
bestdag::SubsetPlan layers(int n, int middle, int pairs) {
    const bestdag::Division division(n, 4, middle);
    const auto sizes = bestdag::layer_sizes(division.top, pairs);
    const double tasks = bestdag::largest_neighbours(sizes);
    return {4, middle, pairs, std::max(64.0, tasks * static_cast<double>(division.task_cells()))};
}

void check_subsets(const bestdag::Execution& execution) {
    for (const int n : {1, 2, 5, 6, 10, 11, 12, 15}) {
        const Choices choices(n, n < 5 ? 1 : 40, static_cast<unsigned>(n));
        const double optimum = choices.optimum();
        for (const double limit : {optimum + 1, 1e9}) {
            const auto narrow = bestdag::best_by_subsets<std::uint32_t>(choices.problem(), limit,
                                                                        flat(n), execution, {});
            const auto wide =
                bestdag::best_by_subsets<double>(choices.problem(), limit, flat(n), execution, {});
            check(narrow.is_feasible && narrow.cost == optimum, "subsets in 4 bytes");
            check(wide.is_feasible && wide.cost == optimum, "subsets in 8 bytes");
            check(choices.cost_of(narrow.chosen) == optimum, "the choice behind the optimum");
            check(narrow.chosen == wide.chosen, "the same choice from both cells");
        }
        if (optimum >= 1) {
            check(!bestdag::best_by_subsets<std::uint32_t>(choices.problem(), optimum, flat(n),
                                                           execution, {})
                       .is_feasible,
                  "nothing is below the optimum");
        }
    }
}

// Two layers of small blocks, with and without pairs: the answer of the flat program.
void check_layers(const bestdag::Execution& execution) {
    for (const int n : {8, 11, 13}) {
        Choices choices(n, 40, static_cast<unsigned>(n));
        for (std::size_t k = 0; k < choices.members.size(); ++k) {  // variable 3 needs variable 5
            if (k >= static_cast<std::size_t>(choices.first[3]) &&
                k < static_cast<std::size_t>(choices.first[4])) {
                choices.members[k] |= 1u << 5;
            }
        }
        const auto problem = choices.problem();
        const auto expected =
            bestdag::best_by_subsets<double>(problem, 1e9, flat(n), execution, {});
        for (const int middle : {0, 2}) {
            for (const int pairs : {0, 1, 2}) {
                if (2 * pairs > n - 4 - middle) continue;
                const auto plan = layers(n, middle, pairs);
                const auto narrow =
                    bestdag::best_by_subsets<std::uint32_t>(problem, 1e9, plan, execution, {});
                const auto wide =
                    bestdag::best_by_subsets<double>(problem, 1e9, plan, execution, {});
                check(narrow.cost == expected.cost, "the value of layers");
                check(narrow.chosen == expected.chosen, "the choice of layers");
                check(wide.chosen == expected.chosen, "the choice of layers in 8 bytes");
            }
        }
    }
}

// Costs that are the fine ones over 1000, rounded down: the fine optimum is among the rivals.
void check_rivals(const bestdag::Execution& execution) {
    for (const int n : {1, 2, 5, 6, 11, 12}) {
        const Choices coarse(n, n < 5 ? 1 : 40, static_cast<unsigned>(n));
        Choices fine = coarse;
        for (std::size_t v = 0; v < static_cast<std::size_t>(n); ++v) {
            for (auto k = fine.first[v]; k < fine.first[v + 1]; ++k) {
                double& cost = fine.costs[static_cast<std::size_t>(k)];
                cost = 1000 * cost + static_cast<double>(17 * (k - fine.first[v]));
            }
        }
        bestdag::SubsetProblem problem = coarse.problem();
        problem.fine = fine.costs;
        for (const auto& plan : {flat(n), n < 11 ? flat(n) : layers(n, 1, 1)}) {
            const auto found = bestdag::best_by_subsets<std::uint32_t>(
                problem, coarse.optimum() + n + 2, plan, execution, {});
            check(found.fine == fine.optimum(), "the fine optimum");
            check(fine.cost_of(found.chosen) == fine.optimum(), "the choice behind it");
            check(coarse.cost_of(found.chosen) == found.cost, "its cost in units");
        }
        // Told to stop when the values are known: the best choice in units must do.
        const auto stopped = bestdag::best_by_subsets<std::uint32_t>(
            problem, coarse.optimum() + n + 2, flat(n), execution,
            [](double share) { return share == 1.0; });
        check(!stopped.fine && stopped.cost == coarse.optimum(), "the comparison can be stopped");
    }
}

// The subsets that an order allows, against the definition.
void check_lattice() {
    const std::vector<std::uint32_t> before{0, 1, 0, 0b0100, 0b1100, 0};  // 0 < 1, 2 < 3 < 4
    const bestdag::SubsetLattice lattice(6, before);
    std::size_t n_allowed = 0;
    for (std::uint32_t top = 0; top < 64; ++top) {
        const bool allowed = (!(top & 2u) || top & 1u) && (!(top & 8u) || top & 4u) &&
                             (!(top & 16u) || (top & 12u) == 12u);
        check(lattice.is_allowed(top) == allowed, "what an order allows");
        n_allowed += allowed;
        if (!allowed) continue;
        for (std::uint32_t bit = 1; bit < 64; bit *= 2) {
            const bool is_last = (top & bit) && lattice.is_allowed(top ^ bit);
            check(((lattice.last_bits(top) & bit) != 0) == is_last, "what may be last");
        }
    }
    check(lattice.n_tops() == n_allowed && n_allowed == 3 * 4 * 2, "chains of two and three");
    const auto sizes = bestdag::layer_sizes(6, 2);
    check(sizes == std::vector<double>{1, 4, 8, 10, 8, 4, 1}, "layers of two pairs and two more");
    const std::vector<std::uint32_t> pairs{0, 1, 0, 4, 0, 0};
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        check(static_cast<double>(bestdag::SubsetLattice(6, pairs).layer(k).size()) == sizes[k],
              "the layers of a lattice with two pairs");
    }
    check(bestdag::SubsetLattice(6, pairs).least_room() == 18, "two neighbouring layers");
}

// Every order of adding the variables of a register must be a subsequence of the walk.
template <std::size_t kSize>
void check_lane_order(const int (&walk)[kSize], int n) {
    std::vector<int> wanted(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) wanted[static_cast<std::size_t>(i)] = i;
    do {
        std::size_t found = 0;
        for (const int step : walk) found += found < wanted.size() && wanted[found] == step;
        check(found == wanted.size(), "an order inside a register is walked");
    } while (std::next_permutation(wanted.begin(), wanted.end()));
}

// Random parent sets of n variables (more than 64 candidates per child when n is large): search,
// separation on a fractional choice, cuts of all kinds, reduced costs.
void check_branch_and_cut(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::int64_t> begin{0}, offsets{0};
    std::vector<double> costs;
    std::vector<std::int32_t> members;
    for (std::size_t v = 0; v < n; ++v) {
        for (std::size_t f = 0; f < n + 3; ++f) {
            costs.push_back(static_cast<double>(f));
            for (std::size_t u = 0; u < n && f < n + 2; ++u) {
                const bool in = u != v && (u == f || random() % n == 0);
                if (in) members.push_back(static_cast<std::int32_t>(u));
            }
            offsets.push_back(static_cast<std::int64_t>(members.size()));
        }
        begin.push_back(static_cast<std::int64_t>(costs.size()));
    }
    const bestdag::ChoiceSets sets(begin, costs, offsets, members);
    const bestdag::StopFlag stop{false};
    bestdag::OrderSearch search(sets, seed);
    search.improve(20, stop);
    check(search.is_feasible(), "empty sets make every order fit");
    bestdag::OrderSearch again(sets, seed + 1);
    again.restore(search.place());
    check(again.improve(20, stop) == search.improve(20, stop), "both improve");
    check(again.best_cost() == search.best_cost() && again.home_cost() == search.home_cost(),
          "a search goes on where another one was");

    std::vector<std::int64_t> support;
    std::vector<double> x;
    for (std::size_t v = 0; v < n; ++v) {
        for (const std::int64_t f : {0, 1}) {
            support.push_back(begin[v] + f);
            x.push_back(0.5);
        }
    }
    bestdag::CutPool pool(sets);
    std::vector<bestdag::Cluster> clusters;
    for (const int k : {1, 2}) {
        for (auto& found :
             bestdag::separate_clusters(sets, support, x, k, clusters, -0.3, 50, stop)) {
            pool.add(found.cluster);
            clusters.push_back(std::move(found.cluster));
        }
    }
    for (const auto& half : bestdag::separate_halves(sets, support, x, clusters, 0.01, 20, stop)) {
        std::vector<bestdag::Cluster> terms;
        for (const std::size_t t : half.terms) terms.push_back(clusters[t]);
        pool.add_halved(terms, half.equations);
    }
    for (const auto& found : bestdag::separate_order_cuts(sets, support, x, 8, 0.01, 20, stop)) {
        check(bestdag::most_gain(found.cut.members.size(), found.cut.gains) == found.cut.most,
              "an order cut is tight for some order, and for none too much");
        check(found.violation >= 0.01, "as much as was asked for");
        pool.add(found.cut);
    }
    const std::vector<std::int64_t> units(costs.size(), 1000), multipliers(pool.size(), 3);
    std::vector<std::int64_t> reduced(costs.size()), numbers, every;
    const std::unique_ptr<bool[]> allowed(new bool[costs.size()]);
    for (std::size_t f = 0; f < costs.size(); ++f) allowed[f] = f % 5 != 4;
    pool.reduce(units, multipliers, {allowed.get(), costs.size()}, reduced);
    for (std::size_t c = 0; c < pool.size(); ++c) numbers.push_back(static_cast<std::int64_t>(c));
    for (std::size_t f = 0; f < costs.size(); ++f) every.push_back(static_cast<std::int64_t>(f));
    std::vector<std::int8_t> matrix(numbers.size() * every.size());
    pool.coefficients(numbers, every, matrix);
    for (std::size_t f = 0; f < costs.size(); ++f) {
        std::int64_t expected = 1000;
        for (std::size_t c = 0; c < pool.size(); ++c) expected -= 3 * matrix[c * costs.size() + f];
        if (!allowed[f]) expected = bestdag::CutPool::kNotAllowed;
        check(reduced[f] == expected, "reduced costs follow from the coefficients");
    }
}

}  // namespace

int main() {
    std::size_t n_sets;
    const bestdag::Bitwise* const* sets = bestdag::bitwise_sets(n_sets);
    const bestdag::Execution execution{4, [] { return false; }};
    for (std::size_t i = 0; i < n_sets; ++i) {
        bestdag::choose_bitwise(sets[i]->name);
        check_subsets(execution);
        check_layers(execution);
        check_rivals(execution);
    }
    check_lattice();
    check_lane_order(bestdag::detail::kLaneOrder1, 1);
    check_lane_order(bestdag::detail::kLaneOrder2, 2);
    check_lane_order(bestdag::detail::kLaneOrder3, 3);
    check_lane_order(bestdag::detail::kLaneOrder4, 4);
    for (const std::size_t n : {1u, 2u, 9u, 40u, 90u}) check_branch_and_cut(n, 7);
    return report();
}
