// Graphs with arcs and edges: the CPDAGs of equivalence classes and what lies between two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "search/ancestry.hpp"

namespace bestdag {

using Nodes = std::vector<std::int32_t>;  // ascending

inline std::size_t place(std::int32_t node) noexcept { return static_cast<std::size_t>(node); }
bool contains(const Nodes& group, std::int32_t node) noexcept;
bool is_subset(const Nodes& part, const Nodes& whole) noexcept;
void insert_node(Nodes& group, std::int32_t node);  // stays as it is where the node is there
void erase_node(Nodes& group, std::int32_t node);
Nodes united(const Nodes& one, const Nodes& other);
Nodes all_nodes(std::size_t n);
Nodes without(const Nodes& group, std::int32_t node);

// How two nodes are joined.
enum class LinkKind : std::uint8_t { none, arc, edge };

struct Link {
    std::int32_t a, b;  // an arc runs from a to b
    LinkKind kind;
};

struct ClassGraph {
    using Arc = std::pair<std::int32_t, std::int32_t>;

    std::vector<Nodes> parents, children, neighbours;

    ClassGraph() = default;
    explicit ClassGraph(std::size_t n) : parents(n), children(n), neighbours(n) {}
    explicit ClassGraph(const ParentLists& dag);

    std::size_t n_nodes() const noexcept { return parents.size(); }
    bool has_arc(std::int32_t a, std::int32_t b) const noexcept {
        return contains(parents[place(b)], a);
    }
    bool has_edge(std::int32_t a, std::int32_t b) const noexcept {
        return contains(neighbours[place(b)], a);
    }
    bool is_adjacent(std::int32_t a, std::int32_t b) const noexcept {
        return has_edge(a, b) || has_arc(a, b) || has_arc(b, a);
    }
    Nodes adjacent(std::int32_t node) const;

    // Nothing may join the two yet.
    void add_arc(std::int32_t a, std::int32_t b);
    void add_edge(std::int32_t a, std::int32_t b);
    void part(std::int32_t a, std::int32_t b);
    Link link(std::int32_t a, std::int32_t b) const noexcept;
    void set_link(const Link& link);
    // The edge becomes an arc; false when there is no such edge.
    bool direct(std::int32_t a, std::int32_t b);

    // Direct edges along these arcs, and all others that follow by Meek's four rules (1995,
    // section 2.1.2). Arcs already there are looked at again for what follows from them. Where
    // the rules contradict each other, the graph has no extension of its own v-structures.
    void direct_all(std::vector<Arc> arcs);

    bool operator==(const ClassGraph& other) const noexcept {
        return parents == other.parents && neighbours == other.neighbours;
    }
};

// The parents in a directed graph with the same skeleton, arcs and v-structures, if there is one
// (Dor and Tarsi 1992). Sinks are taken away one by one, among several the last, so that arcs tend
// to follow the numbers.
std::optional<ParentLists> extension(const ClassGraph& graph);

// The CPDAG of a directed graph without cycles (Chickering 1995, procedures Order-Edges and
// Label-Edges).
ClassGraph class_of(const ParentLists& parents);

// The links of `after` that are others in `before`.
std::vector<Link> changed_links(const ClassGraph& before, const ClassGraph& after);

}  // namespace bestdag
