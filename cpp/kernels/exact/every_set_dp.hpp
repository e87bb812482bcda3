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
#include "exact/block_scores.hpp"

namespace bestdag {

struct EverySetSolution {
    double cost = 0.0;                   // units
    std::vector<std::uint64_t> parents;  // of each column, bit c for column c
};

class EverySetProgram {
public:
    // One rule for each column. The values must live as long as this does.
    EverySetProgram(const Table& table, const Kernel& kernel, const SetValues& values,
                    std::vector<ParentRules> rules);

    // The local score of a column, minus infinity for parents that are not allowed.
    double score(std::size_t column, std::uint64_t parents) const;

    // The local scores of a column for all sets of the others, minus infinity for parents that are
    // not allowed. A set is numbered by its bits, one for each other column in their order. Throws
    // Interrupted.
    void all_scores(std::size_t column, const Execution& execution, std::span<double> out) const;

    // For each column the best score over all allowed parent sets. Throws Interrupted.
    std::vector<double> best_scores(const Execution& execution) const;

    // A network of least cost among those that cost less than `limit` units; nothing when there is
    // none. `best` is what best_scores returned. Throws Interrupted when execution or `progress`
    // (told the share of the work done) said to stop.
    std::optional<EverySetSolution> solve(std::span<const double> best, double unit, double limit,
                                          const Execution& execution,
                                          const std::function<bool(double)>& progress) const;

private:
    BlockScores scores_;
};

// What solve takes: 2^n cells, and what the tasks of so many threads hold. The values come on top.
double every_set_program_bytes(std::size_t n, int threads);

}  // namespace bestdag
