#include "search/order_search.hpp"

#include <algorithm>
#include <stdexcept>

namespace bestdag {
namespace {

// A move must gain this share of the cost: smaller gains are rounding noise between equal networks.
constexpr double kMinGain = 1e-12;

void set_bit(Word* mask, std::int32_t bit) noexcept { mask[bit / 64] |= Word{1} << (bit % 64); }
void clear_bit(Word* mask, std::int32_t bit) noexcept {
    mask[bit / 64] &= ~(Word{1} << (bit % 64));
}

}  // namespace

OrderSearch::OrderSearch(const ChoiceSets& sets, std::uint64_t seed)
    : sets_(sets), random_(seed * 0x9E3779B97F4A7C15ULL + 0x1234567ULL) {
    const std::size_t n = sets.n_variables();
    before_start_.assign(n + 1, 0);
    neighbours_.resize(n);
    is_dirty_.assign(n, 0);
    std::size_t most_words = 1;
    penalty_ = 1.0;
    for (std::size_t v = 0; v < n; ++v) {
        before_start_[v + 1] = before_start_[v] + sets.words(v);
        most_words = std::max(most_words, sets.words(v));
        penalty_ += sets.cost(sets.last(v) - 1);
        for (std::size_t u = 0; u < n; ++u) {
            if (sets.bit(v, u) >= 0 || sets.bit(u, v) >= 0) neighbours_[v].push_back(u);
        }
    }
    penalty_ *= 2.0;
    scratch_.resize(2 * most_words);

    std::vector<std::size_t> order;
    std::vector<std::uint8_t> placed(n, 0);
    std::vector<Word> mask(most_words);
    for (bool progress = true; progress;) {
        progress = false;
        for (std::size_t v = 0; v < n; ++v) {
            if (placed[v]) continue;
            sets.localise(v, placed, mask.data());
            if (first_fit(v, mask.data(), sets.first(v), sets.last(v)) == sets.last(v)) continue;
            placed[v] = 1;
            order.push_back(v);
            progress = true;
        }
    }
    feasible_ = order.size() == n;
    for (std::size_t v = 0; v < n; ++v) {
        if (!placed[v]) order.push_back(v);
    }
    load(order);
    home_ = state_;
    best_cost_ = state_.cost;
    best_choice_ = state_.choice;
}

std::size_t OrderSearch::first_fit(std::size_t child, const Word* before, std::size_t from,
                                   std::size_t until) const noexcept {
    const std::size_t words = sets_.words(child);
    if (from >= until) return until;
    const Word* mask = sets_.mask(from);
    if (words == 1) {
        const Word absent = ~before[0];
        for (std::size_t f = from; f < until; ++f, ++mask) {
            if (!(*mask & absent)) return f;
        }
        return until;
    }
    for (std::size_t f = from; f < until; ++f, mask += words) {
        if (is_subset(mask, before, words)) return f;
    }
    return until;
}

bool OrderSearch::uses(std::size_t child, std::size_t set, std::size_t parent) const noexcept {
    if (set == sets_.last(child)) return true;
    const std::int32_t bit = sets_.bit(child, parent);
    return bit >= 0 && (sets_.mask(set)[bit / 64] >> (bit % 64) & 1) != 0;
}

void OrderSearch::load(std::span<const std::size_t> order) {
    const std::size_t n = sets_.n_variables();
    state_.order.assign(order.begin(), order.end());
    state_.position.assign(n, 0);
    state_.before.assign(before_start_[n], 0);
    state_.choice.assign(n, 0);
    state_.cost = 0.0;
    std::vector<std::uint8_t> placed(n, 0);
    for (std::size_t p = 0; p < n; ++p) {
        const std::size_t v = order[p];
        state_.position[v] = p;
        Word* before = state_.before.data() + before_start_[v];
        sets_.localise(v, placed, before);
        state_.choice[v] = first_fit(v, before, sets_.first(v), sets_.last(v));
        state_.cost += cost_of(v, state_.choice[v]);
        placed[v] = 1;
    }
}

void OrderSearch::move(std::size_t v, std::size_t to) {
    const std::size_t from = state_.position[v];
    Word* before_v = state_.before.data() + before_start_[v];
    const bool left = to < from;
    for (std::size_t p = from; p != to;) {
        const std::size_t q = left ? p - 1 : p + 1;
        const std::size_t u = state_.order[q];
        state_.order[p] = u;
        state_.position[u] = p;
        p = q;
        if (const std::int32_t bit = sets_.bit(u, v); bit >= 0) {
            Word* before_u = state_.before.data() + before_start_[u];
            if (left) {
                set_bit(before_u, bit);
                state_.choice[u] = first_fit(u, before_u, sets_.first(u), state_.choice[u]);
            } else {
                clear_bit(before_u, bit);
                if (uses(u, state_.choice[u], v)) {
                    state_.choice[u] = first_fit(u, before_u, sets_.first(u), sets_.last(u));
                }
            }
        }
        if (const std::int32_t bit = sets_.bit(v, u); bit >= 0) {
            if (left) {
                clear_bit(before_v, bit);
            } else {
                set_bit(before_v, bit);
            }
        }
    }
    state_.order[to] = v;
    state_.position[v] = to;
    state_.choice[v] = first_fit(v, before_v, sets_.first(v), sets_.last(v));
    state_.cost = 0.0;
    for (std::size_t u = 0; u < sets_.n_variables(); ++u)
        state_.cost += cost_of(u, state_.choice[u]);
}

bool OrderSearch::move_to_best_position(std::size_t v) {
    const std::size_t from = state_.position[v];
    const std::size_t words = sets_.words(v);
    Word* mine = scratch_.data();
    Word* theirs = scratch_.data() + scratch_.size() / 2;
    const Word* before_v = state_.before.data() + before_start_[v];
    const double start = cost_of(v, state_.choice[v]);
    double best = -kMinGain * (state_.cost + 1e-300);
    std::size_t target = from;

    // Only passing a neighbour changes anything.
    places_.clear();
    for (const std::size_t u : neighbours_[v]) places_.push_back(state_.position[u]);
    std::sort(places_.begin(), places_.end());
    const auto after = static_cast<std::size_t>(
        std::lower_bound(places_.begin(), places_.end(), from) - places_.begin());

    for (const bool left : {true, false}) {
        std::copy_n(before_v, words, mine);
        std::size_t chosen = state_.choice[v];
        double others = 0.0;
        const std::size_t steps = left ? after : places_.size() - after;
        for (std::size_t step = 0; step < steps; ++step) {
            const std::size_t q = places_[left ? after - 1 - step : after + step];
            const std::size_t u = state_.order[q];
            const std::int32_t in_u = sets_.bit(u, v);
            const std::int32_t in_v = sets_.bit(v, u);
            if (in_u >= 0 && (left || uses(u, state_.choice[u], v))) {
                std::copy_n(state_.before.data() + before_start_[u], sets_.words(u), theirs);
                const std::size_t old = state_.choice[u];
                std::size_t now = old;
                if (left) {
                    set_bit(theirs, in_u);
                    now = first_fit(u, theirs, sets_.first(u), old);
                } else {
                    clear_bit(theirs, in_u);
                    now = first_fit(u, theirs, std::min(old + 1, sets_.last(u)), sets_.last(u));
                }
                if (now != old) others += cost_of(u, now) - cost_of(u, old);
            }
            if (in_v >= 0) {
                if (left) {
                    clear_bit(mine, in_v);
                    if (chosen != sets_.last(v) && uses(v, chosen, u)) {
                        chosen = first_fit(v, mine, chosen + 1, sets_.last(v));
                    }
                } else {
                    set_bit(mine, in_v);
                    chosen = first_fit(v, mine, sets_.first(v), chosen);
                }
            }
            const double change = others + cost_of(v, chosen) - start;
            if (change < best) {
                best = change;
                target = q;
            }
        }
    }
    if (target == from) return false;
    move(v, target);
    return true;
}

void OrderSearch::adopt(const OrderSearch& other) {
    home_ = other.home_;
    state_ = home_;
    keep_best();
}

OrderSearchPlace OrderSearch::place() const {
    return {home_.order, home_.cost, best_choice_, best_cost_, random_};
}

void OrderSearch::restore(const OrderSearchPlace& place) {
    load(place.order);
    state_.cost = place.home_cost;  // sums depend on their order
    home_ = state_;
    best_choice_ = place.best_choice;
    best_cost_ = place.best_cost;
    random_ = place.random;
}

void OrderSearch::descend(std::vector<std::size_t>& dirty, const StopFlag& stop) {
    for (const std::size_t v : dirty) is_dirty_[v] = 1;
    for (std::size_t next = 0; next < dirty.size(); ++next) {
        if (stop.load(std::memory_order_relaxed)) break;
        const std::size_t v = dirty[next];
        is_dirty_[v] = 0;
        if (!move_to_best_position(v)) continue;
        for (const std::size_t u : neighbours_[v]) {
            if (!is_dirty_[u]) {
                is_dirty_[u] = 1;
                dirty.push_back(u);
            }
        }
    }
    std::fill(is_dirty_.begin(), is_dirty_.end(), std::uint8_t{0});
}

bool OrderSearch::keep_best() {
    if (!(state_.cost < best_cost_)) return false;
    best_cost_ = state_.cost;
    best_choice_ = state_.choice;
    return true;
}

bool OrderSearch::descend_from(std::span<const std::int32_t> order, const StopFlag& stop) {
    const std::size_t n = sets_.n_variables();
    std::vector<std::size_t> dirty(order.begin(), order.end());
    std::vector<std::size_t> sorted(dirty);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t v = 0; v < sorted.size(); ++v) {
        if (sorted[v] != v) sorted.clear();
    }
    if (sorted.size() != n) throw std::invalid_argument("the order must name every variable once");
    load(dirty);
    descend(dirty, stop);
    if (state_.cost <= home_.cost) home_ = state_;
    return keep_best();
}

