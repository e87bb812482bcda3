// Counts in another order of their dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

// Reorders a dense table: dimension d of the result is dimension order[d] of the source. Both are
// row-major, the last dimension varying fastest; `sizes` are those of the source.
class Transposition {
public:
    void plan(std::span<const std::uint32_t> sizes, std::span<const std::uint32_t> order);

    template <class Count>
    void apply(std::span<const Count> source, std::vector<Count>& result) const {
        result.resize(source.size());
        Count* out = result.data();
        for (const std::uint32_t outer : outer_) {
            for (const std::uint32_t inner : inner_) *out++ = source[outer + inner];
        }
    }

private:
    // Offsets into the source of the leading and of the last dimension's positions.
    std::vector<std::uint32_t> outer_, inner_;
};

inline void Transposition::plan(std::span<const std::uint32_t> sizes,
                                std::span<const std::uint32_t> order) {
    std::vector<std::uint32_t> strides(sizes.size(), 1);
    for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
    outer_.assign(1, 0);
    for (std::size_t d = 0; d + 1 < order.size(); ++d) {
        std::vector<std::uint32_t> longer;
        longer.reserve(outer_.size() * sizes[order[d]]);
        for (const std::uint32_t offset : outer_) {
            for (std::uint32_t k = 0; k < sizes[order[d]]; ++k) {
                longer.push_back(offset + k * strides[order[d]]);
            }
        }
        outer_.swap(longer);
    }
    inner_.clear();
    const std::uint32_t last = order.back();
    for (std::uint32_t k = 0; k < sizes[last]; ++k) inner_.push_back(k * strides[last]);
}

}  // namespace bestdag
