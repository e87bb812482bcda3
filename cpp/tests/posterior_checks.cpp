// Checks of the sums over orders and DAGs, of draws and of chains, against a list of all
// structures.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "posterior/ancestor_sums.hpp"
#include "posterior/arc_reversal.hpp"
#include "posterior/chains.hpp"
#include "posterior/dag_draws.hpp"
#include "posterior/dag_sums.hpp"
#include "posterior/order_sums.hpp"
#include "posterior/parent_blocks.hpp"
#include "posterior/room_sums.hpp"
#include "tests/checks.hpp"

namespace {

using bestdag::kLogZero;

const bestdag::Execution kThreads{3, {}};

// All parent sets of n variables with random weights, each variable's by descending weight.
struct RandomWeights {
    std::vector<std::int64_t> begin{0};
    std::vector<std::uint64_t> sets;
    std::vector<double> logs;

    RandomWeights(std::size_t n, unsigned seed, double spread) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> draw(-spread, 0.0);
        for (std::size_t v = 0; v < n; ++v) {
            std::vector<double> mine(std::size_t{1} << (n - 1));
            for (double& log : mine) log = draw(random) - 1000.0;
            std::vector<std::uint64_t> order(mine.size());
            for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
            std::sort(order.begin(), order.end(),
                      [&](std::uint64_t a, std::uint64_t b) { return mine[a] > mine[b]; });
            for (const std::uint64_t s : order) {
                sets.push_back(bestdag::with_place(s, v));
                logs.push_back(mine[s]);
            }
            begin.push_back(static_cast<std::int64_t>(logs.size()));
        }
    }
    bestdag::ParentWeights view() const { return {begin, sets, logs}; }
};

double count_orders(const std::vector<std::uint64_t>& parents, std::uint64_t left) {
    if (left == 0) return 1.0;
    double sum = 0.0;
    for (std::size_t v = 0; v < parents.size(); ++v) {
        const std::uint64_t own = std::uint64_t{1} << v;
        if ((left & own) == 0) continue;
        bool is_last = true;
        for (std::size_t c = 0; c < parents.size(); ++c) {
            if ((left >> c & 1) != 0 && (parents[c] & own) != 0) is_last = false;
        }
        if (is_last) sum += count_orders(parents, left & ~own);
    }
    return sum;
}

// Sums over all structures: the total, arcs and paths, and parent sets by their numbers.
struct Listed {
    double total = 0.0;
    std::vector<double> arcs, paths, sets;

    Listed(const bestdag::ParentWeights& weights, bool by_order)
        : arcs(weights.n() * weights.n(), 0.0),
          paths(arcs),
          sets(weights.end(weights.n() - 1), 0.0) {
        const std::size_t n = weights.n();
        const std::uint64_t everybody = (std::uint64_t{1} << n) - 1;
        std::vector<std::size_t> chosen(n);
        std::vector<std::uint64_t> parents(n);
        for (std::size_t v = 0; v < n; ++v) chosen[v] = weights.first(v);
        while (true) {
            double log = 0.0;
            for (std::size_t v = 0; v < n; ++v) {
                parents[v] = *weights.set(chosen[v]);
                log += weights.log_weight(chosen[v]) + 1000.0;
            }
            if (const double orders = count_orders(parents, everybody); orders > 0.0) {
                add(std::exp(log) * (by_order ? orders : 1.0), chosen, parents);
            }
            std::size_t v = 0;
            while (v < n && ++chosen[v] == weights.end(v)) {
                chosen[v] = weights.first(v);
                ++v;
            }
            if (v == n) break;
        }
        for (auto* all : {&arcs, &paths, &sets}) {
            for (double& one : *all) one /= total;
        }
    }

    void add(double weight, const std::vector<std::size_t>& chosen,
             const std::vector<std::uint64_t>& parents) {
        const std::size_t n = parents.size();
        total += weight;
        std::vector<std::uint64_t> above = parents;
        for (std::size_t round = 0; round < n; ++round) {
            for (std::size_t v = 0; v < n; ++v) {
                for (std::size_t u = 0; u < n; ++u) {
                    if ((above[v] >> u & 1) != 0) above[v] |= above[u];
                }
            }
        }
        for (std::size_t v = 0; v < n; ++v) {
            sets[chosen[v]] += weight;
            for (std::size_t u = 0; u < n; ++u) {
                if ((parents[v] >> u & 1) != 0) arcs[u * n + v] += weight;
                if ((above[v] >> u & 1) != 0) paths[u * n + v] += weight;
            }
        }
    }
};

double apart(const std::vector<double>& one, const std::vector<double>& other) {
    double most = 0.0;
    for (std::size_t i = 0; i < one.size(); ++i) most = std::max(most, std::abs(one[i] - other[i]));
    return most;
}

