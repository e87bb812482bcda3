// Which cluster cuts does a fractional choice of parent sets violate? Local search over clusters
// with the number of parents inside kept per set, so a step costs what it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "exact/cut_pool.hpp"
#include "search/choice_sets.hpp"

namespace bestdag {

struct ViolatedCluster {
    Cluster cluster;
    double violation;  // k minus the left-hand side, > 0
};

// `support`: sets with x > 0, grouped by child. Starts from every pair (k = 1) or triple (k = 2)
// that the support suggests and from the given clusters. Different clusters only, most violated
// first. A hint: finding none does not mean there is none, except that for k = 1 and an integral x
// every cyclic x yields one.
std::vector<ViolatedCluster> separate_clusters(
    const ChoiceSets& sets, std::span<const std::int64_t> support, std::span<const double> x, int k,
    std::span<const Cluster> starts, double min_violation, std::size_t most, const StopFlag& stop);

}  // namespace bestdag
