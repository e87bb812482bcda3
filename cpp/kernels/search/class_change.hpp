// The class that an insertion or a removal leads to, from what changes near it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "search/class_graph.hpp"
#include "search/class_moves.hpp"

namespace bestdag {

// Keeps a member of the class. A move adds or drops one arc of a member in which the neighbours of
// y are parents or children as the move says. Whether an arc into a node is compelled depends on
// its parents, theirs, and which of the arcs into those are compelled (Chickering 1995, procedure
// Label-Edges): so labels are worked out again from y downwards, as far as they change.
class ClassChanger {
public:
    explicit ClassChanger(ParentLists member);

    // The links that a valid insertion or removal changes, as they are after it.
    std::vector<Link> changes(const ClassGraph& graph, const ClassMove& move);
    // The same; the class it leads to is the one that `changes` is asked about from now on.
    std::vector<Link> follow(const ClassGraph& graph, const ClassMove& move);
    // Go on from another class.
    void reset(ParentLists member) { parents_ = std::move(member); }

private:
    void turn_towards(const ClassGraph& graph, const Nodes& first);
    std::vector<Link> relabel(const ClassGraph& graph, const ClassMove& move);
    const Nodes& compelled(const ClassGraph& graph, std::int32_t node) const;
    Nodes label(const ClassGraph& graph, std::int32_t node) const;
    void edit(const ClassMove& move, bool is_undone);

    ParentLists parents_;                                // of a member
    std::unordered_map<std::int32_t, Nodes> compelled_;  // parents, where they are new
    // Scratch of one piece of the undirected part: its nodes, and how many of their neighbours have
    // a place in the order already; -1 for those that have one themselves.
    Nodes piece_;
    std::vector<std::int32_t> n_before_;
};

}  // namespace bestdag
