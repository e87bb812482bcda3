#include "search/class_change.hpp"

#include <deque>
#include <queue>
#include <utility>

namespace bestdag {

namespace {

constexpr std::int32_t kOutside = -2, kPlaced = -1;

// The neighbours of y that are its parents in the member that a move changes, x among them where
// x - y goes, and y at the end: a clique.
Nodes first_nodes(const ClassGraph& graph, const ClassMove& move) {
    const auto& [kind, x, y, others, gain] = move;
    Nodes first = shared_neighbours(graph, x, y);
    if (kind == ClassMoveKind::insert) {
        first = united(first, others);
    } else {
        for (const std::int32_t v : others) erase_node(first, v);
        if (graph.has_edge(x, y)) first.push_back(x);
    }
    first.push_back(y);
    return first;
}

}  // namespace

ClassChanger::ClassChanger(ParentLists member)
    : parents_(std::move(member)), n_before_(parents_.size(), kOutside) {}

std::vector<Link> ClassChanger::changes(const ClassGraph& graph, const ClassMove& move) {
    std::vector<Link> links = follow(graph, move);
    edit(move, true);
    return links;
}

std::vector<Link> ClassChanger::follow(const ClassGraph& graph, const ClassMove& move) {
    turn_towards(graph, first_nodes(graph, move));
    edit(move, false);
    return relabel(graph, move);
}

void ClassChanger::edit(const ClassMove& move, bool is_undone) {
    Nodes& parents = parents_[place(move.y)];
    if ((move.kind == ClassMoveKind::insert) != is_undone) {
        insert_node(parents, move.x);
    } else {
        erase_node(parents, move.x);
    }
}

// Direct the edges of one piece in the order of a maximum cardinality search that begins with these
// nodes, a clique: without v-structures, because the piece is chordal (Tarjan and Yannakakis 1984).
void ClassChanger::turn_towards(const ClassGraph& graph, const Nodes& first) {
    const auto& neighbours = graph.neighbours;
    piece_.assign(1, first.back());
    n_before_[place(first.back())] = 0;
    for (std::size_t i = 0; i < piece_.size(); ++i) {
        for (const std::int32_t w : neighbours[place(piece_[i])]) {
            if (n_before_[place(w)] != kOutside) continue;
            n_before_[place(w)] = 0;
            piece_.push_back(w);
        }
    }
    std::priority_queue<std::pair<std::int32_t, std::int32_t>> queue;
    const auto take = [&](std::int32_t v) {
        Nodes& parents = parents_[place(v)];
        parents = graph.parents[place(v)];
        n_before_[place(v)] = kPlaced;
        for (const std::int32_t w : neighbours[place(v)]) {
            if (n_before_[place(w)] == kPlaced) {
                insert_node(parents, w);
            } else {
                queue.emplace(++n_before_[place(w)], w);
            }
        }
    };
    for (const std::int32_t v : first) take(v);
    while (!queue.empty()) {
        const auto [n_before, v] = queue.top();
        queue.pop();
        if (n_before_[place(v)] == n_before) take(v);
    }
    for (const std::int32_t v : piece_) n_before_[place(v)] = kOutside;
}

const Nodes& ClassChanger::compelled(const ClassGraph& graph, std::int32_t node) const {
    const auto found = compelled_.find(node);
    return found == compelled_.end() ? graph.parents[place(node)] : found->second;
}

// The compelled parents of a node, given those of its parents.
Nodes ClassChanger::label(const ClassGraph& graph, std::int32_t node) const {
    const Nodes& family = parents_[place(node)];
    for (const std::int32_t x : family) {
        const Nodes& above = parents_[place(x)];
        if (above.size() + 1 < family.size() || !is_subset(without(family, x), above)) continue;
        // x is the last of the parents. Where no compelled w -> x comes from outside, w -> node is
        // compelled for each of these w, and the others are reversible.
        const Nodes& of_x = compelled(graph, x);
        return is_subset(of_x, family) ? of_x : family;
    }
    return family;
}

std::vector<Link> ClassChanger::relabel(const ClassGraph& graph, const ClassMove& move) {
    compelled_.clear();
    std::deque<std::int32_t> queue{move.y};
    const auto see_children = [&](std::int32_t v) {
        for (const Nodes* group : {&graph.children[place(v)], &graph.neighbours[place(v)]}) {
            for (const std::int32_t child : *group) {
                if (contains(parents_[place(child)], v)) queue.push_back(child);
            }
        }
    };
    see_children(move.y);
    while (!queue.empty()) {
        const std::int32_t v = queue.front();
        queue.pop_front();
        Nodes found = label(graph, v);
        if (found == compelled(graph, v)) continue;
        compelled_[v] = std::move(found);
        see_children(v);
    }
    std::vector<Link> links;
    if (move.kind == ClassMoveKind::remove) links.push_back({move.x, move.y, LinkKind::none});
    compelled_.try_emplace(move.y, graph.parents[place(move.y)]);  // it may have an edge more
    for (const auto& [v, arcs] : compelled_) {
        for (const std::int32_t p : parents_[place(v)]) {
            const LinkKind kind = contains(arcs, p) ? LinkKind::arc : LinkKind::edge;
            if (graph.link(p, v).kind != kind) links.push_back({p, v, kind});
        }
    }
    return links;
}

}  // namespace bestdag
