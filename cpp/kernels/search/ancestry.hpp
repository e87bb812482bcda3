// Who is an ancestor of whom in a directed acyclic graph, kept while arcs come and go.
#pragma once

#include <cstddef>
#include <cstdint>
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

    // An arc into child is gone; `parents` are those that are left.
    void removed(std::size_t child, const ParentLists& parents);

private:
    std::uint64_t* row(std::size_t node) noexcept { return bits_.data() + node * n_words_; }
    const std::uint64_t* row(std::size_t node) const noexcept {
        return bits_.data() + node * n_words_;
    }
    void gather(std::size_t node, const ParentLists& parents);
    std::size_t n_ancestors(std::size_t node) const noexcept;

    std::size_t n_, n_words_;
    std::vector<std::uint64_t> bits_;  // row b: the ancestors of b
    std::vector<std::uint64_t> line_;
    std::vector<std::pair<std::size_t, std::size_t>> changed_;
};

}  // namespace bestdag
