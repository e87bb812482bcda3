// Ancestral sampling: every row of a network drawn parents first, column by column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/parallel.hpp"
#include "factors/row_finder.hpp"

namespace bestdag {

// Where the codes of one variable go: 8 bits, or 16 where there are more than 255 states.
using CodeColumn = std::variant<std::uint8_t*, std::uint16_t*>;

// One variable of the network. Tables are in 1 / 2^63: the state drawn in parent configuration j
// is the number of k with draw >= thresholds[j * n_thresholds + k], draw uniform in 0 ... 2^63 - 1.
// A threshold of 2^63 is never reached, so states behind it are impossible. With a finder, j is
// what it finds for the parents: thresholds are those of the listed configurations, then one row
// for all others.
struct SampledNode {
    std::array<std::uint64_t, 2> key;           // of this variable's own random stream
    std::span<const std::uint64_t> thresholds;  // ascending within each configuration
    std::size_t n_thresholds;                   // arity - 1
    std::span<const std::uint32_t> parents;     // positions of nodes listed before this one
    std::span<const std::uint64_t> strides;     // one per parent, in configurations; or a finder
    CodeColumn codes;                           // room for all rows
    const RowFinder* finder = nullptr;
};

// Fill the codes of all nodes for rows first ... first + n_rows - 1 of a sample. Row i of a node is
// drawn from number i of Philox4x64-10 (Salmon et al. 2011) with the node's key and the counter
// starting at 1, so a row depends neither on n_rows nor on threads. Requires: first a multiple of
// 4, the draws of one counter; parents before children; every parent code below its arity, so that
// all offsets lie inside the child's thresholds.
// Throws Interrupted; the columns then hold anything.
void sample_network(std::span<const SampledNode> nodes, std::size_t n_rows,
                    const Execution& execution, std::uint64_t first = 0);

}  // namespace bestdag
