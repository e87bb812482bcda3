// Random walks of single-arc changes, for the sanitizers: ancestry, legality and the best move are
// compared with their definitions after every step. Exits 0 when all is well.
#include <bitset>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "search/climb.hpp"
#include "tests/checks.hpp"

namespace {

using bestdag::Climb;
using bestdag::MoveKind;
using bestdag::ParentLists;

using Matrix = std::vector<std::vector<bool>>;

// paths[a][b]: a directed path leads from a to b.
using Paths = std::vector<std::bitset<32>>;

Paths paths_of(const ParentLists& parents) {
    const std::size_t n = parents.size();
    Paths paths(n);
    for (std::size_t c = 0; c < n; ++c) {
        for (const std::int32_t p : parents[c]) paths[static_cast<std::size_t>(p)][c] = true;
    }
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t a = 0; a < n; ++a) {
            if (paths[a][k]) paths[a] |= paths[k];
        }
    }
    return paths;
}

bool has_arc(const ParentLists& parents, std::size_t p, std::size_t c) {
    for (const std::int32_t one : parents[c]) {
        if (static_cast<std::size_t>(one) == p) return true;
    }
    return false;
}

struct Rules {
    std::size_t n;
    Matrix allowed, required;
    std::size_t most;
    bestdag::NodePairs edges, ancestors, non_ancestors;
};

bool obeys(const ParentLists& parents, const Rules& rules) {
    const Paths paths = paths_of(parents);
    for (std::size_t c = 0; c < rules.n; ++c) {
        if (paths[c][c] || parents[c].size() > rules.most) return false;
        for (std::size_t p = 0; p < rules.n; ++p) {
            const bool is_there = has_arc(parents, p, c);
            if (is_there && !rules.allowed[p][c]) return false;
            if (!is_there && rules.required[p][c]) return false;
        }
    }
    for (const auto& [a, b] : rules.edges) {
        if (!has_arc(parents, a, b) && !has_arc(parents, b, a)) return false;
    }
    for (const auto& [a, b] : rules.ancestors) {
        if (!paths[a][b]) return false;
    }
    for (const auto& [a, b] : rules.non_ancestors) {
        if (paths[a][b]) return false;
    }
    return true;
}

ParentLists after(ParentLists parents, MoveKind kind, std::size_t p, std::size_t c) {
    const auto put = [&](std::size_t from, std::size_t to) {
        auto& group = parents[to];
        const auto number = static_cast<std::int32_t>(from);
        auto place = group.begin();
        while (place != group.end() && *place < number) ++place;
        group.insert(place, number);
    };
    if (kind != MoveKind::add) std::erase(parents[c], static_cast<std::int32_t>(p));
    if (kind == MoveKind::add) put(p, c);
    if (kind == MoveKind::reverse) put(c, p);
    return parents;
}

using Arc = std::optional<std::pair<std::size_t, std::size_t>>;

void check_moves(Climb& climb, const Rules& rules, const Arc& last) {
    double highest = -std::numeric_limits<double>::infinity();
    for (const MoveKind kind : {MoveKind::add, MoveKind::remove, MoveKind::reverse}) {
        for (std::size_t p = 0; p < rules.n; ++p) {
            for (std::size_t c = 0; c < rules.n; ++c) {
                if (p == c || has_arc(climb.parents(), p, c) == (kind == MoveKind::add)) continue;
                const bool can = obeys(after(climb.parents(), kind, p, c), rules);
                check(climb.can(kind, p, c) == can, "a move can be made when the rules allow it");
                if (can) highest = std::max(highest, climb.gain(kind, p, c));
            }
        }
    }
    const auto best = climb.best(0.0);
    check(best.has_value() ? best->gain == highest : std::isinf(highest), "the best move");
    // With a tenure, the best of those that do not touch the pair of the last move.
    const auto other = climb.best(0.0, 1, std::numeric_limits<double>::infinity());
    double second = -std::numeric_limits<double>::infinity();
    for (const MoveKind kind : {MoveKind::add, MoveKind::remove, MoveKind::reverse}) {
        for (std::size_t p = 0; p < rules.n; ++p) {
            for (std::size_t c = 0; c < rules.n; ++c) {
                const bool is_last = last && (std::pair(p, c) == *last || std::pair(c, p) == *last);
                if (p == c || is_last || !climb.can(kind, p, c)) continue;
                second = std::max(second, climb.gain(kind, p, c));
            }
        }
    }
    check(other ? other->gain == second : std::isinf(second), "the best move that is not tabu");
}

