#include "search/class_graph.hpp"

#include <algorithm>
#include <iterator>
#include <queue>

namespace bestdag {

bool contains(const Nodes& group, std::int32_t node) noexcept {
    return std::binary_search(group.begin(), group.end(), node);
}

bool is_subset(const Nodes& part, const Nodes& whole) noexcept {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

void insert_node(Nodes& group, std::int32_t node) {
    const auto at = std::lower_bound(group.begin(), group.end(), node);
    if (at == group.end() || *at != node) group.insert(at, node);
}

void erase_node(Nodes& group, std::int32_t node) {
    const auto at = std::lower_bound(group.begin(), group.end(), node);
    if (at != group.end() && *at == node) group.erase(at);
}

Nodes united(const Nodes& one, const Nodes& other) {
    Nodes all;
    all.reserve(one.size() + other.size());
    std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(all));
    return all;
}

Nodes all_nodes(std::size_t n) {
    Nodes nodes(n);
    for (std::size_t v = 0; v < n; ++v) nodes[v] = static_cast<std::int32_t>(v);
    return nodes;
}

Nodes without(const Nodes& group, std::int32_t node) {
    Nodes left = group;
    erase_node(left, node);
    return left;
}

ClassGraph::ClassGraph(const ParentLists& dag) : ClassGraph(dag.size()) {
    parents = dag;
    for (std::size_t child = 0; child < dag.size(); ++child) {
        for (const std::int32_t parent : dag[child]) {
            children[place(parent)].push_back(static_cast<std::int32_t>(child));
        }
    }
}

Nodes ClassGraph::adjacent(std::int32_t node) const {
    const std::size_t at = place(node);
    return united(united(parents[at], children[at]), neighbours[at]);
}

void ClassGraph::add_arc(std::int32_t a, std::int32_t b) {
    insert_node(children[place(a)], b);
    insert_node(parents[place(b)], a);
}

void ClassGraph::add_edge(std::int32_t a, std::int32_t b) {
    insert_node(neighbours[place(a)], b);
    insert_node(neighbours[place(b)], a);
}

void ClassGraph::part(std::int32_t a, std::int32_t b) {
    for (const auto& [one, other] : {Arc{a, b}, Arc{b, a}}) {
        erase_node(parents[place(one)], other);
        erase_node(children[place(one)], other);
        erase_node(neighbours[place(one)], other);
    }
}

Link ClassGraph::link(std::int32_t a, std::int32_t b) const noexcept {
    if (has_edge(a, b)) return {a, b, LinkKind::edge};
    if (has_arc(a, b)) return {a, b, LinkKind::arc};
    if (has_arc(b, a)) return {b, a, LinkKind::arc};
    return {a, b, LinkKind::none};
}

void ClassGraph::set_link(const Link& link) {
    part(link.a, link.b);
    if (link.kind == LinkKind::arc) add_arc(link.a, link.b);
    if (link.kind == LinkKind::edge) add_edge(link.a, link.b);
}

bool ClassGraph::direct(std::int32_t a, std::int32_t b) {
    if (!has_edge(a, b)) return false;
    erase_node(neighbours[place(a)], b);
    erase_node(neighbours[place(b)], a);
    add_arc(a, b);
    return true;
}

namespace {

// What follows from a -> b together with the rest of the graph. Edges never appear, so the last arc
// of a premise to be looked at finds the case. Where an edge of the premise of rule 3 or 4 has been
// directed before that, rules 1 and 2 give the same arc.
void list_consequences(const ClassGraph& graph, std::int32_t a, std::int32_t b,
                       std::vector<ClassGraph::Arc>& found) {
    const auto& parents = graph.parents;
    const auto& children = graph.children;
    const auto& neighbours = graph.neighbours;
    // Rule 1: a -> b - c, a and c not adjacent: b -> c, else there is a new v-structure.
    for (const std::int32_t c : neighbours[place(b)]) {
        if (c != a && !graph.is_adjacent(a, c)) found.emplace_back(b, c);
    }
    // Rule 2: x -> y -> z and x - z: x -> z, else there is a cycle.
    for (const std::int32_t z : children[place(b)]) {
        if (graph.has_edge(a, z)) found.emplace_back(a, z);
    }
    for (const std::int32_t x : parents[place(a)]) {
        if (graph.has_edge(x, b)) found.emplace_back(x, b);
    }
    // Rule 3: x - a -> b, x - c -> b, x - b, a and c not adjacent: x -> b.
    for (const std::int32_t x : neighbours[place(a)]) {
        if (!graph.has_edge(x, b)) continue;
        const Nodes& others = parents[place(b)];
        if (std::any_of(others.begin(), others.end(), [&](std::int32_t c) {
                return c != a && graph.has_edge(x, c) && !graph.is_adjacent(a, c);
            })) {
            found.emplace_back(x, b);
        }
    }
    // Rule 4: c -> d -> y, x - c, x - y, x and d adjacent, c and y not: x -> y.
    for (const std::int32_t y : children[place(b)]) {  // a -> b is c -> d
        if (graph.is_adjacent(a, y)) continue;
        for (const std::int32_t x : neighbours[place(a)]) {
            if (graph.has_edge(x, y) && graph.is_adjacent(x, b)) found.emplace_back(x, y);
        }
    }
    for (const std::int32_t c : parents[place(a)]) {  // a -> b is d -> y
        if (graph.is_adjacent(c, b)) continue;
        for (const std::int32_t x : neighbours[place(c)]) {
            if (graph.has_edge(x, b) && graph.is_adjacent(x, a)) found.emplace_back(x, b);
        }
    }
}

}  // namespace

void ClassGraph::direct_all(std::vector<Arc> arcs) {
    for (const auto& [a, b] : arcs) direct(a, b);
    std::vector<Arc> found;
    while (!arcs.empty()) {
        const auto [a, b] = arcs.back();
        arcs.pop_back();
        found.clear();
        list_consequences(*this, a, b, found);
        for (const Arc& arc : found) {
            if (direct(arc.first, arc.second)) arcs.push_back(arc);
        }
    }
}

std::optional<ParentLists> extension(const ClassGraph& graph) {
    const std::size_t n = graph.n_nodes();
    std::vector<bool> is_gone(n), is_queued(n, true);
    std::vector<std::size_t> n_children(n);
    std::vector<Nodes> adjacent(n);
    std::priority_queue<std::int32_t> queue;
    for (std::size_t v = 0; v < n; ++v) {
        n_children[v] = graph.children[v].size();
        adjacent[v] = graph.adjacent(static_cast<std::int32_t>(v));
        queue.push(static_cast<std::int32_t>(v));
    }
    const auto is_sink = [&](std::size_t v) {
        if (n_children[v] > 0) return false;
        for (const std::int32_t y : graph.neighbours[v]) {
            if (is_gone[place(y)]) continue;
            for (const std::int32_t z : adjacent[v]) {
                if (z != y && !is_gone[place(z)] && !contains(adjacent[place(y)], z)) return false;
            }
        }
        return true;
    };
    ParentLists found(n);
    std::size_t n_found = 0;
    // Only the removal of an adjacent node can make a node a sink: it is looked at again then.
    while (!queue.empty()) {
        const std::size_t v = place(queue.top());
        queue.pop();
        is_queued[v] = false;
        if (!is_sink(v)) continue;
        is_gone[v] = true;
        ++n_found;
        for (const std::int32_t y : adjacent[v]) {
            if (is_gone[place(y)]) continue;
            found[v].push_back(y);
            if (contains(graph.children[place(y)], static_cast<std::int32_t>(v))) {
                --n_children[place(y)];
            }
            if (is_queued[place(y)]) continue;
            is_queued[place(y)] = true;
            queue.push(y);
        }
    }
    if (n_found < n) return std::nullopt;
    return found;
}

ClassGraph class_of(const ParentLists& parents) {
    const std::size_t n = parents.size();
    const ClassGraph dag(parents);
    std::vector<std::size_t> waiting(n), rank(n);
    Nodes order;
    for (std::size_t v = 0; v < n; ++v) {
        waiting[v] = parents[v].size();
        if (waiting[v] == 0) order.push_back(static_cast<std::int32_t>(v));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        rank[place(order[i])] = i;
        for (const std::int32_t child : dag.children[place(order[i])]) {
            if (--waiting[place(child)] == 0) order.push_back(child);
        }
    }
    std::vector<Nodes> compelled(n);  // parents
    ClassGraph graph(n);
    for (const std::int32_t y : order) {
        const Nodes& family = parents[place(y)];
        if (family.empty()) continue;
        const std::int32_t x = *std::max_element(
            family.begin(), family.end(),
            [&](std::int32_t a, std::int32_t b) { return rank[place(a)] < rank[place(b)]; });
        const bool are_all =  // w -> x is compelled and w no parent of y, or z -> y and not z -> x
            !is_subset(compelled[place(x)], family) ||
            !is_subset(without(family, x), parents[place(x)]);
        compelled[place(y)] = are_all ? family : compelled[place(x)];
        for (const std::int32_t p : family) {
            if (contains(compelled[place(y)], p)) {
                graph.add_arc(p, y);
            } else {
                graph.add_edge(p, y);
            }
        }
    }
    return graph;
}

std::vector<Link> changed_links(const ClassGraph& before, const ClassGraph& after) {
    std::vector<Link> changed;
    for (std::size_t v = 0; v < before.n_nodes(); ++v) {
        if (before.parents[v] == after.parents[v] && before.children[v] == after.children[v] &&
            before.neighbours[v] == after.neighbours[v]) {
            continue;
        }
        const auto a = static_cast<std::int32_t>(v);
        for (const std::int32_t b : united(before.adjacent(a), after.adjacent(a))) {
            const Link one = before.link(a, b), other = after.link(a, b);
            if (a < b && (one.kind != other.kind || one.a != other.a)) changed.push_back(other);
        }
    }
    return changed;
}

}  // namespace bestdag
