#include "search/class_moves.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace bestdag {

namespace {

using Arcs = std::vector<ClassGraph::Arc>;

// Whether a directed path of two arcs or more leads from a to b.
bool has_detour(const ParentLists& dag, std::int32_t a, std::int32_t b) {
    std::vector<bool> is_seen(dag.size());
    Nodes stack = without(dag[place(b)], a);
    while (!stack.empty()) {
        const std::int32_t node = stack.back();
        stack.pop_back();
        if (node == a) return true;
        if (is_seen[place(node)]) continue;
        is_seen[place(node)] = true;
        const Nodes& above = dag[place(node)];
        stack.insert(stack.end(), above.begin(), above.end());
    }
    return false;
}

// Arcs from a node to its neighbours.
Arcs outward(const ClassGraph& graph, std::int32_t node) {
    Arcs arcs;
    for (const std::int32_t other : graph.neighbours[place(node)]) arcs.emplace_back(node, other);
    return arcs;
}

std::optional<ParentLists> turned(const ClassGraph& graph, const ClassMove& move) {
    const auto& [kind, x, y, others, gain] = move;
    ClassGraph work = graph;
    Arcs inward;
    for (const std::int32_t other : others) inward.emplace_back(other, y);
    work.direct_all(std::move(inward));
    work.direct_all(outward(work, y));
    work.direct_all(outward(work, x));
    std::optional<ParentLists> member = extension(work);
    if (!member) return std::nullopt;
    Nodes &of_x = (*member)[place(x)], &of_y = (*member)[place(y)];
    Nodes expected = parents_before_turn(graph, x, y, others);
    insert_node(expected, y);
    if (of_y != united(graph.parents[place(y)], others) || of_x != expected ||
        has_detour(*member, y, x) || !(class_of(*member) == graph)) {
        return std::nullopt;
    }
    erase_node(of_x, y);
    insert_node(of_y, x);
    return member;
}

}  // namespace

Nodes shared_neighbours(const ClassGraph& graph, std::int32_t x, std::int32_t y) {
    Nodes shared;
    const Nodes& near = graph.neighbours[place(y)];
    std::copy_if(near.begin(), near.end(), std::back_inserter(shared),
                 [&](std::int32_t v) { return graph.is_adjacent(x, v); });
    return shared;
}

Nodes parents_before_turn(const ClassGraph& graph, std::int32_t x, std::int32_t y,
                          const Nodes& others) {
    Nodes found = without(graph.parents[place(x)], y);
    if (graph.has_edge(x, y)) {
        for (const std::int32_t v : others) {
            if (graph.has_edge(v, x)) insert_node(found, v);
        }
    }
    return found;
}

std::optional<ParentLists> structure_after(const ClassGraph& graph, const ClassMove& move) {
    const auto& [kind, x, y, others, gain] = move;
    if (kind == ClassMoveKind::turn) return turned(graph, move);
    ClassGraph work = graph;
    if (kind == ClassMoveKind::insert) {
        work.add_arc(x, y);
        for (const std::int32_t v : others) work.direct(v, y);
    } else {
        work.part(x, y);
        for (const std::int32_t v : others) {
            work.direct(y, v);
            work.direct(x, v);
        }
    }
    std::optional<ParentLists> found = extension(work);
    if (!found) throw std::logic_error("a valid move leads to no class");
    return found;
}

bool Cliques::next(const ClassGraph& graph, Nodes& found) {
    if (stack_.empty()) return false;
    Branch branch = std::move(stack_.back());
    stack_.pop_back();
    if (branch.chosen.size() < most_) {
        for (std::size_t i = 0; i < branch.left.size(); ++i) {
            const std::int32_t v = branch.left[i];
            Branch larger{branch.chosen, {}};
            larger.chosen.push_back(v);
            std::copy_if(branch.left.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         branch.left.end(), std::back_inserter(larger.left),
                         [&](std::int32_t w) { return graph.is_adjacent(v, w); });
            stack_.push_back(std::move(larger));
        }
    }
    found = std::move(branch.chosen);
    return true;
}

Reach::Reach(const ClassGraph& graph, std::int32_t from, const Nodes& barrier)
    : came_from_(graph.n_nodes(), -1) {
    constexpr std::int32_t kBarrier = -2;
    for (const std::int32_t v : barrier) came_from_[place(v)] = kBarrier;
    came_from_[place(from)] = from;
    std::vector<std::int32_t> queue{from};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::int32_t v = queue[i];
        for (const Nodes* group : {&graph.children[place(v)], &graph.neighbours[place(v)]}) {
            for (const std::int32_t w : *group) {
                if (came_from_[place(w)] != -1) continue;
                came_from_[place(w)] = v;
                queue.push_back(w);
            }
        }
    }
}

}  // namespace bestdag
