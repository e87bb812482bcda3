// Joint probabilities of a few variables of a prior network, shared by threads. Native twin of
// scores/prior_network.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "counting/family_counts.hpp"
#include "factors/elimination.hpp"

namespace bestdag {

// A network as flat arrays. Node i has the parents axes[ends[i]] ... axes[ends[i + 1] - 2] and is
// itself the last; its table comes after that of node i - 1 in values, the last axis fastest. Rows
// of tables sum to 1. Column c of the data is node nodes[c], or -1 where the network has no such
// variable; nodes ascend with the columns.
struct NetworkArrays {
    std::span<const std::int32_t> arities;
    std::span<const std::int64_t> ends;
    std::span<const std::int32_t> axes;
    std::span<const double> values;
    std::span<const std::int32_t> nodes;
};

class PriorMarginals {
public:
    // Products of more than max_bytes are refused.
    PriorMarginals(const NetworkArrays& network, double max_bytes);

    using Joint = std::shared_ptr<const Factor>;

    // P of the family's variables as one table, axes in the order of the columns, without those
    // that have one state; nullptr where it is too large to be held whole. Throws RefusedFamily for
    // columns without a node.
    Joint joint(const Family& family, const StopFlag& stop) const;

    // P(child, parents = configuration) for each of n configurations, given as codes of the
    // parents one after the other: out has n rows of the child's arity. Throws RefusedFamily where
    // even one row takes too much memory.
    void rows(const Family& family, std::span<const std::uint32_t> codes, std::size_t n,
              std::span<double> out, const StopFlag& stop) const;

    // Roughly what one family takes.
    double nanoseconds() const noexcept { return nanoseconds_; }

private:
    std::vector<Axis> nodes_of(const Family& family) const;
    std::vector<Factor> relevant(std::span<const Axis> nodes) const;
    Joint work_out(std::span<const Axis> nodes, const StopFlag& stop) const;
    std::unique_lock<std::mutex> wait_for_room(double log2_cells, const StopFlag& stop) const;
    Factor at(const Factor& factor, std::span<const Axis> fixed,
              std::span<const std::uint32_t> codes, std::size_t n) const;

    Axis row_axis() const noexcept { return static_cast<Axis>(parents_.size()); }

    std::vector<std::uint32_t> lengths_;  // arity of each node, and a place for the axis of rows
    std::vector<double> bits_;            // log2 of these
    std::vector<std::vector<Axis>> parents_;  // of each node, those with several states
    std::vector<double> values_;
    std::vector<std::size_t> first_values_;
    std::vector<std::int32_t> nodes_;
    double max_bytes_;
    double nanoseconds_;

    mutable std::mutex mutex_;  // of kept_ and n_kept_
    mutable std::map<std::vector<Axis>, Joint> kept_;
    mutable std::size_t n_kept_ = 0;
    mutable std::mutex large_;  // held while a large product is made: one at a time
};

}  // namespace bestdag
