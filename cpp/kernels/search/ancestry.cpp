#include "search/ancestry.hpp"

namespace bestdag {

Ancestry::Ancestry(std::size_t n_nodes)
    : n_(n_nodes), n_words_((n_nodes + 63) / 64), bits_(n_ * n_words_), line_(n_words_) {}

bool Ancestry::reset(const ParentLists& parents) {
    std::fill(bits_.begin(), bits_.end(), 0);
    ParentLists children(n_);
    std::vector<std::size_t> waiting(n_), order;
    for (std::size_t node = 0; node < n_; ++node) {
        waiting[node] = parents[node].size();
        if (waiting[node] == 0) order.push_back(node);
        for (const std::int32_t parent : parents[node]) {
            children[static_cast<std::size_t>(parent)].push_back(static_cast<std::int32_t>(node));
        }
    }
    for (std::size_t i = 0; i < order.size(); ++i) {  // grows while it is walked
        gather(order[i], parents);
        for (const std::int32_t child : children[order[i]]) {
            const auto node = static_cast<std::size_t>(child);
            if (--waiting[node] == 0) order.push_back(node);
        }
    }
    return order.size() == n_;
}

void Ancestry::added(std::size_t parent, std::size_t child) {
    std::copy_n(row(parent), n_words_, line_.begin());
    line_[parent / 64] |= std::uint64_t{1} << (parent % 64);
    for (std::size_t node = 0; node < n_; ++node) {
        if (node != child && !reaches(child, node)) continue;
        std::uint64_t* const bits = row(node);
        for (std::size_t w = 0; w < n_words_; ++w) bits[w] |= line_[w];
    }
}

// A node and its descendants, parents first.
void Ancestry::find_below(std::size_t child) {
    // An ancestor has fewer ancestors than its descendants: by their number is an order in which
    // parents come first.
    changed_.clear();
    for (std::size_t node = 0; node < n_; ++node) {
        if (node == child || reaches(child, node)) changed_.emplace_back(n_ancestors(node), node);
    }
    std::sort(changed_.begin(), changed_.end());
}

// The ancestors of a node from those of its parents.
void Ancestry::gather(std::size_t node, const ParentLists& parents) {
    std::uint64_t* const bits = row(node);
    std::fill_n(bits, n_words_, 0);
    for (const std::int32_t number : parents[node]) {
        const auto parent = static_cast<std::size_t>(number);
        const std::uint64_t* const above = row(parent);
        for (std::size_t w = 0; w < n_words_; ++w) bits[w] |= above[w];
        bits[parent / 64] |= std::uint64_t{1} << (parent % 64);
    }
}

std::size_t Ancestry::n_ancestors(std::size_t node) const noexcept {
    std::size_t count = 0;
    for (std::size_t w = 0; w < n_words_; ++w) {
        count += static_cast<std::size_t>(std::popcount(row(node)[w]));
    }
    return count;
}

}  // namespace bestdag
