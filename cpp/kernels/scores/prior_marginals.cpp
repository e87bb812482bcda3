#include "scores/prior_marginals.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "base/parallel.hpp"
#include "scores/kernel.hpp"  // RefusedFamily

namespace bestdag {

namespace {

// Joint tables up to this many cells are worked out whole and kept; larger ones row by row.
constexpr double kMaxDenseBits = 16.0;
// All the tables kept have at most this many cells (64 MiB), each counted with its overhead.
constexpr std::size_t kMaxKept = 1u << 23;
constexpr std::size_t kOverhead = 32;
// log2 of the cells a product may have on the way to a whole table (1 GiB; else row by row), while
// rows are worked out together (half a megabyte), and before it counts as large.
constexpr double kMaxLog2Cells = 27.0;
constexpr double kRoomyLog2Cells = 16.0;
constexpr double kLargeLog2Cells = 20.0;
// Rows worked out together, for the choice of an order that depends on the family alone.
constexpr double kRowBits = 8.0;
constexpr double kBytesPerCell = 16.0;  // a product and what it is made of
constexpr double kNanosecondsPerCell = 2.0;
constexpr double kNanosecondsPerNode = 300.0;

}  // namespace

PriorMarginals::PriorMarginals(const NetworkArrays& network, double max_bytes)
    : values_(network.values.begin(), network.values.end()),
      nodes_(network.nodes.begin(), network.nodes.end()),
      max_bytes_(max_bytes) {
    const std::size_t n = network.arities.size();
    std::size_t first_value = 0;
    for (std::size_t i = 0; i < n; ++i) {
        lengths_.push_back(static_cast<std::uint32_t>(network.arities[i]));
        bits_.push_back(std::log2(network.arities[i]));
        first_values_.push_back(first_value);
        std::size_t n_cells = 1;
        std::vector<Axis>& parents = parents_.emplace_back();
        for (std::int64_t k = network.ends[i]; k < network.ends[i + 1]; ++k) {
            const std::int32_t axis = network.axes[static_cast<std::size_t>(k)];
            const std::int32_t arity = network.arities[static_cast<std::size_t>(axis)];
            n_cells *= static_cast<std::size_t>(arity);
            if (arity > 1 && k + 1 < network.ends[i + 1]) {
                parents.push_back(static_cast<Axis>(axis));
            }
        }
        first_value += n_cells;
    }
    lengths_.push_back(1);
    bits_.push_back(kRowBits);
    std::vector<Axis> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<Axis>(i);
    const double work = plan_elimination(relevant(all), {}, bits_, bits_).work;
    nanoseconds_ = kNanosecondsPerNode * static_cast<double>(n) + kNanosecondsPerCell * work;
}

std::vector<Axis> PriorMarginals::nodes_of(const Family& family) const {
    std::vector<Axis> nodes;
    const auto add = [&](std::size_t column) {
        if (nodes_[column] < 0) throw RefusedFamily(family, 0.0);
        nodes.push_back(static_cast<Axis>(nodes_[column]));
    };
    for (const std::int32_t parent : family.parents) add(static_cast<std::size_t>(parent));
    add(family.child);
    return nodes;
}

// The tables of these nodes and their ancestors: the others sum to 1. Nodes with one state say
// nothing.
std::vector<Factor> PriorMarginals::relevant(std::span<const Axis> nodes) const {
    std::vector<std::uint8_t> is_found(parents_.size(), 0);
    std::vector<Axis> waiting;
    for (const Axis node : nodes) {
        if (lengths_[node] == 1) continue;
        waiting.push_back(node);
        is_found[node] = 1;
    }
    while (!waiting.empty()) {
        const Axis node = waiting.back();
        waiting.pop_back();
        for (const Axis parent : parents_[node]) {
            if (!std::exchange(is_found[parent], std::uint8_t{1})) waiting.push_back(parent);
        }
    }
    std::vector<Factor> factors;
    for (std::size_t node = 0; node < parents_.size(); ++node) {
        if (!is_found[node]) continue;
        factors.push_back({parents_[node], values_.data() + first_values_[node]});
        factors.back().axes.push_back(static_cast<Axis>(node));
    }
    return factors;
}

PriorMarginals::Joint PriorMarginals::joint(const Family& family, const StopFlag& stop) const {
    std::vector<Axis> nodes = nodes_of(family);
    double cells = 0.0;
    for (const Axis node : nodes) cells += bits_[node];
    if (cells > kMaxDenseBits + 1e-9) return nullptr;
    std::erase_if(nodes, [&](Axis node) { return lengths_[node] == 1; });
    std::sort(nodes.begin(), nodes.end());
    {
        const std::lock_guard lock(mutex_);
        const auto found = kept_.find(nodes);
        if (found != kept_.end()) return found->second;
    }
    Joint made = work_out(nodes, stop);
    const std::size_t size = kOverhead + static_cast<std::size_t>(std::exp2(cells) + 0.5);
    const std::lock_guard lock(mutex_);
    if (n_kept_ + size > kMaxKept) {
        kept_.clear();
        n_kept_ = 0;
    }
    if (kept_.emplace(std::move(nodes), made).second) n_kept_ += size;
    return made;
}

PriorMarginals::Joint PriorMarginals::work_out(std::span<const Axis> nodes,
                                               const StopFlag& stop) const {
    std::vector<Factor> factors = relevant(nodes);
    const EliminationPlan plan = plan_elimination(factors, nodes, bits_, bits_);
    if (plan.log2_cells > kMaxLog2Cells ||
        kBytesPerCell * std::exp2(plan.log2_cells) > max_bytes_) {
        return nullptr;
    }
    const auto lock = wait_for_room(plan.log2_cells, stop);
    return std::make_shared<Factor>(sum_product(std::move(factors), plan, nodes, lengths_, stop));
}

void PriorMarginals::rows(const Family& family, std::span<const std::uint32_t> codes, std::size_t n,
                          std::span<double> out, const StopFlag& stop) const {
    const std::vector<Axis> nodes = nodes_of(family);
    const std::span<const Axis> fixed(nodes.data(), nodes.size() - 1);
    const std::vector<Factor> factors = relevant(nodes);
    std::vector<Factor> scopes;
    for (const Factor& factor : factors) scopes.push_back(at(factor, fixed, {}, 0));
    const std::vector<Axis> keep{row_axis(), nodes.back()};
    std::vector<double> room = bits_;
    room.back() = 0.0;  // for one row
    const EliminationPlan plan = plan_elimination(scopes, keep, bits_, room);
    const double n_bytes = kBytesPerCell * std::exp2(plan.log2_cells);
    if (n_bytes > max_bytes_) throw RefusedFamily(family, n_bytes);

    const auto lock = wait_for_room(plan.log2_cells, stop);
    const double together = std::exp2(std::max(0.0, kRoomyLog2Cells - plan.log2_cells));
    const std::size_t n_together = static_cast<std::size_t>(together);
    std::vector<std::uint32_t> lengths = lengths_;
    const std::size_t arity = lengths[nodes.back()];
    for (std::size_t first = 0; first < n; first += n_together) {
        check(stop);
        const std::size_t m = std::min(n_together, n - first);
        lengths.back() = static_cast<std::uint32_t>(m);
        const auto here = codes.subspan(first * fixed.size(), m * fixed.size());
        std::vector<Factor> at_rows;
        for (const Factor& factor : factors) at_rows.push_back(at(factor, fixed, here, m));
        const Factor joint = sum_product(std::move(at_rows), plan, keep, lengths, stop);
        std::copy_n(joint.values, m * arity,
                    out.begin() + static_cast<std::ptrdiff_t>(first * arity));
    }
}

// The factor with some nodes fixed, for each of n rows of codes: its other axes, then the rows.
Factor PriorMarginals::at(const Factor& factor, std::span<const Axis> fixed,
                          std::span<const std::uint32_t> codes, std::size_t n) const {
    Factor result{{}, factor.values};
    std::vector<std::size_t> starts(n, 0);  // of each row, in the factor's values
    std::vector<std::size_t> steps;         // of the other axes
    std::size_t step = 1;
    for (std::size_t i = factor.axes.size(); i-- > 0;) {
        const Axis axis = factor.axes[i];
        const auto place = std::find(fixed.begin(), fixed.end(), axis);
        if (place == fixed.end()) {
            result.axes.insert(result.axes.begin(), axis);
            steps.insert(steps.begin(), step);
        } else {
            const auto k = static_cast<std::size_t>(place - fixed.begin());
            for (std::size_t row = 0; row < n; ++row) {
                starts[row] += step * codes[row * fixed.size() + k];
            }
        }
        step *= lengths_[axis];
    }
    if (result.axes.size() == factor.axes.size()) return result;
    std::size_t n_rest = 1;
    for (const Axis axis : result.axes) n_rest *= lengths_[axis];
    result.own = std::make_unique_for_overwrite<double[]>(n_rest * n);
    for (std::size_t rest = 0; rest < n_rest && n > 0; ++rest) {
        std::size_t offset = 0;
        std::size_t left = rest;
        for (std::size_t i = result.axes.size(); i-- > 0;) {
            offset += left % lengths_[result.axes[i]] * steps[i];
            left /= lengths_[result.axes[i]];
        }
        for (std::size_t row = 0; row < n; ++row) {
            result.own[rest * n + row] = factor.values[starts[row] + offset];
        }
    }
    result.axes.push_back(row_axis());
    result.values = result.own.get();
    return result;
}

// Large products are made by one thread at a time, so the forecast for one is that for all.
std::unique_lock<std::mutex> PriorMarginals::wait_for_room(double log2_cells,
                                                           const StopFlag& stop) const {
    std::unique_lock<std::mutex> lock(large_, std::defer_lock);
    while (log2_cells > kLargeLog2Cells && !lock.try_lock()) {
        check(stop);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return lock;
}

}  // namespace bestdag
