// Chickering's operators: moves from one equivalence class to another. Each is named by two nodes
// x, y and a set of neighbours of y.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "search/class_graph.hpp"

namespace bestdag {

// insert: join x and y, which are not adjacent, and direct the neighbours `others` of y into y
// (Chickering 2002, definition 12, theorems 15 and 17).
//
// remove: part x and y, joined by x - y or x -> y, and direct edges to `others` away from both
// (definition 13, theorems 16 and 18).
//
// turn: reverse y -> x in a member of the class where y has the parents `others` beside its own
// (Hauser and Buehlmann 2012, section 4.3). In such a member x has no neighbour as a parent unless
// it is a parent of y as well: y -> x - z needs y -> z, and then z -> x would close a cycle with
// x -> y. So `others` says all. Where y - x is an edge and all `others` are adjacent to x, the arc
// is covered and its reversal stays in the class: that is no move.
enum class ClassMoveKind : std::uint8_t { insert, remove, turn };

struct ClassMove {
    ClassMoveKind kind;
    std::int32_t x, y;
    Nodes others;
    double gain;
};

// The neighbours of y that are adjacent to x: Chickering's NA(y, x).
Nodes shared_neighbours(const ClassGraph& graph, std::int32_t x, std::int32_t y);

// Of a turn, the parents of x beside y in the member that is changed.
Nodes parents_before_turn(const ClassGraph& graph, std::int32_t x, std::int32_t y,
                          const Nodes& others);

// A structure of the class that the move leads to. None for a turn where there is no such member,
// or its reversal closes a cycle; insertions and removals must be valid.
std::optional<ParentLists> structure_after(const ClassGraph& graph, const ClassMove& move);

// All subsets of some nodes that are cliques, the empty one first.
class Cliques {
public:
    Cliques() = default;
    // With at most so many nodes.
    Cliques(Nodes nodes, std::size_t most) : most_(most) {
        stack_.push_back({{}, std::move(nodes)});
    }
    // The next one; false when there are no more.
    bool next(const ClassGraph& graph, Nodes& found);

private:
    struct Branch {
        Nodes chosen, left;
    };
    std::size_t most_ = 0;
    std::vector<Branch> stack_;
};

// Where paths along arcs and edges lead from a node past the nodes of a barrier.
class Reach {
public:
    Reach() = default;
    Reach(const ClassGraph& graph, std::int32_t from, const Nodes& barrier);

    bool has(std::int32_t node) const noexcept { return came_from_[place(node)] >= 0; }
    // Whether the path that was found to b, and those beyond it, come from a.
    bool uses(std::int32_t a, std::int32_t b) const noexcept { return came_from_[place(b)] == a; }
    bool is_known() const noexcept { return !came_from_.empty(); }

private:
    std::vector<std::int32_t> came_from_;  // -1 where no path leads; the start has itself
};

}  // namespace bestdag
