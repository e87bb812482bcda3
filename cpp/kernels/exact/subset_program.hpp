// A problem of the dynamic program over subsets, laid out for its walks: which variable is which
// bit, and the candidate sets divided accordingly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/subset_block.hpp"
#include "exact/subset_dp.hpp"

namespace bestdag {

// How the n bits of a subset are divided.
struct Division {
    static constexpr int kMinVariables = 6;   // fewer are padded: a block fills a register
    static constexpr int kWithinBits = 10;    // a block of 4 or 8 KiB per variable: all fit in L2
    static constexpr int kMaxMiddleBits = 9;  // a task is some milliseconds of work

    int n, within, middle, top;

    explicit Division(int variables) : n(std::max(variables, kMinVariables)) {
        within = std::min(n, kWithinBits);
        middle = std::min((n - within + 1) / 2 + 1, kMaxMiddleBits);
        middle = std::min(middle, n - within);
        top = n - within - middle;
    }

    std::size_t block_cells() const { return std::size_t{1} << within; }
    std::size_t task_blocks() const { return std::size_t{1} << middle; }
};

// A candidate set, its members divided as the bits are.
template <class T>
struct DividedSet {
    std::uint32_t top, middle, low;
    T cost;
};

// Everything best_by_subsets reads, with the variables in the order of their bits.
template <class T>
struct SubsetProgram {
    const Division division;
    const T limit;
    const BlockLoops<T>& loops;
    std::vector<int> bit_of;                       // of each variable of the problem
    std::vector<std::vector<DividedSet<T>>> sets;  // of each bit
    std::vector<std::uint16_t> order;              // registers of a block, subsets first
    T* cells = nullptr;

    SubsetProgram(const SubsetProblem& problem, double limit_);
    T* block(std::uint64_t high) const { return cells + (high << division.within); }
};

// The loops for this processor.
const BlockLoops<std::uint32_t>& loops_of(std::uint32_t) noexcept;
const BlockLoops<double>& loops_of(double) noexcept;

// The registers of a block of 2^bits cells in which a subset comes before every set that holds it.
std::vector<std::uint16_t> subsets_first(int bits, int lane_bits);

// Renumber a set of variables: variable u becomes bit_of[u].
std::uint64_t move_bits(std::uint64_t members, const std::vector<int>& bit_of);

}  // namespace bestdag
