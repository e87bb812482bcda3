// Which subsets of the variables the dynamic program over subsets visits, in which order, and where
// it keeps them.
//
// The bits of a subset are divided: the lowest are `within` a block that is computed at once in
// cache, the `middle` ones are walked through by one task, the `top` ones number the tasks. A task
// depends on the tasks without one of its top bits. So tasks are done by the number of top bits
// that are set, a layer at a time, and once a layer is done the one before it is not needed for the
// next. Cells lie in an arena that goes round: a task takes the place of one that was done long
// before. With room for all tasks nothing is ever overwritten (the flat program); with room for the
// largest two neighbouring layers the value of the full set is right just the same, and what the
// arena holds at the end is the last layers.
//
// What is known about the order of the variables makes tasks vanish: if u comes before v, no subset
// with v and without u is ever needed (Parviainen and Koivisto 2013).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

    // With at most so many bits within a block, and in the middle.
    Division(int variables, int most_within, int most_middle)
        : n(std::max(variables, kMinVariables)),
          within(std::min(n, most_within)),
          middle(std::min(n - within, most_middle)),
          top(n - within - middle) {}

    std::size_t block_cells() const { return std::size_t{1} << within; }
    std::size_t task_blocks() const { return std::size_t{1} << middle; }
    std::size_t task_cells() const { return block_cells() * task_blocks(); }
};

// The subsets of the top bits that an order allows, layer by layer.
class SubsetLattice {
public:
    // before[b]: the bits that every subset with bit b has; transitive, without b itself.
    SubsetLattice(int n_top, std::span<const std::uint32_t> before);

    std::size_t n_layers() const { return begin_.size() - 1; }
    std::size_t n_tops() const { return tops_.size(); }

    // The subsets with `layer` bits, ascending; their positions follow each other.
    std::span<const std::uint32_t> layer(std::size_t layer) const {
        return std::span(tops_).subspan(begin_[layer], begin_[layer + 1] - begin_[layer]);
    }
    std::size_t layer_begin(std::size_t layer) const { return begin_[layer]; }

    bool is_allowed(std::uint32_t top) const { return position_[top] != kNowhere; }
    std::size_t position(std::uint32_t top) const { return position_[top]; }

    // The bits of an allowed subset that some order puts last.
    std::uint32_t last_bits(std::uint32_t top) const;

    // The most tasks in two neighbouring layers: an arena holds at least so many.
    std::size_t least_room() const;

private:
    static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

    std::vector<std::uint32_t> before_;
    std::vector<std::uint32_t> tops_;      // by layer
    std::vector<std::size_t> begin_;       // where each layer begins in tops_
    std::vector<std::uint32_t> position_;  // in tops_, of each subset of the bits
};

// Numbers of subsets by size when p pairs of n_top bits are ordered: the coefficients of
// (1 + x + x^2)^p (1 + x)^(n_top - 2p).
std::vector<double> layer_sizes(int n_top, int pairs);

// The largest sum of two neighbours.
double largest_neighbours(std::span<const double> sizes);

}  // namespace bestdag
