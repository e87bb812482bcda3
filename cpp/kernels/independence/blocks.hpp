// Blocks (biconnected components) of an undirected graph: two nodes joined by a link lie on a path
// with a third one between them exactly when all three are in the block of that link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

// The number of the block of every link: one per entry of neighbours[i], in its order. Neighbours
// are ascending and mutual.
std::vector<std::vector<std::int32_t>> blocks_of_links(
    const std::vector<std::vector<std::int32_t>>& neighbours);

}  // namespace bestdag
