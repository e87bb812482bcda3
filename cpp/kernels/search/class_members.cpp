#include "search/class_members.hpp"

#include <algorithm>

namespace bestdag {

namespace {

using Arcs = std::vector<ClassGraph::Arc>;

// Whether a directed path leads from a to b.
bool reaches(const ClassGraph& dag, std::int32_t a, std::int32_t b) {
    std::vector<bool> is_seen(dag.n_nodes());
    Nodes stack{a};
    while (!stack.empty()) {
        const std::size_t v = place(stack.back());
        stack.pop_back();
        for (const std::int32_t child : dag.children[v]) {
            if (child == b) return true;
            if (is_seen[place(child)]) continue;
            is_seen[place(child)] = true;
            stack.push_back(child);
        }
    }
    return false;
}

// The nodes that edges join to one of these, directly or not, each group ascending; single nodes
// are left out.
std::vector<Nodes> undirected_pieces(const ClassGraph& graph, const Nodes& starts) {
    std::vector<Nodes> pieces;
    std::vector<bool> is_seen(graph.n_nodes());
    for (const std::int32_t start : starts) {
        if (is_seen[place(start)] || graph.neighbours[place(start)].empty()) continue;
        Nodes piece{start};
        is_seen[place(start)] = true;
        for (std::size_t i = 0; i < piece.size(); ++i) {
            for (const std::int32_t v : graph.neighbours[place(piece[i])]) {
                if (is_seen[place(v)]) continue;
                is_seen[place(v)] = true;
                piece.push_back(v);
            }
        }
        std::sort(piece.begin(), piece.end());
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

// The edges of one piece; nodes are places in it.
ClassGraph graph_of(const ClassGraph& graph, const Nodes& piece) {
    ClassGraph found(piece.size());
    for (std::size_t i = 0; i < piece.size(); ++i) {
        for (const std::int32_t w : graph.neighbours[place(piece[i])]) {
            const auto at = std::lower_bound(piece.begin(), piece.end(), w) - piece.begin();
            found.neighbours[i].push_back(static_cast<std::int32_t>(at));
        }
    }
    return found;
}

// All ways to direct one piece without v-structures and cycles; none when there are more than
// `most`. An edge is directed both ways in turn, each time followed by Meek's rules, which leave no
// dead ends.
std::vector<Arcs> orientations(const ClassGraph& graph, const Nodes& piece, std::size_t most) {
    std::vector<Arcs> found;
    std::vector<ClassGraph> stack{graph_of(graph, piece)};
    while (!stack.empty()) {
        ClassGraph work = std::move(stack.back());
        stack.pop_back();
        std::size_t v = 0;
        while (v < piece.size() && work.neighbours[v].empty()) ++v;
        if (v < piece.size()) {
            const auto a = static_cast<std::int32_t>(v);
            const std::int32_t b = work.neighbours[v].front();
            stack.push_back(work);
            stack.back().direct_all({{b, a}});
            work.direct_all({{a, b}});
            stack.push_back(std::move(work));
            continue;
        }
        if (found.size() == most) return {};
        Arcs arcs;
        for (std::size_t child = 0; child < piece.size(); ++child) {
            for (const std::int32_t p : work.parents[child]) {
                arcs.emplace_back(piece[place(p)], piece[child]);
            }
        }
        found.push_back(std::move(arcs));
    }
    return found;
}

// Arcs in order, as lists of children.
bool comes_before(const ParentLists& one, const ParentLists& other) {
    const ClassGraph left(one), right(other);
    for (std::size_t v = 0; v < one.size(); ++v) {
        const Nodes &a = left.children[v], &b = right.children[v];
        if (a == b) continue;
        // The first arcs that differ decide; a list that ends goes on with the next node's arcs.
        const auto [p, q] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
        if (p == a.end()) return false;
        return q == b.end() || *p < *q;
    }
    return false;
}

// The first member by its arcs that obeys, where there are at most `most`.
std::optional<ParentLists> first_member(const ClassGraph& graph, const ClassRules& rules,
                                        std::size_t most) {
    std::vector<std::vector<Arcs>> ways;
    std::size_t n_members = 1;
    for (const Nodes& piece : undirected_pieces(graph, all_nodes(graph.n_nodes()))) {
        ways.push_back(orientations(graph, piece, most / n_members));
        if (ways.back().empty()) return std::nullopt;
        n_members *= ways.back().size();
    }
    std::optional<ParentLists> first;
    for (std::size_t number = 0; number < n_members; ++number) {
        ParentLists member = graph.parents;
        std::size_t left = number;
        for (const std::vector<Arcs>& choices : ways) {
            for (const auto& [parent, child] : choices[left % choices.size()]) {
                insert_node(member[place(child)], parent);
            }
            left /= choices.size();
        }
        if (rules.obeyed_by(member) && (!first || comes_before(member, *first))) {
            first = std::move(member);
        }
    }
    return first;
}

}  // namespace

bool ClassRules::forbids(const Link& link) const noexcept {
    const auto& [a, b, kind] = link;
    if (kind == LinkKind::arc) return !allows(a, b);
    if (kind == LinkKind::edge) return !allows_pair(a, b);
    const auto names = [&](const auto& pair) {
        return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
    };
    return std::any_of(required.begin(), required.end(), names) ||
           std::any_of(edges.begin(), edges.end(), names);
}

bool ClassRules::obeyed_by(const ParentLists& dag) const {
    const std::size_t n = dag.size();
    for (std::size_t c = 0; c < n; ++c) {
        if (dag[c].size() > static_cast<std::size_t>(max_parents[c])) return false;
        const auto child = static_cast<std::int32_t>(c);
        for (const std::int32_t parent : dag[c]) {
            if (!allows(parent, child)) return false;
        }
    }
    for (const auto& [parent, child] : required) {
        if (!contains(dag[place(child)], parent)) return false;
    }
    for (const auto& [a, b] : edges) {
        if (!contains(dag[place(a)], b) && !contains(dag[place(b)], a)) return false;
    }
    if (ancestors.empty() && non_ancestors.empty()) return true;
    const ClassGraph graph(dag);
    return std::all_of(ancestors.begin(), ancestors.end(),
                       [&](const auto& pair) { return reaches(graph, pair.first, pair.second); }) &&
           std::none_of(non_ancestors.begin(), non_ancestors.end(),
                        [&](const auto& pair) { return reaches(graph, pair.first, pair.second); });
}

bool can_obey(const ClassGraph& graph, const ClassRules& rules, const Nodes& nodes) {
    for (const Nodes& piece : undirected_pieces(graph, nodes)) {
        const ClassGraph edges = graph_of(graph, piece);
        Arcs arcs;
        for (std::size_t i = 0; i < piece.size(); ++i) {
            for (const std::int32_t j : edges.neighbours[i]) {
                if (rules.allows(piece[place(j)], piece[i])) continue;
                arcs.emplace_back(static_cast<std::int32_t>(i), j);
            }
        }
        if (arcs.empty()) continue;
        ClassGraph directed = edges;
        directed.direct_all(std::move(arcs));
        const std::optional<ParentLists> member = extension(directed);
        if (!member || !(class_of(*member) == edges)) return false;
    }
    return true;
}

std::optional<ParentLists> obeying_member(const ClassGraph& graph, const ClassRules& rules,
                                          std::size_t most) {
    Arcs arcs = rules.required;
    for (std::size_t v = 0; v < graph.n_nodes(); ++v) {
        const auto a = static_cast<std::int32_t>(v);
        for (const std::int32_t b : graph.neighbours[v]) {
            if (!rules.allows(b, a)) arcs.emplace_back(a, b);
        }
    }
    ClassGraph directed = graph;
    directed.direct_all(std::move(arcs));
    std::optional<ParentLists> member = extension(directed);
    if (!member || !(class_of(*member) == graph)) return std::nullopt;
    if (rules.obeyed_by(*member)) return member;
    return first_member(graph, rules, most);  // a limit or a statement about paths
}

}  // namespace bestdag
