#include "search/order_lane.hpp"

#include <algorithm>

#include "search/order_lane_families.hpp"

namespace bestdag {

using namespace order_lane;

namespace {

const Change* find(const std::vector<Change>& changes, std::int32_t node) {
    for (const Change& change : changes) {
        if (change.node == node) return &change;
    }
    return nullptr;
}

}  // namespace

OrderLane::OrderLane(RowReader reader, const Precedences& precedences, double tie, PhiloxKey key)
    : reader_(std::move(reader)), precedences_(precedences), tie_(tie), key_(key) {
    const std::size_t n = precedences.before.size();
    is_dirty_.resize(n);
    children_.resize(n);
    n_waiting_.resize(n);
    home_.families.resize(n);
}

std::uint64_t OrderLane::draw(std::uint64_t below) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{philox4x64(key_, counter_++)[0]} * below >> 64);
}

void OrderLane::sum_up() noexcept {
    state_.total = 0.0;
    for (const Family& family : state_.families) state_.total += family.score();
}

// An order that fits the families and the precedences, with the first of those that may come next,
// or any of them.
bool OrderLane::sort_order(OrderState& state, bool at_random) {
    const std::size_t n = state.families.size();
    for (auto& group : children_) group.clear();
    ready_.clear();
    for (std::size_t v = 0; v < n; ++v) {
        const auto& before = precedences_.before[v];
        const NodeSet& parents = state.families[v].parents;
        n_waiting_[v] = static_cast<std::int32_t>(before.size() + parents.size());
        for (const std::int32_t p : parents) {
            children_[number(p)].push_back(static_cast<std::int32_t>(v));
        }
        if (n_waiting_[v] == 0) ready_.push_back(static_cast<std::int32_t>(v));
    }
    state.order.clear();
    state.position.resize(n);
    std::size_t next = 0;
    while (next < ready_.size()) {
        if (at_random) std::swap(ready_[next], ready_[next + draw(ready_.size() - next)]);
        const std::int32_t v = ready_[next++];
        state.position[number(v)] = static_cast<std::int32_t>(state.order.size());
        state.order.push_back(v);
        for (const ParentLists* lists : {&std::as_const(children_), &precedences_.after}) {
            for (const std::int32_t c : (*lists)[number(v)]) {
                if (--n_waiting_[number(c)] == 0) ready_.push_back(c);
            }
        }
    }
    return state.order.size() == n;
}

bool OrderLane::fits(const std::vector<Family>& families) {
    OrderState state;
    state.families = families;
    return sort_order(state, false);
}

void OrderLane::look_up(std::size_t child, Family& family, const StopFlag& stop) {
    family.row = &reader_.at(child, family.parents, kNotKnown, stop);
}

void OrderLane::toggle(std::size_t child, Family& family, std::int32_t node, double score,
                       const StopFlag& stop) {
    const auto place = std::lower_bound(family.parents.begin(), family.parents.end(), node);
    if (place != family.parents.end() && *place == node) {
        family.parents.erase(place);
    } else {
        family.parents.insert(place, node);
    }
    family.row = &reader_.at(child, family.parents, score, stop);
}

// Where a variable may stand: after those that come before it in every order, and so on.
std::pair<std::int32_t, std::int32_t> OrderLane::range_of(std::size_t v) const {
    std::int32_t low = 0, high = static_cast<std::int32_t>(n_nodes()) - 1;
    for (const std::int32_t u : precedences_.before[v]) low = std::max(low, place(number(u)) + 1);
    for (const std::int32_t u : precedences_.after[v]) high = std::min(high, place(number(u)) - 1);
    return {low, high};
}

void OrderLane::shift(std::size_t v, std::int32_t to) {
    const std::int32_t from = place(v);
    const std::int32_t step = to > from ? 1 : -1;
    for (std::int32_t q = from; q != to; q += step) {
        const std::int32_t u = state_.order[number(q + step)];
        state_.order[number(q)] = u;
        state_.position[number(u)] = q;
    }
    state_.order[number(to)] = static_cast<std::int32_t>(v);
    state_.position[v] = to;
}

void OrderLane::touch(std::size_t v) {
    if (!is_dirty_[v]) dirty_.push_back(static_cast<std::int32_t>(v));
    is_dirty_[v] = 1;
}

// Build the family again, starting without parents; keep it when it is better.
void OrderLane::rethink(std::size_t child, const StopFlag& stop) {
    theirs_.parents = reader_.required(child);
    look_up(child, theirs_, stop);
    const std::int32_t here = place(child);
    climb(child, theirs_, [&](std::int32_t x) { return place(number(x)) < here; }, stop);
    if (theirs_.score() > state_.families[child].score() + tie_) {
        state_.families[child] = theirs_;
    }
}

