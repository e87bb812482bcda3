// A Markov chain over connected DAGs within limits, whose limit is uniform.
//
// Ide and Cozman (2002). "Random generation of Bayesian networks." SBIA.
// Ide, Cozman and Ramos (2004). "Generating random Bayesian networks with constraints on induced
// width." ECAI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/philox.hpp"
#include "graphs/width.hpp"

namespace bestdag {

// At most so many neighbours of a node, parents of a node, neighbours in an elimination of the
// moral graph; `kNoLimit` where there is none.
struct GraphLimits {
    static constexpr std::size_t kNoLimit = SIZE_MAX;
    std::size_t degree = kNoLimit, parents = kNoLimit, width = kNoLimit;
};

// Each step draws an ordered pair of nodes (i, j) and one of two kinds of move, and keeps the
// graph where the move leads out of the limits.
//   Arcs: i -> j is removed where it is there and the graph stays connected; added where it closes
//   no cycle.
//   Trees, if the graph is one: j leaves its neighbour on the way to i and is joined to i, the
//   direction drawn.
// A move and the one that undoes it have the same probability, so the limit is uniform over what
// can be reached from a chain of arcs; the tree moves make that everything.
class GraphChain {
public:
    // Requires n >= 1 and limits that the chain 0 -> 1 -> ... obeys.
    GraphChain(std::size_t n, const GraphLimits& limits, PhiloxKey key);

    // Take steps; throws Interrupted, after which the chain stands where it stopped.
    void run(std::uint64_t n_steps, const StopFlag& stop);

    // Parent and child of each arc, one pair after the other.
    std::vector<std::int32_t> arcs() const;

    // Graphs left aside because their width was not decided.
    std::uint64_t n_undecided() const noexcept { return n_undecided_; }

private:
    void step();
    void change_arc(std::size_t i, std::size_t j);
    void move_tree(std::size_t i, std::size_t j, bool is_towards_j);
    void add(std::size_t parent, std::size_t child);
    void remove(std::size_t parent, std::size_t child);
    bool is_within(std::size_t parent, std::size_t child);
    bool is_narrow();
    bool leads_to(std::size_t from, std::size_t to);
    std::size_t last_before(std::size_t from, std::size_t to);
    bool is_connected_without(std::size_t i, std::size_t j);
    std::uint64_t draw();
    std::size_t draw_below(std::size_t bound);

    const std::size_t n_;
    const GraphLimits limits_;
    const PhiloxKey key_;
    std::uint64_t counter_ = 0;
    PhiloxBlock block_{};
    unsigned n_used_ = 4;  // of the block
    BitGraph children_, joined_;
    std::vector<std::size_t> n_parents_, degree_;
    std::size_t n_arcs_ = 0;
    std::uint64_t n_undecided_ = 0;
    std::vector<std::uint64_t> reached_;
    std::vector<std::size_t> waiting_;
};

}  // namespace bestdag
