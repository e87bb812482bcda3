#include "exact/subset_lattice.hpp"

#include <bit>

namespace bestdag {

SubsetLattice::SubsetLattice(int n_top, std::span<const std::uint32_t> before)
    : before_(before.begin(), before.end()),
      begin_(static_cast<std::size_t>(n_top) + 2, 0),
      position_(std::size_t{1} << n_top) {
    const std::size_t n_subsets = position_.size();
    std::size_t n_allowed = 1;
    position_[0] = 0;  // at first, what must be there
    begin_[1] = 1;
    for (std::size_t top = 1; top < n_subsets; ++top) {
        const auto lowest = static_cast<std::size_t>(std::countr_zero(top));
        position_[top] = position_[top & (top - 1)] | before_[lowest];
        if ((position_[top] & ~top) != 0) continue;
        ++begin_[static_cast<std::size_t>(std::popcount(top)) + 1];
        ++n_allowed;
    }
    for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
    tops_.resize(n_allowed);
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t top = 0; top < n_subsets; ++top) {
        if ((position_[top] & ~top) != 0) {
            position_[top] = kNowhere;
            continue;
        }
        const std::size_t at = next[static_cast<std::size_t>(std::popcount(top))]++;
        tops_[at] = static_cast<std::uint32_t>(top);
        position_[top] = static_cast<std::uint32_t>(at);
    }
}

std::uint32_t SubsetLattice::last_bits(std::uint32_t top) const {
    std::uint32_t needed = 0;
    for (std::uint32_t left = top; left != 0; left &= left - 1) {
        needed |= before_[static_cast<std::size_t>(std::countr_zero(left))];
    }
    return top & ~needed;
}

std::size_t SubsetLattice::least_room() const {
    std::size_t most = tops_.size() < 2 ? tops_.size() : 2;
    for (std::size_t k = 2; k < begin_.size(); ++k)
        most = std::max(most, begin_[k] - begin_[k - 2]);
    return most;
}

std::vector<double> layer_sizes(int n_top, int pairs) {
    std::vector<double> sizes{1.0};
    const auto times = [&sizes](int width) {
        std::vector<double> next(sizes.size() + static_cast<std::size_t>(width) - 1, 0.0);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            for (std::size_t k = 0; k < static_cast<std::size_t>(width); ++k) {
                next[i + k] += sizes[i];
            }
        }
        sizes = std::move(next);
    };
    for (int i = 0; i < pairs; ++i) times(3);
    for (int i = 0; i < n_top - 2 * pairs; ++i) times(2);
    return sizes;
}

double largest_neighbours(std::span<const double> sizes) {
    double most = sizes[0];
    for (std::size_t k = 1; k < sizes.size(); ++k) most = std::max(most, sizes[k] + sizes[k - 1]);
    return most;
}

}  // namespace bestdag