void walk(unsigned seed, Rules rules, const ParentLists& start) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    bestdag::ClimbRules given;
    given.offsets.push_back(0);
    for (std::size_t c = 0; c < rules.n; ++c) {
        for (std::size_t p = 0; p < rules.n; ++p) {
            if (!rules.allowed[p][c]) continue;
            given.candidates.push_back(static_cast<std::int32_t>(p));
            given.required.push_back(rules.required[p][c]);
        }
        given.offsets.push_back(static_cast<std::int64_t>(given.candidates.size()));
        given.max_parents.push_back(static_cast<std::int32_t>(rules.most));
    }
    given.edges = rules.edges;
    given.ancestors = rules.ancestors;
    given.non_ancestors = rules.non_ancestors;
    Climb climb(given);
    check(climb.reset(start), "the start has no cycle");
    std::uint64_t counter = 0;
    std::vector<ParentLists> seen{start};
    Arc last;
    for (int step = 0; step < 60; ++step) {
        for (const std::size_t child : climb.unscored()) {
            std::vector<double> row(climb.candidates(child).size());
            for (double& value : row) value = normal(random);
            climb.set_row(child, normal(random), row);
        }
        check_moves(climb, rules, last);
        const auto move = climb.propose(1.0, 200, false, {seed, 1}, counter);
        if (!move) continue;
        climb.apply(move->kind, move->parent, move->child);
        last = {move->parent, move->child};
        check(obeys(climb.parents(), rules), "a structure obeys the rules");
        seen.push_back(climb.parents());
        // Back to a structure from before: what is known of rows that stay is still true.
        if (step % 4 == 3) {
            check(climb.reset(seen[random() % seen.size()]), "no cycle");
            last.reset();
        }
    }
    const ParentLists reached = climb.parents();
    check(climb.reset(start) && climb.reset(reached), "back and forth");
    check(climb.parents() == reached, "the same structure");
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const std::size_t n = 6;
        Matrix all(n, std::vector<bool>(n, true)), none(n, std::vector<bool>(n));
        for (std::size_t i = 0; i < n; ++i) all[i][i] = false;
        walk(seed, {n, all, none, n - 1, {}, {}, {}}, ParentLists(n));
        walk(seed, {n, all, none, 1, {}, {}, {}}, ParentLists(n));
        Matrix some = all, must = none;
        some[2][0] = some[3][1] = false;
        must[0][1] = true;
        ParentLists start(n);
        start[1] = {0};
        start[5] = {4};
        start[3] = {2};
        walk(seed, {n, some, must, 3, {{4, 5}}, {{2, 3}}, {{0, 4}}}, start);
    }
    for (unsigned seed = 0; seed < 4; ++seed) {  // so many that a near structure is near
        const std::size_t n = 24;
        Matrix all(n, std::vector<bool>(n, true)), none(n, std::vector<bool>(n));
        for (std::size_t i = 0; i < n; ++i) all[i][i] = false;
        walk(seed, {n, all, none, 3, {}, {}, {}}, ParentLists(n));
        all[5][7] = all[7][5] = false;
        walk(seed, {n, all, none, n - 1, {}, {}, {}}, ParentLists(n));
    }
    const double thirds[] = {1e16, 1.0, 1e-16, -1e16, 0.5, -0.5};
    check(bestdag::exact_sum(thirds) == 1.0, "small terms are not lost");
    const double halfway[] = {0x1p53, 1.0, 0x1p-60};
    check(bestdag::exact_sum(halfway) == 0x1p53 + 2.0, "a little more than half goes up");
    const double even[] = {0x1p53, 1.0};
    check(bestdag::exact_sum(even) == 0x1p53 && bestdag::exact_sum({}) == 0.0, "ties to even");
    Climb empty({{0}, {}, {}, {}, {}, {}, {}});
    check(empty.reset({}) && !empty.best(0.0), "no nodes");
    Climb pair({{0, 1, 2}, {1, 0}, {0, 0}, {1, 1}, {}, {}, {}});
    check(!pair.reset({{1}, {0}}), "a cycle is seen");
    return report();
}
