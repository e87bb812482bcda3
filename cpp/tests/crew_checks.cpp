// Checks of the search over orders with parent sets that grow and shrink, on scores made up from
// numbers: against every structure there is, and for any number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "search/order_crew.hpp"
#include "tests/checks.hpp"

namespace {

// A score for every family: a function of child and parents, no two alike.
double score_of(std::size_t child, std::uint64_t parents, std::uint64_t seed) {
    const auto drawn = bestdag::philox4x64({seed, child}, parents);
    double score = 4.0 * static_cast<double>(drawn[0] >> 11) * 0x1p-53;
    for (; parents != 0; parents &= parents - 1) score -= 0.7;
    return score;
}

class MadeUp final : public bestdag::ChangeScorers::Worker {
public:
    explicit MadeUp(std::uint64_t seed) : seed_(seed) {}
    void score(const bestdag::Family& family, std::span<const std::int32_t> candidates,
               const bestdag::StopFlag&, double* scores) override {
        std::uint64_t parents = 0;
        for (const std::int32_t p : family.parents) parents |= std::uint64_t{1} << p;
        for (const std::int32_t c : candidates) {
            const bool is_own = static_cast<std::size_t>(c) == family.child;
            const std::uint64_t changed = is_own ? parents : parents ^ (std::uint64_t{1} << c);
            *scores++ = score_of(family.child, changed, seed_);
        }
    }

private:
    std::uint64_t seed_;
};

bestdag::FamilyRules rules_for(std::size_t n) {
    bestdag::FamilyRules rules;
    rules.offsets.push_back(0);
    for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t p = 0; p < n; ++p) {
            if (p != c) rules.candidates.push_back(static_cast<std::int32_t>(p));
        }
        rules.offsets.push_back(static_cast<std::int64_t>(rules.candidates.size()));
    }
    rules.required.resize(rules.candidates.size());
    rules.bonuses.resize(rules.candidates.size());
    rules.bases.resize(n);
    rules.max_parents.assign(n, static_cast<std::int32_t>(n) - 1);
    return rules;
}