void check_log_sums() {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> draw(-60.0, 5.0);
    for (const std::size_t n_bits : {0u, 1u, 2u, 3u, 4u, 6u}) {
        std::vector<double> cells(std::size_t{1} << n_bits);
        for (double& cell : cells) cell = draw(random);
        cells.back() = kLogZero;
        std::vector<double> below = cells, above = cells;
        bestdag::sum_over_subsets(below.data(), n_bits);
        bestdag::sum_over_supersets(above.data(), n_bits);
        for (std::size_t s = 0; s < cells.size(); ++s) {
            double under = kLogZero, over = kLogZero;
            for (std::size_t p = 0; p < cells.size(); ++p) {
                if ((p & s) == p) under = bestdag::log_add(under, cells[p]);
                if ((p & s) == s) over = bestdag::log_add(over, cells[p]);
            }
            check(under == below[s] || std::abs(under - below[s]) < 1e-12, "sums over subsets");
            check(over == above[s] || std::abs(over - above[s]) < 1e-12, "sums over supersets");
        }
    }
    check(bestdag::log_subtract(1.0, 1.0) == kLogZero, "a difference of equals is zero");
}

void check_exact(std::size_t n, unsigned seed) {
    const RandomWeights random(n, seed, 6.0);
    const bestdag::ParentWeights weights = random.view();
    std::vector<double> sets(random.logs.size()), arcs(n * n), paths(n * n);

    const Listed by_order(weights, true);
    for (std::size_t top_bits = 0; top_bits < n; ++top_bits) {
        bestdag::OrderSums sums(weights, top_bits, kThreads, {});
        sums.probabilities(kThreads, sets, arcs);
        check(std::abs(sums.log_total() + 1000.0 * static_cast<double>(n) -
                       std::log(by_order.total)) < 1e-9,
              "the sum over orders");
        check(apart(arcs, by_order.arcs) < 1e-10, "arcs by orders");
        check(apart(sets, by_order.sets) < 1e-10, "parent sets by orders");

        const std::size_t n_draws = 4000;
        std::vector<std::uint64_t> dags(n_draws * n);
        std::vector<double> logs(n_draws), orders(n_draws), drawn(n * n, 0.0);
        bestdag::draw_dags(sums, weights, 5, kThreads, dags, logs);
        bestdag::log_linear_extensions(dags, n, kThreads, orders);
        for (std::size_t i = 0; i < n_draws; ++i) {
            const std::vector<std::uint64_t> mine(
                dags.begin() + static_cast<std::ptrdiff_t>(i * n),
                dags.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
            if (i % 100 == 0) {
                check(std::abs(std::exp(orders[i]) -
                               count_orders(mine, (std::uint64_t{1} << n) - 1)) < 1e-6,
                      "numbers of orders");
            }
            for (std::size_t v = 0; v < n; ++v) {
                for (std::size_t u = 0; u < n; ++u) {
                    drawn[u * n + v] += static_cast<double>(mine[v] >> u & 1) / n_draws;
                }
            }
        }
        check(apart(drawn, by_order.arcs) < 0.05, "draws follow the sums");
    }
    bestdag::ancestor_probabilities(weights, kThreads, paths);
    check(apart(paths, by_order.paths) < 1e-10, "paths by orders");

    const Listed once(weights, false);
    const auto totals = bestdag::sum_over_dags(weights, kThreads, sets, arcs);
    check(std::abs(totals.first - totals.second) < 1e-9, "two ways to the sum over DAGs");
    check(apart(arcs, once.arcs) < 1e-10, "arcs by DAGs");
    check(apart(sets, once.sets) < 1e-10, "parent sets by DAGs");
}

// Shares of the arcs in structures of n <= 64 variables.
std::vector<double> arcs_of(const std::vector<std::uint64_t>& dags, std::size_t n) {
    std::vector<double> arcs(n * n, 0.0);
    const double n_dags = static_cast<double>(dags.size() / n);
    for (std::size_t i = 0; i < dags.size(); ++i) {
        for (std::size_t u = 0; u < n; ++u) {
            arcs[u * n + i % n] += static_cast<double>(dags[i] >> u & 1) / n_dags;
        }
    }
    return arcs;
}

void check_chains(bool over_partitions) {
    const std::size_t n = 4, n_chains = 3, n_draws = 4000;
    const RandomWeights random(n, 3, 4.0);
    const bestdag::ParentWeights weights = random.view();
    const Listed listed(weights, !over_partitions);
    std::vector<std::uint64_t> dags(n_chains * n_draws * n);
    std::vector<std::int64_t> n_drawn(n_chains);
    bestdag::Chains chains(weights, over_partitions, 11, n_chains);
    chains.settle(500, 0, 500, kThreads);
    chains.run(n_draws, 4, kThreads, dags, n_drawn);
    check(apart(arcs_of(dags, n), listed.arcs) < 0.05, "chains come near the posterior");
    check(chains.n_moved() > 0 && chains.n_moved() < chains.n_steps(), "some steps are taken");
    check(chains.n_steps() == n_chains * (500 + 4 * n_draws), "steps are counted");
    check(n_drawn[2] == static_cast<std::int64_t>(n_draws), "draws are counted");

    // Chains that go on from where others were draw the same, also in the middle of settling.
    bestdag::Chains first(weights, over_partitions, 5, 2), second(weights, over_partitions, 5, 2);
    first.settle(90, 0, 31, kThreads);
    second.restore(first.places());
    for (bestdag::Chains* one : {&first, &second}) one->settle(90, 31, 90, kThreads);
    std::vector<std::uint64_t> mine(2 * 7 * n), theirs(2 * 7 * n);
    std::vector<std::int64_t> counts(2);
    first.run(7, 3, kThreads, mine, counts);
    second.run(7, 3, kThreads, theirs, counts);
    check(mine == theirs, "chains go on with their draws");
    second.restore(first.places());
    first.run(7, 3, kThreads, mine, counts);
    second.run(7, 3, kThreads, theirs, counts);
    check(mine == theirs, "also once they have drawn");
    check(first.n_steps() == second.n_steps(), "with their number of steps");
}

// Steps between structures keep to the posterior: alone, from the empty structure.
template <class Steps>
void check_structure_steps(Steps steps, std::size_t n, double spread, const char* what) {
    const RandomWeights random(n, 5, spread);
    const bestdag::ParentWeights weights = random.view();
    const Listed listed(weights, false);
    const bestdag::RoomSums rooms(weights);
    std::vector<std::uint64_t> parents(n, 0), dags;
    steps(rooms, parents, dags);
    check(apart(arcs_of(dags, n), listed.arcs) < 0.03, what);
}

void check_structures() {
    bestdag::RandomStream draws(bestdag::PhiloxKey{3, 1});
    for (const std::size_t n : {std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
        check_structure_steps(
            [&](const bestdag::RoomSums& rooms, auto& parents, auto& dags) {
                bestdag::ParentBlocks blocks(rooms.weights());
                for (int i = 0; i < 12000; ++i) {
                    blocks.step(parents, draws);
                    dags.insert(dags.end(), parents.begin(), parents.end());
                }
            },
            n, 4.0, "blocks of parents keep to the posterior");
    }
    // Turning arcs around alone leads from no arc to none: with blocks in between.
    check_structure_steps(
        [&](const bestdag::RoomSums& rooms, auto& parents, auto& dags) {
            bestdag::ParentBlocks blocks(rooms.weights());
            bestdag::ArcReversal reversal(rooms);
            std::size_t n_taken = 0;
            for (int i = 0; i < 30000; ++i) {
                if (i % 20 == 0) blocks.step(parents, draws);
                n_taken += reversal.step(parents, draws) ? 1 : 0;
                dags.insert(dags.end(), parents.begin(), parents.end());
            }
            check(n_taken > 3000, "arcs are turned around");
        },
        4, 4.0, "turned arcs keep to the posterior");
}

void check_room_sums() {
    const std::size_t n = 6;
    const RandomWeights random(n, 9, 2000.0);  // far beyond the range of numbers
    const bestdag::ParentWeights weights = random.view();
    const bestdag::RoomSums rooms(weights);
    for (std::uint64_t among = 0; among < 64; ++among) {
        for (const std::uint64_t hit : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{63}}) {
            for (std::size_t v = 0; v < n; ++v) {
                const std::uint64_t room = among & ~(std::uint64_t{1} << v);
                const double one = rooms.log_sum(v, &room, hit ? &hit : nullptr);
                const double other = weights.log_sum_within(v, &room, hit ? &hit : nullptr);
                check(one == other || std::abs(one - other) < 1e-9, "sums of rooms");
                if (other == kLogZero) continue;
                const std::size_t drawn = rooms.draw(v, &room, hit ? &hit : nullptr, one, 0.5);
                check(weights.fits(drawn, &room, hit ? &hit : nullptr), "draws fit");
            }
        }
    }
}

void check_interruption() {
    const RandomWeights random(14, 1, 5.0);
    const bestdag::ParentWeights weights = random.view();
    std::atomic<int> asked = 0;
    const bestdag::Execution stopping{2, [&] { return ++asked > 1; }};
    bool is_stopped = false;
    std::vector<double> paths(14 * 14);
    try {
        bestdag::ancestor_probabilities(weights, stopping, paths);
    } catch (const bestdag::Interrupted&) {
        is_stopped = true;
    }
    check(is_stopped, "long sums can be stopped");
}

}  // namespace

int main() {
    check_log_sums();
    for (unsigned seed = 0; seed < 2; ++seed) check_exact(4, seed);
    check_exact(1, 0);
    check_exact(2, 1);
    check_exact(3, 2);
    check_chains(false);
    check_chains(true);
    check_structures();
    check_room_sums();
    check_interruption();
    return report();
}
