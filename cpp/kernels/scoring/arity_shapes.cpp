#include "scoring/arity_shapes.hpp"

#include <algorithm>
#include <bit>

namespace bestdag {

namespace {

// Calls use(arity, how many columns have it), arities ascending.
template <class Use>
void for_each_arity(std::span<const std::size_t> arities, const Use& use) {
    std::vector<std::size_t> sorted(arities.begin(), arities.end());
    std::sort(sorted.begin(), sorted.end());
    for (auto first = sorted.begin(); first != sorted.end();) {
        const auto last = std::upper_bound(first, sorted.end(), *first);
        use(*first, static_cast<std::size_t>(last - first));
        first = last;
    }
}

}  // namespace

ArityShapes::ArityShapes(std::span<const std::size_t> arities) {
    for_each_arity(arities, [&](std::size_t arity, std::size_t n_columns) {
        arities_.push_back(arity);
        strides_of_arity_.push_back(size_);
        size_ *= n_columns + 1;
    });
    for (const std::size_t arity : arities) {
        const auto at = std::lower_bound(arities_.begin(), arities_.end(), arity);
        strides_.push_back(strides_of_arity_[static_cast<std::size_t>(at - arities_.begin())]);
    }
}

double ArityShapes::count(std::span<const std::size_t> arities) {
    double shapes = 1.0;
    for_each_arity(arities, [&](std::size_t, std::size_t n_columns) {
        shapes *= static_cast<double>(n_columns + 1);
    });
    return shapes;
}

std::vector<double> ArityShapes::n_cells() const {
    std::vector<double> products(size_, 1.0);
    for (std::size_t shape = 0; shape < size_; ++shape) {
        std::size_t left = shape;
        for (std::size_t a = arities_.size(); a-- > 0;) {
            for (std::size_t k = left / strides_of_arity_[a]; k > 0; --k) {
                products[shape] *= static_cast<double>(arities_[a]);
            }
            left %= strides_of_arity_[a];
        }
    }
    return products;
}

std::vector<std::uint32_t> ArityShapes::of_sets(std::span<const std::size_t> columns) const {
    std::vector<std::uint32_t> shapes(std::size_t{1} << columns.size(), 0);
    for (std::size_t set = 1; set < shapes.size(); ++set) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(set));
        shapes[set] = shapes[set & (set - 1)] + static_cast<std::uint32_t>(strides_[columns[bit]]);
    }
    return shapes;
}

}  // namespace bestdag