// The best structure: over all orders, with the best parents among the predecessors.
double best_of_all(std::size_t n, std::uint64_t seed) {
    std::vector<std::size_t> order(n);
    for (std::size_t v = 0; v < n; ++v) order[v] = v;
    double best = -std::numeric_limits<double>::infinity();
    do {
        double total = 0.0;
        std::uint64_t before = 0;
        for (const std::size_t v : order) {
            double own = score_of(v, before, seed);
            for (std::uint64_t set = before; set != 0;) {
                set = (set - 1) & before;
                own = std::max(own, score_of(v, set, seed));
            }
            total += own;
            before |= std::uint64_t{1} << v;
        }
        best = std::max(best, total);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

double total_of(const bestdag::ParentLists& parents, std::uint64_t seed) {
    double total = 0.0;
    for (std::size_t v = 0; v < parents.size(); ++v) {
        std::uint64_t set = 0;
        for (const std::int32_t p : parents[v]) set |= std::uint64_t{1} << p;
        total += score_of(v, set, seed);
    }
    return total;
}

void check_small(std::size_t n, std::uint64_t seed) {
    const double best = best_of_all(n, seed);
    std::vector<bestdag::ParentLists> found;
    for (const int threads : {1, 3}) {
        const bestdag::Execution execution{threads, [] { return false; }};
        // Little room for rows: they are forgotten and worked out again.
        bestdag::OrderCrew crew(
            rules_for(n), bestdag::Precedences(n), 1e-9, 100.0,
            [&](const bestdag::StopFlag&) { return std::make_unique<MadeUp>(seed); }, seed, 4,
            seed % 2 == 0 ? 1e9 : 4000.0);
        check(crew.begin(bestdag::ParentLists(n)), "the empty structure fits every order");
        for (int i = 0; i < 10; ++i) {
            const double before = crew.total();
            crew.improve(3e6, execution);
            check(!(crew.total() < before), "rounds never lose");
        }
        check(bestdag::Ancestry(n).reset(crew.parents()), "no cycle");
        check(std::abs(crew.total() - total_of(crew.parents(), seed)) < 1e-9,
              "the total is that of the structure");
        check(crew.total() <= best + 1e-9, "nothing is better than the best");
        // Every family listed: the best order is enough.
        for (std::size_t v = 0; v < n; ++v) {
            std::vector<std::pair<double, std::uint64_t>> all;
            for (std::uint64_t set = 0; set < std::uint64_t{1} << n; ++set) {
                if (!(set >> v & 1)) all.emplace_back(-score_of(v, set, seed), set);
            }
            std::sort(all.begin(), all.end());
            bestdag::ListedSets sets;
            for (const auto& [cost, set] : all) {
                sets.scores.push_back(-cost);
                for (std::size_t p = 0; p < n; ++p) {
                    if (set >> p & 1) sets.members.push_back(static_cast<std::int32_t>(p));
                }
                sets.offsets.push_back(static_cast<std::int64_t>(sets.members.size()));
            }
            crew.list(v, std::move(sets));
        }
        for (int i = 0; i < 10; ++i) crew.improve(3e6, execution);
        check(std::abs(crew.total() - best) < 1e-9, "the best of all structures is found");
        found.push_back(crew.parents());
    }
    check(found[0] == found[1], "any number of threads finds the same");
}

void check_rules() {
    const std::size_t n = 6;
    bestdag::Precedences precedences(n);
    precedences.add(5, 0);
    precedences.add(4, 1);
    bestdag::FamilyRules rules = rules_for(n);
    rules.max_parents.assign(n, 2);
    rules.required[4] = 1;  // the last candidate of the first child: 5 -> 0
    bestdag::OrderCrew crew(
        std::move(rules), precedences, 1e-9, 100.0,
        [](const bestdag::StopFlag&) { return std::make_unique<MadeUp>(9); }, 1, 4, 1e9);
    bestdag::ParentLists start(n);
    start[5] = {0};
    check(!crew.begin(start), "no order has an arc against a precedence");
    start[5] = {};
    start[0] = {5};
    check(crew.begin(start), "an order has the required arc");
    for (int i = 0; i < 10; ++i) crew.improve(3e6, {2, {}});
    bestdag::ParentLists found = crew.parents();
    for (const auto& parents : found) check(parents.size() <= 2, "at most two parents");
    check(found[0].back() == 5, "the required parent is there");
    found[1].push_back(4);
    check(bestdag::Ancestry(n).reset(found), "4 can come before 1");
}

// A crew that goes on from where another one was does what that one does, on any threads.
void check_going_on(std::uint64_t seed) {
    const std::size_t n = 9;
    const auto make = [&] {
        return std::make_unique<bestdag::OrderCrew>(
            rules_for(n), bestdag::Precedences(n), 1e-9, 100.0,
            [&](const bestdag::StopFlag&) { return std::make_unique<MadeUp>(seed); }, seed, 4,
            seed % 2 == 0 ? 1e9 : 20000.0);
    };
    const auto first = make(), second = make();
    const bestdag::Execution one{1, [] { return false; }}, three{3, [] { return false; }};
    first->begin(bestdag::ParentLists(n));
    second->restore(first->place(), three);  // before anything was done
    for (int i = 0; i < 4; ++i) first->improve(1e5, one);
    second->restore(first->place(), three);
    for (int i = 0; i < 4; ++i) {
        check(first->improve(1e5, one) == second->improve(1e5, three), "both improve");
    }
    check(first->parents() == second->parents(), "the structure is the same");
    check(first->n_attempts() == second->n_attempts(), "so is the number of attempts");
    check(first->place().known == second->place().known, "and the rows that were scored");
    check(first->n_bytes() == second->n_bytes(), "and their size");
}

void check_stop() {
    int asked = 0;
    const bestdag::Execution execution{1, [&] { return ++asked > 3; }};
    bestdag::OrderCrew crew(
        rules_for(8), bestdag::Precedences(8), 1e-9, 100.0,
        [](const bestdag::StopFlag&) { return std::make_unique<MadeUp>(2); }, 1, 2, 1e9);
    crew.begin(bestdag::ParentLists(8));
    bool is_stopped = false;
    try {
        crew.improve(1e12, execution);
    } catch (const bestdag::Interrupted&) {
        is_stopped = true;
    }
    check(is_stopped, "it stops when asked");
    check(std::abs(crew.total() - total_of(crew.parents(), 2)) < 1e-9, "and keeps what it has");
}

}  // namespace

int main() {
    for (std::uint64_t seed = 0; seed < 6; ++seed) check_small(2 + seed % 5, seed);
    check_rules();
    for (const std::uint64_t seed : {4, 5}) check_going_on(seed);
    check_stop();
    return report();
}