bool OrderSearch::descend_from_random(const StopFlag& stop) {
    std::vector<std::size_t> order(sets_.n_variables());
    for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw(i)]);
    load(order);
    descend(order, stop);
    home_ = state_;
    return keep_best();
}

bool OrderSearch::improve(std::int64_t rounds, const StopFlag& stop) {
    const std::size_t n = sets_.n_variables();
    bool improved = false;
    if (n < 2) return improved;
    std::vector<std::size_t> dirty;
    for (std::int64_t round = 0; round < rounds && !stop.load(std::memory_order_relaxed); ++round) {
        state_ = home_;
        dirty.clear();
        const std::uint64_t moves = 1 + draw(4);
        std::size_t v = n;
        for (std::uint64_t i = 0; i < moves; ++i) {
            // Often a variable near the last one: what is far apart is improved one by one anyway.
            const bool is_near = v < n && !neighbours_[v].empty() && draw(2) == 0;
            v = is_near ? neighbours_[v][draw(neighbours_[v].size())] : draw(n);
            const auto& others = neighbours_[v];
            if (others.empty()) continue;
            move(v, state_.position[others[draw(others.size())]]);
            dirty.push_back(v);
            dirty.insert(dirty.end(), others.begin(), others.end());
        }
        std::sort(dirty.begin(), dirty.end());
        dirty.erase(std::unique(dirty.begin(), dirty.end()), dirty.end());
        for (std::size_t i = dirty.size(); i > 1; --i) std::swap(dirty[i - 1], dirty[draw(i)]);
        descend(dirty, stop);
        if (state_.cost <= home_.cost * (1.0 + kMinGain)) home_ = state_;
        improved = keep_best() || improved;
    }
    return improved;
}

std::uint64_t OrderSearch::draw(std::uint64_t below) noexcept {
    random_ += 0x9E3779B97F4A7C15ULL;  // splitmix64
    std::uint64_t z = random_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31)) % below;
}

}  // namespace bestdag
