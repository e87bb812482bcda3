// Trees of greatest weight in dense graphs, in O(n^2).
//
// Weights are n x n, weight[from * n + to]; minus infinity where there is no arc, and the diagonal
// is not read. Trees are written as parents[node], -1 for a root. Equal weights never make a result
// depend on anything but the numbers of the nodes. Sums are exact where the weights are whole
// numbers below 2^51.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.hpp"

namespace bestdag {

// The maximum spanning tree of a symmetric matrix, or of each component, by Prim's algorithm. Of
// edges of the same weight the one with the smaller lower node is better, then that with the
// smaller upper node: the edges found do not depend on the root. They lead away from `root`, and in
// components without it from their smallest node.
void maximum_spanning_tree(std::span<const double> weights, std::size_t root,
                           std::span<std::int32_t> parents, const StopFlag& stop);

// The maximum branching by Edmonds' algorithm. root_weights[node] is what it is worth to have no
// parent, minus infinity where that cannot be.
// spanning: as few roots as possible, and of those the greatest weight, and of those the smallest
// numbers of the roots. Otherwise: the greatest weight, and of those the fewest arcs.
// Returns whether there is any.
bool maximum_branching(std::span<const double> weights, std::span<const double> root_weights,
                       bool spanning, std::span<std::int32_t> parents, const StopFlag& stop);

}  // namespace bestdag
