// Local scores of every family from the values of sets (every_set.hpp), a block at a time: all
// parent sets of one child that have the same higher bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"
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

// Sets are numbers with a bit for each column, in the order of the values (SetValues). The lowest
// `within` bits tell the sets of a block apart, the others (`high`) the blocks.
class BlockScores {
public:
    // One rule for each column. The values must live as long as this does.
    BlockScores(const Table& table, const Kernel& kernel, const SetValues& values,
                std::vector<ParentRules> rules, std::size_t within);

    std::size_t n() const noexcept { return n_; }
    std::size_t within() const noexcept { return within_; }
    std::size_t column_of_bit(std::size_t bit) const { return values_.column_of_bit[bit]; }
    std::size_t bit_of_column(std::size_t column) const { return bit_of_column_.at(column); }
    std::uint64_t in_columns(std::uint64_t bits) const;  // bit c for column c
    std::uint64_t in_bits(std::uint64_t columns) const;

    // The scores of a child for all sets with these higher bits, minus infinity for those that are
    // not allowed; false, and nothing written, when none is.
    bool block(std::size_t child, std::uint64_t high, double* out) const;

    // For each column the best score over all allowed parent sets. Throws Interrupted.
    std::vector<double> best(const Execution& execution) const;

private:
    ParentRules in_bits(const ParentRules& rule, std::size_t child) const;
    std::vector<double> low_terms(const ParentRules& rule) const;
    void work_out_beside(const Table& table, Evaluator& evaluator);

    const SetValues& values_;
    std::size_t n_;
    std::size_t within_;
    std::vector<std::size_t> bit_of_column_;
    std::vector<ParentRules> rules_;  // by bit, masks over bits
    // Of each set of the lowest bits: what its prior terms add for a child, minus infinity where it
    // is not allowed; empty where nothing is.
    std::vector<std::vector<double>> low_terms_;
    std::vector<std::uint8_t> low_size_;  // of each set of the lowest bits
    // What a family has beside the difference: by child and shape of the parents; empty for none.
    std::vector<std::vector<double>> beside_;
    std::vector<std::uint32_t> shape_stride_;  // by bit
    std::vector<std::uint32_t> low_shape_;     // of each set of the lowest bits
};

}  // namespace bestdag
