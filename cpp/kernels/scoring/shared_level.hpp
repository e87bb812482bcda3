// Numbers of all sets of columns of one size; sets that differ in their last column alone lie side
// by side, so that what is done for one of them is done for all in a loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/subsets.hpp"

namespace bestdag {

// With more parents there are too many sets for what is known of each.
inline constexpr std::size_t kMaxSharedParents = 3;

class SharedLevel {
public:
    // Sets of `size` columns with so many numbers each. `subsets` must outlive the level.
    SharedLevel(const Subsets& subsets, std::size_t size, std::size_t n_fields)
        : subsets_(&subsets), n_fields_(n_fields) {
        const std::size_t n = subsets.n_elements();
        starts_.reserve(subsets.n_of_size(size - 1) + 1);
        starts_.push_back(0);
        std::vector<std::int32_t> prefix(size - 1);
        for (std::size_t i = 0; i < prefix.size(); ++i) prefix[i] = static_cast<std::int32_t>(i);
        for (std::size_t rank = 0; rank < subsets.n_of_size(size - 1); ++rank) {
            starts_.push_back(starts_.back() + n - first_of(prefix));
            next_subset(prefix);
        }
        numbers_.resize(starts_.back() * n_fields);
    }

    static double bytes_of(const Subsets& subsets, std::size_t size, std::size_t n_fields) {
        return 8.0 * (static_cast<double>(subsets.n_of_size(size - 1)) +
                      static_cast<double>(subsets.n_of_size(size) * n_fields));
    }
    double bytes() const noexcept {
        return 8.0 * static_cast<double>(starts_.capacity() + numbers_.capacity());
    }

    // The least column that may follow.
    static std::size_t first_of(std::span<const std::int32_t> prefix) {
        return prefix.empty() ? 0 : static_cast<std::size_t>(prefix.back()) + 1;
    }

    // One number of each set that begins with this prefix: entry i is of the set that ends with
    // column first_of(prefix) + i.
    double* row(std::span<const std::int32_t> prefix, std::size_t field) {
        const std::size_t rank = subsets_->rank(prefix);
        const std::size_t start = starts_[rank];
        return numbers_.data() + start * n_fields_ + field * (starts_[rank + 1] - start);
    }

    // One number of one set.
    double at(std::span<const std::int32_t> set, std::size_t field) {
        const auto prefix = set.first(set.size() - 1);
        return row(prefix, field)[static_cast<std::size_t>(set.back()) - first_of(prefix)];
    }

private:
    const Subsets* subsets_;
    std::size_t n_fields_;
    std::vector<std::size_t> starts_;  // by rank of the prefix
    std::vector<double> numbers_;
};

}  // namespace bestdag
