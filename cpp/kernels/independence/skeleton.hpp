// The first phase of the PC algorithm: which links no test takes away.
//
// Jensen and Nielsen (2007), Algorithm 7.1. For i = 0, 1, ... every node A with at least i + 1
// neighbours asks, for each neighbour B, whether A and B are independent given each set of i other
// neighbours; the first yes removes the link. As printed, a link is gone at once, and the result
// depends on the order of the nodes. The stable variant (Colombo and Maathuis 2014) removes the
// links of a level at its end; its threads share the nodes.
//
// A question about A and B that B asks again is counted and not answered anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "independence/test.hpp"
#include "independence/test_log.hpp"
#include "independence/votes.hpp"

namespace bestdag {

enum class KnownLink : std::uint8_t {
    forbidden,  // never there; asked about all the same, for the set that separates its ends
    free,
    required,  // always there; what speaks against it is found all the same
};

struct SkeletonSettings {
    bool is_stable = true;
    bool needs_path = false;    // ask only about sets whose members are on paths between the two
    std::size_t log_bytes = 0;  // room for the list of tests
};

struct LevelCounts {
    std::int64_t questions = 0;  // as Algorithm 7.1 asks them
    std::int64_t tests = 0;      // answered anew
    std::int64_t removed = 0;    // links
};

// What is known of a pair of nodes.
struct PairFinding {
    bool is_separated = false;
    std::int32_t n_tests = 0;
    // The test that separated the two; otherwise the one nearest to it.
    Answer answer;
    std::vector<std::int32_t> given;
};

class SkeletonSearch {
public:
    // Nodes are taken in `order`. links and may_be_parent ([parent, child]) are n by n, in numbers
    // of variables; only who may be a parent of A is in the sets that A asks about.
    SkeletonSearch(const IndependenceTest& test, const SkeletonSettings& settings,
                   std::span<const std::int32_t> order, std::span<const std::uint8_t> links,
                   std::span<const std::uint8_t> may_be_parent);

    // Whether a node has enough neighbours for sets of this size.
    bool has_level(std::size_t size) const;

    // Ask about all sets of this size. When the caller stops it, Interrupted is thrown, and what
    // was found until then holds.
    void run_level(std::size_t size, const Execution& execution);

    // What `count_votes` says of these links.
    Votes votes(std::span<const std::uint8_t> adjacency, std::size_t max_size,
                const Execution& execution);

    std::size_t n_variables() const { return n_; }
    bool is_joined(std::size_t one, std::size_t other) const {
        return joined_[one * n_ + other] != 0;
    }
    const PairFinding& finding(std::size_t one, std::size_t other) const {
        return findings_[pair(one, other)];
    }
    const std::vector<LevelCounts>& levels() const { return levels_; }
    const TestLog& log() const { return log_; }

private:
    struct Ask;  // what one node finds out

    std::size_t pair(std::size_t one, std::size_t other) const {
        const std::size_t low = one < other ? one : other;
        const std::size_t high = one < other ? other : one;
        return low * (2 * n_ - low - 1) / 2 + (high - low - 1);
    }
    bool is_open(std::size_t one, std::size_t other) const;
    std::vector<std::int32_t> neighbours(std::size_t node) const;
    std::vector<std::int32_t> askable(std::size_t node) const;
    double expected(std::size_t size) const;
    void note(std::size_t one, std::size_t other, std::span<const std::int32_t> given,
              const Answer& answer, PairFinding& finding) const;
    void ask_as_node(std::size_t node, std::size_t size, bool of_later, Answerer& answerer,
                     Ask& ask, const StopFlag& stop) const;
    void run_stable(std::size_t size, const Execution& execution);
    void run_printed(std::size_t size, Answerer& answerer, const StopFlag& stop);
    void remember(std::size_t node, Ask& ask);

    const IndependenceTest& test_;
    const SkeletonSettings settings_;
    const std::size_t n_;
    std::vector<std::int32_t> order_;
    std::vector<std::size_t> rank_;
    std::vector<std::uint8_t> links_, may_be_parent_, joined_;
    std::vector<PairFinding> findings_;
    std::vector<LevelCounts> levels_;
    TestLog log_;
    // For the level under way.
    std::vector<std::vector<std::int32_t>> level_neighbours_, level_askable_, level_blocks_;
};

}  // namespace bestdag
