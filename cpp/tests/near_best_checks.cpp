// The cheapest acyclic choices, against every choice there is.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "exact/near_best.hpp"
#include "exact/subset_marginals.hpp"
#include "tests/checks.hpp"

namespace {

using bestdag::NearBest;
using bestdag::NearBestSets;
using bestdag::NearBestSettings;

const bestdag::Execution kRun{2, [] { return false; }};

// Random sets of n variables; the empty set is among them, and costs repeat, so that there are
// ties.
NearBestSets random_sets(std::size_t n, std::size_t n_sets, unsigned seed) {
    std::mt19937 random(seed);
    NearBestSets sets;
    sets.first = {0};
    sets.offsets = {0};
    for (std::size_t v = 0; v < n; ++v) {
        std::set<std::vector<std::int32_t>> mine{{}};
        for (std::size_t k = 0; k + 1 < n_sets; ++k) {
            std::vector<std::int32_t> members;
            for (std::size_t u = 0; u < n; ++u) {
                if (u != v && random() % 3 == 0) members.push_back(static_cast<std::int32_t>(u));
            }
            mine.insert(members);
        }
        std::vector<std::pair<double, std::vector<std::int32_t>>> ranked;
        for (const auto& members : mine) {
            ranked.push_back({static_cast<double>(random() % 8) * 0.5, members});
        }
        std::sort(ranked.begin(), ranked.end());
        for (auto& [cost, members] : ranked) {
            sets.costs.push_back(cost - ranked[0].first);
            sets.members.insert(sets.members.end(), members.begin(), members.end());
            sets.offsets.push_back(static_cast<std::int64_t>(sets.members.size()));
        }
        sets.first.push_back(static_cast<std::int64_t>(sets.costs.size()));
    }
    return sets;
}

bool is_acyclic(const NearBestSets& sets, const std::vector<std::int32_t>& chosen) {
    std::vector<bool> is_placed(chosen.size(), false);
    for (std::size_t round = 0; round < chosen.size(); ++round) {
        for (std::size_t v = 0; v < chosen.size(); ++v) {
            bool is_ready = true;
            for (const auto p : sets.parents(static_cast<std::size_t>(chosen[v]))) {
                is_ready = is_ready && is_placed[static_cast<std::size_t>(p)];
            }
            is_placed[v] = is_placed[v] || is_ready;
        }
    }
    return std::all_of(is_placed.begin(), is_placed.end(), [](bool placed) { return placed; });
}

double cost_of(const NearBestSets& sets, const std::vector<std::int32_t>& chosen) {
    double sum = 0.0;
    for (const auto set : chosen) sum += sets.costs[static_cast<std::size_t>(set)];
    return sum;
}

// Every choice in turn.
std::vector<double> every_cost(const NearBestSets& sets) {
    std::vector<std::int32_t> chosen;
    for (std::size_t v = 0; v < sets.n(); ++v) {
        chosen.push_back(static_cast<std::int32_t>(sets.first[v]));
    }
    std::vector<double> costs;
    for (;;) {
        if (is_acyclic(sets, chosen)) costs.push_back(cost_of(sets, chosen));
        std::size_t v = 0;
        for (; v < sets.n(); ++v) {
            if (++chosen[v] < sets.first[v + 1]) break;
            chosen[v] = static_cast<std::int32_t>(sets.first[v]);
        }
        if (v == sets.n()) break;
    }
    std::sort(costs.begin(), costs.end());
    return costs;
}

bestdag::NearBestPart whole(const NearBestSets& sets) {
    bestdag::NearBestPart part;
    for (std::size_t v = 0; v < sets.n(); ++v) {
        auto& mine = part.listed.emplace_back();
        for (auto k = sets.first[v]; k < sets.first[v + 1]; ++k) {
            mine.push_back(static_cast<std::int32_t>(k));
        }
    }
    return part;
}

std::vector<std::vector<std::int32_t>> rows(const NearBest& search, std::size_t n) {
    std::vector<std::vector<std::int32_t>> found;
    const auto all = search.chosen();
    for (std::size_t i = 0; i < search.n_found(); ++i) {
        const auto row = all.subspan(i * n, n);
        found.emplace_back(row.begin(), row.end());
    }
    return found;
}

void check_choices(const NearBestSets& sets, const NearBestSettings& settings, bool has_cut) {
    const auto every = every_cost(sets);
    NearBest search(sets, settings);
    auto part = whole(sets);
    if (has_cut) {  // no cycle among all variables, at some price
        bestdag::NearBestCut cut;
        cut.terms.push_back({{(bestdag::CutWord{1} << sets.n()) - 1}, 1});
        cut.equations = {0};
        part.cuts.push_back({search.add_cut(cut), 0.3});
        bestdag::NearBestCut pair;  // one of the first two has the other as a parent, at most
        pair.order = bestdag::OrderCut{{0, 1}, {0, 0, 1, 1, 0, 1, 0, 1}, 1};
        part.cuts.push_back({search.add_cut(pair), 0.2});
    }
    search.add_part(part);
    while (!search.is_over()) search.run(3, kRun);
    const auto found = rows(search, sets.n());
    std::size_t n_expected = 0;
    while (n_expected < every.size() && every[n_expected] <= settings.window) ++n_expected;
    if (settings.wanted > 0) n_expected = std::min(n_expected, settings.wanted);
    check(found.size() == n_expected, "as many as there are");
    check(std::set(found.begin(), found.end()).size() == found.size(), "each once");
    for (std::size_t i = 0; i < found.size() && i < every.size(); ++i) {
        check(is_acyclic(sets, found[i]), "no cycle");
        check(std::abs(cost_of(sets, found[i]) - every[i]) < 1e-9, "in order, and none missed");
    }
    const double next = n_expected < every.size() ? every[n_expected] : 1e9;
    check(search.rest() <= next + 1e-9, "what is left costs no less than is said");
}

// By the definition: the cheapest of all choices that have the set.
void check_marginals(std::size_t n, unsigned seed) {
    const NearBestSets sets = random_sets(n, 4, seed);
    std::vector<std::vector<bestdag::MarginalSet>> small(n);
    for (std::size_t v = 0; v < n; ++v) {
        for (auto k = static_cast<std::size_t>(sets.first[v]);
             k < static_cast<std::size_t>(sets.first[v + 1]); ++k) {
            std::uint32_t members = 0;
            for (const auto p : sets.parents(k)) members |= std::uint32_t{1} << p;
            small[v].push_back({members, static_cast<std::uint32_t>(2.0 * sets.costs[k])});
        }
    }
    const auto least = bestdag::subset_marginals(small, kRun);
    for (std::size_t v = 0; v < n; ++v) {
        for (std::size_t k = 0; k < small[v].size(); ++k) {
            NearBestSets fixed = sets;  // the others of v are too dear
            for (std::size_t j = 0; j < small[v].size(); ++j) {
                fixed.costs[static_cast<std::size_t>(sets.first[v]) + j] += j == k ? 0.0 : 1e6;
            }
            const double best = every_cost(fixed)[0];
            const bool is_possible = best < 1e5;
            check(least[v][k] == (is_possible ? static_cast<std::uint32_t>(2.0 * best)
                                              : bestdag::kMarginalLimit),
                  "the least cost with a set");
        }
    }
}

void check_stop() {
    const NearBestSets sets = random_sets(5, 5, 3);
    NearBest search(sets, {.window = 100.0});
    search.add_part(whole(sets));
    int n_asked = 0;
    const bestdag::Execution stop{1, [&] { return ++n_asked > 0; }};
    try {
        while (!search.is_over()) search.run(1000, stop);
    } catch (const bestdag::Interrupted&) {
    }
    while (!search.is_over()) search.run(1000, kRun);
    check(search.n_found() == every_cost(sets).size(), "an interrupted search can be continued");
}

void check_memory() {
    const NearBestSets sets = random_sets(5, 5, 4);
    NearBest search(sets, {.window = 100.0, .max_bytes = 2000.0});
    search.add_part(whole(sets));
    search.run(1'000'000, kRun);
    check(search.is_full(), "a queue that grows too long is said to");
    const auto every = every_cost(sets);
    check(search.n_found() < every.size() && search.rest() <= every[search.n_found()] + 1e-9,
          "and what is left is bounded");
}

void check_classes() {
    // Two variables, joined or not: the two ways to join them are one class.
    NearBestSets sets;
    sets.first = {0, 2, 4};
    sets.costs = {0.0, 1.0, 0.0, 1.0};
    sets.offsets = {0, 1, 1, 2, 2};
    sets.members = {1, 0};
    for (const bool has_whole_classes : {false, true}) {
        NearBest search(
            sets, {.window = 10.0, .per_class = true, .has_whole_classes = has_whole_classes});
        search.add_part(whole(sets));
        search.run(10, kRun);
        check(search.n_found() == 2, "one for each class");
    }
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 12; ++seed) {
        for (const std::size_t n : {1u, 2u, 3u, 4u, 5u}) {
            const NearBestSets sets = random_sets(n, n < 5 ? 6 : 4, seed);
            for (const double window : {0.0, 1.0, 3.0, 100.0}) {
                for (const std::size_t wanted : {0u, 1u, 5u, 40u}) {
                    for (const int most : {1, 2, 20}) {
                        const bool has_cut = most == 2 && n > 1;
                        check_choices(sets,
                                      {.window = window, .wanted = wanted, .max_component = most},
                                      has_cut);
                    }
                }
            }
        }
        for (const std::size_t n : {1u, 2u, 4u, 5u}) check_marginals(n, seed);
    }
    check_stop();
    check_memory();
    check_classes();
    return report();
}
