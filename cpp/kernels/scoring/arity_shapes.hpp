// Shapes of sets of columns: sets with equally many columns of each arity have the same shape, and
// whatever depends on the arities alone is worked out once for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

class ArityShapes {
public:
    // The arity of each column.
    explicit ArityShapes(std::span<const std::size_t> arities);

    // How many shapes there are; a double because it may be too large for the rest.
    static double count(std::span<const std::size_t> arities);

    std::size_t size() const noexcept { return size_; }

    // The number of a shape is the sum of the strides of its columns; equal arities, equal strides.
    std::size_t stride(std::size_t column) const noexcept { return strides_[column]; }

    // The arities that occur, ascending.
    const std::vector<std::size_t>& arities() const noexcept { return arities_; }

    // By shape: the product of the arities.
    std::vector<double> n_cells() const;

    // The shape of each set of these columns; bit b of a set is columns[b].
    std::vector<std::uint32_t> of_sets(std::span<const std::size_t> columns) const;

private:
    std::size_t size_ = 1;
    std::vector<std::size_t> arities_;
    std::vector<std::size_t> strides_;           // by column
    std::vector<std::size_t> strides_of_arity_;  // of each of arities_
};

}  // namespace bestdag
