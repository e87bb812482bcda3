#include "base/subsets.hpp"

namespace bestdag {

Subsets::Subsets(std::size_t n, std::size_t max_size)
    : n_(n), width_(max_size + 1), binomials_((n + 1) * width_, 0), offsets_(max_size + 2, 0) {
    for (std::size_t row = 0; row <= n; ++row) {
        binomials_[row * width_] = 1;
        for (std::size_t k = 1; row > 0 && k < width_; ++k) {
            binomials_[row * width_ + k] = choose(row - 1, k - 1) + choose(row - 1, k);
        }
    }
    for (std::size_t size = 0; size <= max_size; ++size) {
        offsets_[size + 1] = offsets_[size] + choose(n, size);
    }
}

void Subsets::unrank(std::size_t position, std::span<std::int32_t> ascending) const {
    std::size_t below = n_;
    for (std::size_t k = ascending.size(); k > 0; --k) {
        // The largest element s with C(s, k) <= position.
        std::size_t element = below - 1;
        while (choose(element, k) > position) --element;
        ascending[k - 1] = static_cast<std::int32_t>(element);
        position -= choose(element, k);
        below = element;
    }
}

}  // namespace bestdag
