// The best network over all parent sets, by dynamic programming over all 2^n subsets straight from
// the values of sets (every_set.hpp): no list of candidate sets is made (Silander and Myllymaki
// 2006).
//
//     R(S) = min over v in S of R(S \ v) + best_v(S \ v),   R({}) = 0,
//     best_v(S) = least cost of a parent set of v inside S,
//     cost of P as parents of v = (best score of v over all sets) - (score of v given P) >= 0.
//
// Costs are whole numbers of a unit in double precision, rounded down and clipped at a limit, so
// that all sums are exact. Best sets inside subsets are worked out as they are needed: the bits of
// a subset are, from the lowest, `within` a block, `middle` and `top`. A task has its top bits
// fixed; it gathers for each variable the least cost over subsets of the top bits, for every choice
// of the others, and walks down the middle bits, halving the array at each: in the half where the
// bit is in the subset, a cell is the smaller of the two. So memory is 2^n cells and what the tasks
// hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "exact/subset_block.hpp"
#include "scoring/every_set.hpp"

namespace bestdag {

// What the parents of one column may be: all of `required`, some of `allowed`, at most max_parents
// in all; and what a prior adds to the score. Masks over columns, bit c for column c.
struct ParentRules {
    std::uint64_t required = 0;
    std::uint64_t allowed = 0;
    std::size_t max_parents = 0;
    double bonus = 0.0;
    std::vector<double> bonuses;  // for each column as a parent; empty where there are none
};

struct WholeSolution {
    double cost = 0.0;                   // units
    std::vector<std::uint64_t> parents;  // of each column, bit c for column c
};

class WholeProgram {
public:
    // One rule for each column. The values must live as long as this does.
    WholeProgram(const Table& table, const Kernel& kernel, const SetValues& values,
                 std::vector<ParentRules> rules);

    // The local score of a column, minus infinity for parents that are not allowed.
    double score(std::size_t column, std::uint64_t parents) const;

    // For each column the best score over all allowed parent sets. Throws Interrupted.
    std::vector<double> best_scores(const Execution& execution) const;

    // A network of least cost among those that cost less than `limit` units; nothing when there is
    // none. `best` is what best_scores returned. Throws Interrupted when execution or `progress`
    // (told the share of the work done) said to stop.
    std::optional<WholeSolution> solve(std::span<const double> best, double unit, double limit,
                                       const Execution& execution,
                                       const std::function<bool(double)>& progress) const;

private:
    friend class WholeWalk;

    struct Pricing {
        std::span<const double> best;
        const BlockLoops<double>& loops;
        double units, limit;
    };
    struct Inside {
        double cost;
        std::uint64_t parents;  // in columns
    };

    void number_shapes();
    bool parents_of_shape(std::size_t shape, std::size_t child,
                          std::vector<std::int32_t>& parents) const;
    bool block_scores(std::size_t child, std::uint64_t high, double* out) const;
    Inside best_inside(std::size_t child, std::uint64_t rest, const Pricing& pricing,
                       const StopFlag& stop) const;
    static bool comes_first(std::uint64_t a, std::uint64_t b);
    std::uint64_t in_columns(std::uint64_t bits) const;

    const SetValues& values_;
    std::size_t n_;
    std::size_t within_;  // bits of a block
    std::vector<std::size_t> bit_of_column_;
    std::vector<ParentRules> rules_;  // by bit, masks over bits
    // Of each set of the lowest bits: what its prior terms add for a child, minus infinity where it
    // is not allowed; empty where nothing is.
    std::vector<std::vector<double>> low_terms_;
    // What a family has beside the difference: by child and shape of the parents; empty for none.
    std::vector<std::vector<double>> beside_;
    std::size_t n_shapes_ = 0;
    std::vector<std::uint32_t> shape_stride_;  // by bit
    std::vector<std::uint32_t> low_shape_;     // of each set of the lowest bits
    std::vector<std::uint8_t> low_size_;
};

// What solve takes: 2^n cells, and what the tasks of so many threads hold. The values come on top.
double whole_program_bytes(std::size_t n, int threads);

}  // namespace bestdag
