// The sums a_v(S) of the weights of the parent sets of v inside S, for every v and every set S
// without v: a row for each S.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cells.hpp"
#include "base/parallel.hpp"
#include "posterior/parent_weights.hpp"

namespace bestdag {

class InsideSums {
public:
    // Throws Interrupted.
    InsideSums(const ParentWeights& weights, const Execution& execution);

    std::size_t n() const noexcept { return n_; }
    std::uint64_t n_sets() const noexcept { return std::uint64_t{1} << n_; }
    // The logarithms for all v; those of members of the set have no meaning.
    const double* row(std::uint64_t set) const noexcept { return cells_.data() + set * n_; }

private:
    const std::size_t n_;
    const Cells<double> cells_;
};

}  // namespace bestdag
