// Whether an undirected graph can be taken apart with few neighbours at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bestdag {

// Rows of bits, one per node: whom a node is joined to. Symmetric, nobody to itself.
class BitGraph {
public:
    explicit BitGraph(std::size_t n) : n_(n), n_words_((n + 63) / 64), bits_(n * n_words_, 0) {}

    std::size_t size() const noexcept { return n_; }
    std::size_t n_words() const noexcept { return n_words_; }
    std::uint64_t* row(std::size_t i) noexcept { return bits_.data() + i * n_words_; }
    const std::uint64_t* row(std::size_t i) const noexcept { return bits_.data() + i * n_words_; }
    bool has(std::size_t i, std::size_t j) const noexcept { return row(i)[j / 64] >> j % 64 & 1; }
    void set(std::size_t i, std::size_t j) noexcept {
        row(i)[j / 64] |= std::uint64_t{1} << j % 64;
    }
    void unset(std::size_t i, std::size_t j) noexcept {
        row(i)[j / 64] &= ~(std::uint64_t{1} << j % 64);
    }
    void join(std::size_t i, std::size_t j) noexcept {
        set(i, j);
        set(j, i);
    }

    // Call visit(j) for each j in the row of i, in order.
    template <class Visit>
    void each(std::size_t i, Visit&& visit) const {
        for (std::size_t w = 0; w < n_words_; ++w) {
            for (std::uint64_t left = row(i)[w]; left != 0; left &= left - 1) {
                visit(64 * w + static_cast<std::size_t>(__builtin_ctzll(left)));
            }
        }
    }

private:
    std::size_t n_, n_words_;
    std::vector<std::uint64_t> bits_;
};

enum class Width { kNarrow, kWide, kUndecided };

// Whether the treewidth of the graph is at most `width`: whether its nodes can be eliminated one
// by one, the neighbours of each being joined, none having more than `width` neighbours then.
//
// Nodes whose neighbours are joined to each other, but for one of them, are eliminated at once:
// that never raises the treewidth of what is left (Bodlaender, Koster and van den Eijkhof 2005).
// What remains is searched, the sets of eliminated nodes remembered; kUndecided after
// `max_states` of them.
Width bounded_width(BitGraph graph, std::size_t width, std::size_t max_states = 1'000);

}  // namespace bestdag
