// Sums over, and draws of, the parent sets within some variables, for chains, which ask for
// millions of them: to about 12 digits, and with weights as numbers, not as logarithms, which are
// fallen back on where numbers of such a range have none.
#pragma once

#include <cstddef>
#include <vector>

#include "posterior/parent_weights.hpp"

namespace bestdag {

class RoomSums {
public:
    // Needs the sets of each variable by descending weight; weights outlive this.
    explicit RoomSums(const ParentWeights& weights);

    const ParentWeights& weights() const noexcept { return weights_; }

    // Logarithm of the sum of the weights of the sets of v within `among` that have a member of
    // `hit`, unless that is nullptr.
    double log_sum(std::size_t v, SetWords among, SetWords hit) const noexcept;

    // The number of one of them, drawn by weight: `choice` in (0, 1) decides, and log_total is
    // their sum. Requires that there is one.
    std::size_t draw(std::size_t v, SetWords among, SetWords hit, double log_total,
                     double choice) const noexcept;

private:
    double sum_of_group(std::size_t i, SetWords among, SetWords hit) const noexcept;

    const ParentWeights& weights_;
    std::vector<double> relative_;  // to the heaviest set of the variable
};

}  // namespace bestdag
