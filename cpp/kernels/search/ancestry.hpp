// Who is an ancestor of whom in a directed acyclic graph, kept while arcs come and go.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bestdag {

// The parents of every node, ascending.
using ParentLists = std::vector<std::vector<std::int32_t>>;

class Ancestry {
public:
    explicit Ancestry(std::size_t n_nodes);

    // Start again from these parents. False when they close a cycle.
    bool reset(const ParentLists& parents);

    // Whether a directed path leads from a to b; a node is not its own ancestor.
    bool reaches(std::size_t a, std::size_t b) const noexcept {
        return row(b)[a / 64] >> (a % 64) & 1;
    }

    // The arc parent -> child is new; it closes no cycle.
    void added(std::size_t parent, std::size_t child);

    // An arc into child is gone; `parents` are those that are left. Calls lost(a, b) for every a
    // that was an ancestor of b and is none any more.
    template <class Lost>
    void removed(std::size_t child, const ParentLists& parents, const Lost& lost) {
        find_below(child);
        for (const auto& [_, node] : changed_) {
            std::copy_n(row(node), n_words_, line_.begin());
            gather(node, parents);
            for (std::size_t w = 0; w < n_words_; ++w) {
                for (std::uint64_t gone = line_[w] & ~row(node)[w]; gone != 0; gone &= gone - 1) {
                    lost(64 * w + static_cast<std::size_t>(std::countr_zero(gone)), node);
                }
            }
        }
    }

private:
    std::uint64_t* row(std::size_t node) noexcept { return bits_.data() + node * n_words_; }
    const std::uint64_t* row(std::size_t node) const noexcept {
        return bits_.data() + node * n_words_;
    }
    void find_below(std::size_t child);
    void gather(std::size_t node, const ParentLists& parents);
    std::size_t n_ancestors(std::size_t node) const noexcept;

    std::size_t n_, n_words_;
    std::vector<std::uint64_t> bits_;  // row b: the ancestors of b
    std::vector<std::uint64_t> line_;
    std::vector<std::pair<std::size_t, std::size_t>> changed_;
};

}  // namespace bestdag
