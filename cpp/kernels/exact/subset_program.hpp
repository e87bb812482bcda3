// A problem of the dynamic program over subsets, laid out for its walks: which variable is which
// bit, and the candidate sets divided accordingly.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/subset_block.hpp"
#include "exact/subset_dp.hpp"
#include "exact/subset_lattice.hpp"

namespace bestdag {

// Renumber a set of variables: variable u becomes bit_of[u].
std::uint64_t move_bits(std::uint64_t members, const std::vector<int>& bit_of);

// The variables that a run is about, and what is known about their order.
struct SubsetScope {
    std::uint64_t variables = 0;
    std::vector<std::uint64_t> before;  // of each variable: those that come before it, transitive
    std::vector<int> paired;            // in the order in which they should be top bits

    int size() const { return std::popcount(variables); }
};

// A candidate set, its members divided as the bits are.
template <class T>
struct DividedSet {
    std::uint32_t top, middle, low;
    T cost;
};

// Everything a run reads, with the variables in the order of their bits.
template <class T>
struct SubsetProgram {
    const Division division;
    const T limit;
    const BlockLoops<T>& loops;
    std::vector<int> bit_of;                       // of each variable of the problem, -1 outside
    std::uint64_t padding = 0;                     // bits that are no variables
    std::vector<std::vector<DividedSet<T>>> sets;  // of each bit
    std::vector<std::uint16_t> order;              // registers of a block, subsets first
    SubsetLattice lattice;

    SubsetProgram(const SubsetProblem& problem, double limit_, const SubsetScope& scope,
                  const Division& division_);

    // A set of variables of the scope as bits.
    std::uint64_t bits_of(std::uint64_t subset) const {
        return move_bits(subset, bit_of) | padding;
    }
    std::uint32_t top_of(std::uint64_t bits) const {
        return static_cast<std::uint32_t>(bits >> (division.within + division.middle));
    }
};

// Variables by how often they are parents, the most frequent first.
std::vector<int> ranked_by_use(const SubsetProblem& problem, double limit, std::uint64_t variables);

// The loops for this processor.
const BlockLoops<std::uint32_t>& loops_of(std::uint32_t) noexcept;
const BlockLoops<double>& loops_of(double) noexcept;

// The registers of a block of 2^bits cells in which a subset comes before every set that holds it.
std::vector<std::uint16_t> subsets_first(int bits, int lane_bits);

}  // namespace bestdag
