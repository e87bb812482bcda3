#include "graphs/graph_chain.hpp"

#include <algorithm>
#include <utility>

namespace bestdag {
namespace {

constexpr std::uint64_t kStepsBetweenChecks = 64;  // of steps that decide no width

bool test(const std::vector<std::uint64_t>& set, std::size_t i) {
    return set[i / 64] >> i % 64 & 1;
}

}  // namespace

GraphChain::GraphChain(std::size_t n, const GraphLimits& limits, PhiloxKey key)
    : n_(n),
      limits_(limits),
      key_(key),
      children_(n),
      joined_(n),
      n_parents_(n, 0),
      degree_(n, 0),
      reached_((n + 63) / 64) {
    for (std::size_t i = 0; i + 1 < n; ++i) add(i, i + 1);
}

void GraphChain::run(std::uint64_t n_steps, const StopFlag& stop) {
    if (n_ < 2) return;
    const bool has_width = limits_.width != GraphLimits::kNoLimit;
    for (std::uint64_t k = 0; k < n_steps; ++k) {
        if (has_width || k % kStepsBetweenChecks == 0) check(stop);
        step();
    }
}

std::vector<std::int32_t> GraphChain::arcs() const {
    std::vector<std::int32_t> found;
    for (std::size_t i = 0; i < n_; ++i) {
        children_.each(i, [&](std::size_t j) {
            found.push_back(static_cast<std::int32_t>(i));
            found.push_back(static_cast<std::int32_t>(j));
        });
    }
    return found;
}

void GraphChain::step() {
    const std::size_t i = draw_below(n_);
    std::size_t j = draw_below(n_ - 1);
    j += j >= i;
    const std::uint64_t bits = draw();
    if (bits & 1) {
        change_arc(i, j);
    } else if (n_arcs_ + 1 == n_) {
        move_tree(i, j, bits & 2);
    }
}

void GraphChain::change_arc(std::size_t i, std::size_t j) {
    if (children_.has(i, j)) {
        if (is_connected_without(i, j)) remove(i, j);
    } else if (!joined_.has(i, j) && degree_[i] < limits_.degree && degree_[j] < limits_.degree &&
               n_parents_[j] < limits_.parents && !leads_to(j, i)) {
        add(i, j);
        if (!is_narrow()) remove(i, j);
    }
}

void GraphChain::move_tree(std::size_t i, std::size_t j, bool is_towards_j) {
    const std::size_t k = last_before(i, j);
    const bool was_towards_j = children_.has(k, j);
    was_towards_j ? remove(k, j) : remove(j, k);
    const std::size_t parent = is_towards_j ? i : j, child = is_towards_j ? j : i;
    add(parent, child);
    if (is_within(parent, child) && is_narrow()) return;
    remove(parent, child);
    was_towards_j ? add(k, j) : add(j, k);
}

void GraphChain::add(std::size_t parent, std::size_t child) {
    children_.set(parent, child);
    joined_.join(parent, child);
    ++degree_[parent];
    ++degree_[child];
    ++n_parents_[child];
    ++n_arcs_;
}

void GraphChain::remove(std::size_t parent, std::size_t child) {
    children_.unset(parent, child);
    joined_.unset(parent, child);
    joined_.unset(child, parent);
    --degree_[parent];
    --degree_[child];
    --n_parents_[child];
    --n_arcs_;
}

// Whether the ends of a new arc obey the limits.
bool GraphChain::is_within(std::size_t parent, std::size_t child) {
    return degree_[parent] <= limits_.degree && degree_[child] <= limits_.degree &&
           n_parents_[child] <= limits_.parents;
}

bool GraphChain::is_narrow() {
    if (limits_.width == GraphLimits::kNoLimit) return true;
    for (const std::size_t count : n_parents_) {
        if (count > limits_.width) return false;  // a family is a clique
    }
    std::vector<std::vector<std::size_t>> parents(n_);
    BitGraph moral = joined_;
    for (std::size_t i = 0; i < n_; ++i) {
        children_.each(i, [&](std::size_t j) {
            for (const std::size_t other : parents[j]) moral.join(i, other);
            parents[j].push_back(i);
        });
    }
    const Width found = bounded_width(std::move(moral), limits_.width);
    n_undecided_ += found == Width::kUndecided;
    return found == Width::kNarrow;
}

// Whether a directed path goes from one node to another.
bool GraphChain::leads_to(std::size_t from, std::size_t to) {
    std::fill(reached_.begin(), reached_.end(), 0);
    waiting_.assign(1, from);
    while (!waiting_.empty()) {
        const std::size_t v = waiting_.back();
        waiting_.pop_back();
        if (children_.has(v, to)) return true;
        children_.each(v, [&](std::size_t u) {
            if (!test(reached_, u)) {
                reached_[u / 64] |= std::uint64_t{1} << u % 64;
                waiting_.push_back(u);
            }
        });
    }
    return false;
}

// The last node before `to` on a way from `from`, whatever the directions; n when there is none.
std::size_t GraphChain::last_before(std::size_t from, std::size_t to) {
    std::fill(reached_.begin(), reached_.end(), 0);
    reached_[from / 64] |= std::uint64_t{1} << from % 64;
    waiting_.assign(1, from);
    while (!waiting_.empty()) {
        const std::size_t v = waiting_.back();
        waiting_.pop_back();
        if (joined_.has(v, to)) return v;
        joined_.each(v, [&](std::size_t u) {
            if (!test(reached_, u)) {
                reached_[u / 64] |= std::uint64_t{1} << u % 64;
                waiting_.push_back(u);
            }
        });
    }
    return n_;
}

bool GraphChain::is_connected_without(std::size_t i, std::size_t j) {
    if (n_arcs_ + 1 == n_) return false;  // a tree
    joined_.unset(i, j);
    joined_.unset(j, i);
    const bool is_connected = last_before(i, j) < n_;
    joined_.join(i, j);
    return is_connected;
}

std::uint64_t GraphChain::draw() {
    if (n_used_ == block_.size()) {
        block_ = philox4x64(key_, counter_++);
        n_used_ = 0;
    }
    return block_[n_used_++];
}

// A number below the bound, each with the same probability (Lemire 2019).
std::size_t GraphChain::draw_below(std::size_t bound) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t range = bound;
    Wide product = static_cast<Wide>(draw()) * range;
    if (static_cast<std::uint64_t>(product) < range) {
        const std::uint64_t least = (0 - range) % range;
        while (static_cast<std::uint64_t>(product) < least) {
            product = static_cast<Wide>(draw()) * range;
        }
    }
    return static_cast<std::size_t>(product >> 64);
}

}  // namespace bestdag
