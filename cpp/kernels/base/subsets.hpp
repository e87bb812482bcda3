// Numbering of the subsets of 0 .. n-1: by size, and within a size in colexicographic order, the
// order of sum_i C(s_i, i) over the ascending elements s_1 < s_2 < ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

class Subsets {
public:
    // Subsets of at most max_size of n elements; their number must fit 63 bits (the caller checks).
    Subsets(std::size_t n, std::size_t max_size);

    std::size_t n_elements() const { return n_; }
    std::size_t n_of_size(std::size_t size) const { return choose(n_, size); }
    std::size_t n_up_to(std::size_t size) const { return offsets_[size + 1]; }

    // Position among the subsets of its size.
    std::size_t rank(std::span<const std::int32_t> ascending) const {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < ascending.size(); ++i) {
            sum += choose(static_cast<std::size_t>(ascending[i]), i + 1);
        }
        return sum;
    }
    // The first subset of each size comes after all smaller ones.
    std::size_t offset(std::size_t size) const { return offsets_[size]; }

    // The subset at a position; its size is that of `ascending`.
    void unrank(std::size_t position, std::span<std::int32_t> ascending) const;

    std::size_t choose(std::size_t n, std::size_t k) const { return binomials_[n * width_ + k]; }

private:
    std::size_t n_, width_;
    std::vector<std::size_t> binomials_;
    std::vector<std::size_t> offsets_;
};

// The next set of the same size in that order; the last one becomes no subset.
inline void next_subset(std::span<std::int32_t> ascending) {
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        if (i + 1 < ascending.size() && ascending[i] + 1 == ascending[i + 1]) continue;
        ++ascending[i];
        for (std::size_t k = 0; k < i; ++k) ascending[k] = static_cast<std::int32_t>(k);
        return;
    }
}

}  // namespace bestdag