// Move v to this place. Who loses v as a parent or may have it as one has its family grow and
// shrink on; so has v, unless its family there is given.
void OrderLane::move(std::size_t v, std::int32_t to, const Family* family, const StopFlag& stop) {
    const std::int32_t from = place(v);
    const auto node = static_cast<std::int32_t>(v);
    shift(v, to);
    touch(v);
    const std::int32_t first = std::min(from, to), last = std::max(from, to);
    for (std::int32_t q = first; q <= last; ++q) {
        const std::size_t u = number(state_.order[number(q)]);
        if (u == v) continue;
        Family& theirs = state_.families[u];
        if (to < from) {
            if (has(theirs.parents, node)) continue;
            const Change* gain = find(theirs.row->more, node);
            if (!gain) continue;
            toggle(u, theirs, node, gain->score, stop);
        } else {
            if (!has(theirs.parents, node)) continue;
            toggle(u, theirs, node, kNotKnown, stop);
        }
        climb_by_swaps(u, theirs, [&](std::int32_t x) { return place(number(x)) < q; }, stop);
        rethink(u, stop);
        touch(u);
    }
    Family& mine = state_.families[v];
    for (const std::int32_t p : mine.parents) touch(number(p));
    if (family) {
        mine = *family;
    } else {
        std::erase_if(mine.parents, [&](std::int32_t p) { return place(number(p)) > to; });
        look_up(v, mine, stop);
        climb(v, mine, [&](std::int32_t x) { return place(number(x)) < to; }, stop);
    }
    climb_by_swaps(v, mine, [&](std::int32_t x) { return place(number(x)) < to; }, stop);
    rethink(v, stop);
    for (const std::int32_t p : mine.parents) touch(number(p));
}

// Moves v to where that gains most. The scores of others are taken as they are with v more or less,
// and their families grow afterwards: the gain is at least what was counted. The further v goes the
// fewer parents it keeps, or the more children it loses, so the walk ends where what may still come
// cannot make up for it.
bool OrderLane::insert_best(std::size_t v, const StopFlag& stop) {
    const auto node = static_cast<std::int32_t>(v);
    const std::int32_t from = place(v);
    const auto [low, high] = range_of(v);
    const double start = state_.families[v].score();
    double highest = tie_;
    std::int32_t target = from;
    const auto offer = [&](std::int32_t q, double others) {
        if (!(others + (mine_.score() - start) > highest)) return;
        highest = others + (mine_.score() - start);
        target = q;
        best_ = mine_;
    };

    // To the left: v may become a parent of those it passes, and loses those that are its own.
    gains_.clear();
    double to_come = 0.0;
    for (std::int32_t q = from - 1; q >= low; --q) {
        const Family& theirs = state_.families[number(state_.order[number(q)])];
        const Change* const gain = find(theirs.row->more, node);
        gains_.push_back(gain ? gain->score - theirs.score() : 0.0);
        to_come += gains_.back();
    }
    mine_ = state_.families[v];
    double others = 0.0;
    for (std::int32_t q = from - 1; q >= low; --q) {
        if (!(to_come + (mine_.score() - start) > highest)) break;
        const std::int32_t other = state_.order[number(q)];
        const double gain = gains_[number(from - 1 - q)];
        others += gain;
        const bool is_lost = has(mine_.parents, other);
        if (is_lost) {
            toggle(v, mine_, other, kNotKnown, stop);
            climb(v, mine_, [&](std::int32_t x) { return place(number(x)) < q; }, stop);
        }
        if (is_lost || gain > 0.0) offer(q, others);
    }

    // To the right: v may have those it passes as parents, and is lost to those that have it.
    mine_ = state_.families[v];
    climb(v, mine_, [&](std::int32_t x) { return place(number(x)) <= high; }, stop);
    const double most = mine_.score() - start;
    mine_ = state_.families[v];
    others = 0.0;
    for (std::int32_t q = from + 1; q <= high && others + most > highest; ++q) {
        const std::int32_t other = state_.order[number(q)];
        const std::size_t u = number(other);
        const bool is_lost = has(state_.families[u].parents, node);
        if (is_lost) {
            theirs_ = state_.families[u];
            toggle(u, theirs_, node, kNotKnown, stop);
            climb(
                u, theirs_, [&](std::int32_t x) { return x != node && place(number(x)) < q; },
                stop);
            others += theirs_.score() - state_.families[u].score();
        }
        const Change* const gain = find(mine_.row->more, other);
        if (gain) {
            toggle(v, mine_, other, gain->score, stop);
            climb(v, mine_, [&](std::int32_t x) { return place(number(x)) <= q; }, stop);
        }
        if (is_lost || gain) offer(q, others);
    }
    if (target == from) return false;
    const Family chosen = best_;
    move(v, target, &chosen, stop);
    return true;
}

void OrderLane::descend(const StopFlag& stop) {
    for (std::size_t next = 0; next < dirty_.size(); ++next) {
        if (stop.load(std::memory_order_relaxed)) throw Interrupted();
        const std::size_t v = number(dirty_[next]);
        is_dirty_[v] = 0;
        insert_best(v, stop);
    }
    dirty_.clear();
}

void OrderLane::sweep(std::span<const std::int32_t> variables, const StopFlag& stop) {
    state_ = home_;
    dirty_.clear();
    std::fill(is_dirty_.begin(), is_dirty_.end(), std::uint8_t{0});
    for (const std::int32_t v : variables) {
        rethink(number(v), stop);
        touch(number(v));
    }
    descend(stop);
    sum_up();
    if (state_.total >= home_.total) home_ = state_;
    if (home_.total > best_state_.total) best_state_ = home_;
}

}  // namespace bestdag
