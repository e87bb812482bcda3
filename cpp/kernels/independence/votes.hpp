// Rule 1 of the PC algorithm by votes: how many of the sets that separate two nodes have a common
// neighbour of theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "independence/test.hpp"
#include "independence/test_log.hpp"

namespace bestdag {

struct Votes {
    // One entry per unjoined pair (one < other) and common neighbour.
    std::vector<std::int32_t> ones, middles, others;
    std::vector<std::int64_t> separating;   // sets that separate the pair
    std::vector<std::int64_t> with_middle;  // those of them that have the neighbour
    std::int64_t n_tests = 0;
};

// For every two nodes that are not joined and have a common neighbour, ask about every set of
// neighbours of either of at most max_size members. adjacency and may_be_parent ([parent, child])
// are n by n; only who may be a parent of a node is in its sets. The tests go to the log.
Votes count_votes(const IndependenceTest& test, std::span<const std::uint8_t> adjacency,
                  std::span<const std::uint8_t> may_be_parent, std::size_t max_size, TestLog& log,
                  const Execution& execution);

}  // namespace bestdag
