// The parent sets a child may have, with their costs: what order search, cut separation and pricing
// of the branch-and-cut engine look at. Costs are (best score of the child) - score >= 0, best
// first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

using Word = std::uint64_t;

// A set is stored as a bit mask over its child's own candidate parents ("local" bits), so that one
// machine word serves almost every child however many variables there are.
class ChoiceSets {
public:
    // Requires: begin has n + 1 entries; the sets of child v are begin[v] .. begin[v+1]-1, at least
    // one, costs ascending; the members of set f are members[offsets[f] .. offsets[f+1]-1].
    ChoiceSets(std::span<const std::int64_t> begin, std::span<const double> costs,
               std::span<const std::int64_t> offsets, std::span<const std::int32_t> members);

    std::size_t n_variables() const noexcept { return begin_.size() - 1; }
    std::size_t n_sets() const noexcept { return costs_.size(); }
    std::size_t first(std::size_t child) const noexcept { return begin_[child]; }
    std::size_t last(std::size_t child) const noexcept { return begin_[child + 1]; }
    std::size_t child_of(std::size_t set) const noexcept { return child_[set]; }
    double cost(std::size_t set) const noexcept { return costs_[set]; }
    std::span<const std::int32_t> members(std::size_t set) const noexcept {
        return {members_.data() + offsets_[set], offsets_[set + 1] - offsets_[set]};
    }

    // The candidate parents of a child, ascending; bit b of its masks stands for
    // candidates(child)[b].
    std::span<const std::int32_t> candidates(std::size_t child) const noexcept {
        return local_[child];
    }
    // Bit of `parent` in the masks of `child`, or -1 when no set of the child has it.
    std::int32_t bit(std::size_t child, std::size_t parent) const noexcept {
        return bit_[child * n_variables() + parent];
    }
    std::size_t words(std::size_t child) const noexcept { return words_[child]; }
    const Word* mask(std::size_t set) const noexcept { return masks_.data() + mask_start_[set]; }

    // The members of `cluster` (one byte per variable) as a mask of the child, into `out`.
    void localise(std::size_t child, std::span<const std::uint8_t> cluster,
                  Word* out) const noexcept;

private:
    std::vector<std::size_t> begin_, offsets_;
    std::vector<double> costs_;
    std::vector<std::int32_t> members_;
    std::vector<std::size_t> child_;
    std::vector<std::vector<std::int32_t>> local_;
    std::vector<std::int32_t> bit_;
    std::vector<std::size_t> words_;
    std::vector<std::size_t> mask_start_;
    std::vector<Word> masks_;
};

inline bool is_subset(const Word* a, const Word* b, std::size_t words) noexcept {
    for (std::size_t w = 0; w < words; ++w) {
        if (a[w] & ~b[w]) return false;
    }
    return true;
}

inline int n_common(const Word* a, const Word* b, std::size_t words) noexcept {
    int count = 0;
    for (std::size_t w = 0; w < words; ++w) count += std::popcount(a[w] & b[w]);
    return count;
}

}  // namespace bestdag
