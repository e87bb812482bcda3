// How the family of one variable grows and shrinks among the variables that are open to it. For the
// files of OrderLane alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "search/order_lane.hpp"

namespace bestdag {

namespace order_lane {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::size_t kMostListed = 1000;  // sets that are looked at, of each child

inline bool has(const NodeSet& set, std::int32_t node) {
    return std::binary_search(set.begin(), set.end(), node);
}

inline std::size_t number(std::int32_t node) { return static_cast<std::size_t>(node); }

}  // namespace order_lane

template <class IsOpen>
void OrderLane::climb(std::size_t child, Family& family, const IsOpen& is_open,
                      const StopFlag& stop) {
    for (;;) {
        const Change* best = nullptr;
        for (const Change& change : family.row->more) {
            if (is_open(change.node)) {
                best = &change;
                break;
            }
        }
        if (!best) {
            const auto& fewer = reader_.fewer(child, family.parents, *family.row, stop);
            if (!fewer.empty()) best = &fewer.front();
        }
        if (best) {
            toggle(child, family, best->node, best->score, stop);
        } else if (!take_listed(child, family, is_open, stop)) {
            return;
        }
    }
}

// Take the best listed set that is open, if it is a better one.
template <class IsOpen>
bool OrderLane::take_listed(std::size_t child, Family& family, const IsOpen& is_open,
                            const StopFlag& stop) {
    const ListedSets& listed = reader_.listed(child);
    const std::size_t n_sets = std::min(listed.size(), order_lane::kMostListed);
    for (std::size_t i = 0; i < n_sets; ++i) {
        if (!(listed.scores[i] > family.score() + tie_)) return false;
        const auto set = listed.set(i);
        if (!std::all_of(set.begin(), set.end(), is_open)) continue;
        family.parents.assign(set.begin(), set.end());
        look_up(child, family, stop);
        return family.score() > listed.scores[i] - tie_;
    }
    return false;
}

// As climb, and on by exchanging one parent for another.
template <class IsOpen>
void OrderLane::climb_by_swaps(std::size_t child, Family& family, const IsOpen& is_open,
                               const StopFlag& stop) {
    for (;;) {
        climb(child, family, is_open, stop);
        double highest = family.score() + tie_;
        std::int32_t leaves = -1;
        for (const std::int32_t p : family.parents) {
            if (order_lane::has(reader_.required(child), p)) continue;
            swapped_.parents = family.parents;
            toggle(child, swapped_, p, order_lane::kNotKnown, stop);
            for (const Change& change : swapped_.row->more) {
                if (!(change.score > highest)) break;
                if (change.node == p || !is_open(change.node)) continue;
                highest = change.score;
                leaves = p;
                break;
            }
        }
        if (leaves < 0) return;
        toggle(child, family, leaves, order_lane::kNotKnown, stop);
    }
}

}  // namespace bestdag
