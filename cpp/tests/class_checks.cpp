// Random walks over equivalence classes, for the sanitizers: moves kept up to date are compared
// with those listed from scratch, the class after a move with the class of a structure after it, members
// with the rules. Exits 0 when all is well.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "search/class_change.hpp"
#include "search/class_members.hpp"
#include "search/class_moves.hpp"
#include "search/class_walk.hpp"
#include "tests/checks.hpp"

namespace {

using bestdag::ClassGraph;
using bestdag::ClassMove;
using bestdag::ClassMoveKind;
using bestdag::ClassRules;
using bestdag::ClassWalk;
using bestdag::Link;
using bestdag::Nodes;
using bestdag::ParentLists;
using bestdag::place;

constexpr auto kKinds = {ClassMoveKind::insert, ClassMoveKind::remove, ClassMoveKind::turn};
constexpr double kUnit = 1e-9;

// Local scores drawn at random, the same for the same family.
class Scores {
public:
    Scores(unsigned seed, double penalty) : random_(seed), penalty_(penalty) {}

    double operator()(std::int32_t child, const Nodes& parents) {
        const auto [at, is_new] = known_.try_emplace({child, parents});
        if (is_new) at->second = normal_(random_) - penalty_ * static_cast<double>(parents.size());
        return at->second;
    }

private:
    std::mt19937 random_;
    std::normal_distribution<double> normal_;
    double penalty_;
    std::map<std::pair<std::int32_t, Nodes>, double> known_;
};

void update(ClassWalk& walk, Scores& scores, std::size_t together) {
    while (const auto wanted = walk.wanted(together)) {
        std::vector<double> answers;
        for (std::size_t i = 0; i < wanted->children.size(); ++i) {
            const Nodes parents(wanted->parents.begin() + wanted->offsets[i],
                                wanted->parents.begin() + wanted->offsets[i + 1]);
            for (std::int64_t k = wanted->candidate_offsets[i];
                 k < wanted->candidate_offsets[i + 1]; ++k) {
                Nodes changed = parents;
                const std::int32_t candidate = wanted->candidates[static_cast<std::size_t>(k)];
                if (candidate != wanted->children[i]) bestdag::insert_node(changed, candidate);
                answers.push_back(scores(wanted->children[i], changed));
            }
        }
        walk.set_scores(answers);
    }
}

ClassRules rules_for(std::size_t n, bool is_free, std::mt19937& random) {
    ClassRules rules;
    rules.max_parents.assign(n, static_cast<std::int32_t>(n));
    if (is_free) return rules;
    rules.allowed.assign(n * n, 1);
    std::uniform_int_distribution<std::size_t> any(1, n * n - 1);
    for (std::size_t k = 0; k < n; ++k) rules.allowed[any(random)] = 0;
    rules.allowed[1] = 1;  // 0 -> 1
    rules.required = {{0, 1}};
    rules.non_ancestors = {{2, 3}};
    rules.max_parents[4] = 2;
    return rules;
}

bool is_same(const std::vector<ClassMove>& one, const std::vector<ClassMove>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const ClassMove& a, const ClassMove& b) {
                          return std::tie(a.x, a.y, a.others, a.gain) ==
                                 std::tie(b.x, b.y, b.others, b.gain);
                      });
}

void check_links(const ClassGraph& graph, const ParentLists& member,
                 const std::vector<ClassMove>& moves) {
    bestdag::ClassChanger changer(member);
    for (const ClassMove& move : moves) {
        const auto after = bestdag::structure_after(graph, move);
        check(after.has_value(), "a valid move leads to a structure");
        if (!after || move.kind == ClassMoveKind::turn) continue;
        ClassGraph changed = graph;
        for (const Link& link : changer.changes(graph, move)) changed.set_link(link);
        check(changed == bestdag::class_of(*after), "the class near a move is the class");
    }
}

void walk(unsigned seed, std::size_t n, double penalty, bool is_free) {
    std::mt19937 random(seed);
    const ClassRules rules = rules_for(n, is_free, random);
    Scores scores(seed, penalty);
    ParentLists start(n);
    if (!is_free) start[1] = {0};
    ClassWalk walk(rules, start, seed % 2 ? 2000 : ClassWalk::kMostBytes);
    for (int round = 0; round < 2; ++round) {
        for (const ClassMoveKind kind : kKinds) {
            walk.begin(kind);
            for (std::size_t step = 0; step < 2 * n; ++step) {
                update(walk, scores, 40);
                const std::vector<ClassMove> moves = walk.moves(kUnit);
                ClassWalk fresh(rules, walk.member());
                check(fresh.graph() == walk.graph(), "a member is in the class");
                fresh.begin(kind);
                update(fresh, scores, 1 << 20);
                check(is_same(moves, fresh.moves(kUnit)), "moves are up to date");
                check_links(walk.graph(), walk.member(), moves);
                check(is_free || rules.obeyed_by(walk.member()), "a member obeys");
                check(bestdag::can_obey(walk.graph(), rules, bestdag::all_nodes(n)), "can obey");
                const auto& best = walk.best(kUnit, {});
                check(best.has_value() == !moves.empty(), "a best move where there are moves");
                if (!best) break;
                check(is_same({*best}, {moves.front()}), "the best move is the first");
                const ParentLists expected = walk.best_member();
                walk.take();
                check(walk.member() == expected, "the member that was announced");
            }
        }
    }
}

void check_paths() {
    // 0 - 1 -> 2 <- 3, and 4 alone.
    ClassGraph graph(5);
    graph.add_edge(0, 1);
    graph.add_arc(1, 2);
    graph.add_arc(3, 2);
    const bestdag::Reach from_0(graph, 0, {});
    check(from_0.has(2) && from_0.uses(0, 1) && from_0.uses(1, 2), "along an edge and an arc");
    check(!from_0.has(4), "no path to a node on its own");
    check(!from_0.has(3) && !bestdag::Reach(graph, 2, {}).has(0), "no path against an arc");
    const bestdag::Reach past_1(graph, 0, {1});
    check(!past_1.has(1) && !past_1.has(2), "a barrier on the path");
}

void check_stop() {
    Scores scores(1, 0.0);
    ClassWalk walk(ClassRules{{}, {}, std::vector<std::int32_t>(12, 12), {}, {}, {}},
                   ParentLists(12));
    walk.begin(ClassMoveKind::insert);
    update(walk, scores, 1 << 20);
    const auto move = walk.best(kUnit, [] { return true; });
    check(!move || walk.has_best(), "an answer or none");
    ClassWalk empty(ClassRules{}, {});
    empty.begin(ClassMoveKind::insert);
    check(!empty.wanted(1) && !empty.best(kUnit, {}), "no nodes");
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 6; ++seed) {
        walk(seed, 6, 0.0, true);
        walk(seed, 12, 0.8, true);
        walk(seed, 6, 0.2, false);
        walk(seed, 10, 0.8, false);
    }
    check_paths();
    check_stop();
    return report();
}
