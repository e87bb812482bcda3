// Which halved cuts (see cut_pool.hpp) does a fractional choice violate? A {0, 1/2} cut of clusters
// T and equations E is violated by 1/2 - (slack of T + weight of the sets with an odd coefficient)
// / 2 when its right-hand side was odd before halving (Caprara and Fischetti 1996).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "exact/cut_pool.hpp"
#include "search/choice_sets.hpp"

namespace bestdag {

struct ViolatedHalf {
    std::vector<std::size_t> terms;       // positions in `clusters`, ascending
    std::vector<std::int32_t> equations;  // children, ascending
    double violation;
};

// Greedy growth from every nearly tight cluster. `support`: sets with x > 0, ascending. A hint:
// finding none does not mean there is none.
std::vector<ViolatedHalf> separate_halves(const ChoiceSets& sets,
                                          std::span<const std::int64_t> support,
                                          std::span<const double> x,
                                          std::span<const Cluster> clusters, double min_violation,
                                          std::size_t most, const StopFlag& stop);

}  // namespace bestdag
