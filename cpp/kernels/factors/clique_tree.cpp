#include "factors/clique_tree.hpp"

#include <algorithm>
#include <cmath>

namespace bestdag {

namespace {

// A question to a tree of fewer cells takes less time than a second plan.
constexpr double kCheap = 1u << 16;
constexpr std::size_t kRounds = 4;

double product(std::span<const Axis> axes, std::span<const std::uint32_t> lengths) {
    double cells = 1.0;
    for (const Axis axis : axes) cells *= lengths[axis];
    return cells;
}

}  // namespace

CliqueTree::CliqueTree(std::span<const std::uint32_t> lengths,
                       std::span<const std::vector<Axis>> scopes, const StopFlag* stop)
    : lengths_(lengths.begin(), lengths.end()),
      homes_(lengths.size(), kNowhere),
      eliminated_in_(lengths.size(), kNowhere),
      positions_(lengths.size(), kNowhere) {
    std::vector<Factor> factors;
    factors.reserve(scopes.size());
    for (const std::vector<Axis>& scope : scopes) {
        Factor& factor = factors.emplace_back();
        for (const Axis axis : scope) {
            if (lengths[axis] > 1) factor.axes.push_back(axis);
        }
    }
    std::vector<double> bits;
    bits.reserve(lengths.size());
    for (const std::uint32_t length : lengths) bits.push_back(std::log2(length));
    const std::vector<Axis> order =
        plan_elimination(factors, {}, bits, bits, kCheap, kRounds, stop).order;
    for (std::size_t i = 0; i < order.size(); ++i) {
        positions_[order[i]] = static_cast<std::uint32_t>(i);
    }
    // What each axis meets when it is summed out, the last summed out first, itself last.
    std::vector<std::vector<Axis>> met = elimination_cliques(factors, order, lengths.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::sort(met[i].begin(), met[i].end(),
                  [&](Axis a, Axis b) { return positions_[a] > positions_[b]; });
        met[i].push_back(order[i]);
    }
    // A clique that is all of what another one leaves to it becomes one with it.
    std::vector<std::size_t> tails;  // of each clique, the position of its last elimination
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::uint32_t& here = eliminated_in_[order[i]];
        if (here == kNowhere) {
            here = static_cast<std::uint32_t>(cliques_.size());
            cliques_.push_back({met[i], 0, -1, {}});
            tails.push_back(i);
        }
        tails[here] = i;
        if (met[i].size() == 1) continue;
        const Axis next = met[i][met[i].size() - 2];
        if (met[positions_[next]].size() + 1 == met[i].size() && eliminated_in_[next] == kNowhere) {
            eliminated_in_[next] = here;
        }
    }
    for (std::uint32_t c = 0; c < cliques_.size(); ++c) {
        const std::vector<Axis>& last = met[tails[c]];
        cliques_[c].n_separator = last.size() - 1;
        if (last.size() > 1) {
            const std::uint32_t parent = eliminated_in_[last[last.size() - 2]];
            cliques_[c].parent = static_cast<std::int32_t>(parent);
        }
    }
    // Children before parents: a clique may have got its number before a child did.
    std::vector<std::uint32_t> sequence(cliques_.size());
    for (std::uint32_t c = 0; c < cliques_.size(); ++c) sequence[c] = c;
    std::sort(sequence.begin(), sequence.end(),
              [&](std::uint32_t a, std::uint32_t b) { return tails[a] < tails[b]; });
    std::vector<std::uint32_t> numbers(cliques_.size());
    for (std::uint32_t i = 0; i < sequence.size(); ++i) numbers[sequence[i]] = i;
    std::vector<Clique> sorted;
    sorted.reserve(cliques_.size());
    for (const std::uint32_t c : sequence) sorted.push_back(std::move(cliques_[c]));
    cliques_ = std::move(sorted);
    for (std::uint32_t& where : eliminated_in_) {
        if (where != kNowhere) where = numbers[where];
    }
    for (std::uint32_t c = 0; c < cliques_.size(); ++c) {
        Clique& clique = cliques_[c];
        if (clique.parent >= 0) {
            clique.parent =
                static_cast<std::int32_t>(numbers[static_cast<std::size_t>(clique.parent)]);
            cliques_[static_cast<std::size_t>(clique.parent)].children.push_back(c);
        }
        cells_.push_back(product(clique.axes, lengths_));
        separator_cells_.push_back(
            product(std::span(clique.axes).first(clique.n_separator), lengths_));
        total_cells_ += cells_.back();
        total_separator_cells_ += separator_cells_.back();
        if (cells_[c] > cells_[largest_]) largest_ = c;
        for (const Axis axis : clique.axes) {
            if (homes_[axis] == kNowhere || cells_[c] < cells_[homes_[axis]]) homes_[axis] = c;
        }
    }
}

std::uint32_t CliqueTree::clique_of(std::span<const Axis> axes) const {
    if (axes.empty()) return kNowhere;
    // Axes that meet anywhere meet where the first of them is summed out.
    const Axis first = *std::min_element(
        axes.begin(), axes.end(), [&](Axis a, Axis b) { return positions_[a] < positions_[b]; });
    const std::uint32_t clique = eliminated_in_[first];
    if (clique == kNowhere) return kNowhere;
    const std::vector<Axis>& members = cliques_[clique].axes;
    const bool is_inside = std::all_of(axes.begin(), axes.end(), [&](Axis axis) {
        return std::find(members.begin(), members.end(), axis) != members.end();
    });
    return is_inside ? clique : kNowhere;
}

}  // namespace bestdag
