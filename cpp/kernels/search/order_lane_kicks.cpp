// Disturbing an order and what fits it, and searching on from there.
#include <algorithm>
#include <cmath>

#include "search/order_lane_families.hpp"

namespace bestdag {

using namespace order_lane;

namespace {

constexpr std::uint64_t kMostMoves = 4;  // of a disturbance
constexpr std::uint64_t kCutsOneIn = 4;  // disturbances

}  // namespace

void OrderLane::attempt(double temperature, const StopFlag& stop) {
    state_ = home_;
    dirty_.clear();
    std::fill(is_dirty_.begin(), is_dirty_.end(), std::uint8_t{0});
    if (draw(2) == 0) shuffle_order();
    kick(stop);
    for (std::size_t i = dirty_.size(); i > 1; --i) std::swap(dirty_[i - 1], dirty_[draw(i)]);
    descend(stop);
    sum_up();
    // As Metropolis does: a loss of some nats may lead on.
    const double share = static_cast<double>((draw(~std::uint64_t{0}) >> 11) + 1) * 0x1p-53;
    if (state_.total >= home_.total - tie_ + temperature * std::log(share)) home_ = state_;
    if (home_.total > best_state_.total) best_state_ = home_;
}

void OrderLane::shuffle_order() { sort_order(state_, true); }

// Who is, was or could become a parent or a child of v.
void OrderLane::gather_neighbours(std::size_t v) {
    const auto node = static_cast<std::int32_t>(v);
    const Family& mine = state_.families[v];
    neighbours_.assign(mine.parents.begin(), mine.parents.end());
    for (const Change& change : mine.row->more) neighbours_.push_back(change.node);
    for (std::size_t u = 0; u < n_nodes(); ++u) {
        if (has(state_.families[u].parents, node))
            neighbours_.push_back(static_cast<std::int32_t>(u));
    }
}

void OrderLane::kick(const StopFlag& stop) {
    const std::size_t n = n_nodes();
    const std::uint64_t moves = 1 + draw(kMostMoves);
    const bool cuts = draw(kCutsOneIn) == 0;
    std::size_t v = draw(n);
    for (std::uint64_t i = 0; i < moves; ++i) {
        gather_neighbours(v);
        // Often a variable near the last one: what is far apart is improved one by one anyway.
        if (i > 0) {
            v = neighbours_.empty() || draw(2) == 0 ? draw(n)
                                                    : number(neighbours_[draw(neighbours_.size())]);
            gather_neighbours(v);
        }
        if (cuts) {
            cut_loose(v, stop);
        } else if (!neighbours_.empty()) {
            const auto [low, high] = range_of(v);
            const auto there = place(number(neighbours_[draw(neighbours_.size())]));
            const std::int32_t to = std::clamp(there, low, high);
            if (to != place(v)) move(v, to, nullptr, stop);
            for (const std::int32_t u : neighbours_) touch(number(u));
        }
    }
}

// Take all arcs of a variable away, as far as they may go, and let the others grow without it.
void OrderLane::cut_loose(std::size_t v, const StopFlag& stop) {
    const auto node = static_cast<std::int32_t>(v);
    for (std::size_t u = 0; u < n_nodes(); ++u) {
        Family& theirs = state_.families[u];
        if (u == v || !has(theirs.parents, node) || has(reader_.required(u), node)) continue;
        toggle(u, theirs, node, kNotKnown, stop);
        const std::int32_t here = place(u);
        climb(
            u, theirs, [&](std::int32_t x) { return x != node && place(number(x)) < here; }, stop);
        touch(u);
    }
    Family& mine = state_.families[v];
    for (const std::int32_t p : mine.parents) touch(number(p));
    mine.parents = reader_.required(v);
    look_up(v, mine, stop);
    const auto [low, high] = range_of(v);
    const auto to =
        low + static_cast<std::int32_t>(draw(static_cast<std::uint64_t>(high - low) + 1));
    if (to != place(v)) move(v, to, nullptr, stop);
    touch(v);
}

}  // namespace bestdag
