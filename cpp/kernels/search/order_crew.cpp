#include "search/order_crew.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>

namespace bestdag {

namespace {

constexpr double kLong = 1e9;            // nanoseconds: worth a thread, so that Ctrl-C is noticed
constexpr std::size_t kSweptAtOnce = 4;  // variables of one lane
constexpr std::size_t kAttemptsAtOnce = 4;                 // of one lane
constexpr double kPerAttempt = 1e4, kPerVariable = 500.0;  // nanoseconds of an attempt, about
constexpr double kTemperatures[] = {0.0, 1.0, 2.0, 4.0};   // in nats, of the lanes
constexpr std::size_t kMostIdle = 64;  // batches without a better structure until all go back

}  // namespace

OrderCrew::OrderCrew(FamilyRules rules, Precedences precedences, double tie, double n_rows,
                     const MakeWorker& make_worker, std::uint64_t seed, std::size_t n_lanes,
                     double max_bytes)
    : rows_(std::move(rules), tie, n_rows),
      precedences_(std::move(precedences)),
      max_bytes_(max_bytes) {
    for (std::size_t i = 0; i < n_lanes; ++i) {
        lanes_.emplace_back(RowReader(rows_, make_worker(stop_)), precedences_, tie,
                            PhiloxKey{seed, i});
    }
}

void OrderCrew::run(const Execution& execution,
                    const std::function<void(std::size_t, OrderLane&, const StopFlag&)>& work) {
    stop_ = false;
    const Execution ours{execution.threads, [&] {
                             if (!execution.should_stop || !execution.should_stop()) return false;
                             stop_ = true;
                             return true;
                         }};
    parallel_for(lanes_.size(), kLong, ours,
                 [&](std::size_t i, const StopFlag&) { work(i, lanes_[i], stop_); });
}

bool OrderCrew::begin(const ParentLists& parents) {
    OrderState state;
    state.families.resize(parents.size());
    for (std::size_t v = 0; v < parents.size(); ++v) state.families[v].parents = parents[v];
    if (!lanes_.front().sort_order(state, false)) return false;
    state.total = -std::numeric_limits<double>::infinity();
    best_ = std::move(state);
    is_settled_ = false;
    to_sweep_.resize(parents.size());
    std::iota(to_sweep_.rbegin(), to_sweep_.rend(), 0);
    return true;
}

// Work out the rows of the best structure, some in each lane, and gather all lanes there.
void OrderCrew::settle(const Execution& execution) {
    is_settled_ = false;
    run(execution, [&](std::size_t i, OrderLane& lane, const StopFlag& stop) {
        for (std::size_t v = i; v < n_nodes(); v += lanes_.size()) {
            lane.look_up(v, best_.families[v], stop);
        }
    });
    best_.total = 0.0;
    for (const auto& family : best_.families) best_.total += family.score();
    for (OrderLane& lane : lanes_) lane.adopt(best_);
    n_idle_ = 0;
    is_settled_ = true;
}

void OrderCrew::list(std::size_t child, ListedSets sets) {
    rows_.list(child, std::move(sets));
    to_sweep_.insert(to_sweep_.begin(), static_cast<std::int32_t>(child));
}

ParentLists OrderCrew::parents() const {
    ParentLists found;
    for (const auto& family : best_.families) found.push_back(family.parents);
    return found;
}

namespace {

OrderPlace place_of(const OrderState& state) {
    OrderPlace place{state.order, {}, state.total};
    for (const auto& family : state.families) place.parents.push_back(family.parents);
    return place;
}

}  // namespace

CrewPlace OrderCrew::place() const {
    CrewPlace place;
    place.best = place_of(best_);
    for (const OrderLane& lane : lanes_) {
        place.lanes.push_back({lane.counter(), place_of(lane.home()), place_of(lane.best())});
    }
    place.n_idle = n_idle_;
    place.is_settled = is_settled_;
    place.to_sweep = to_sweep_;
    place.n_attempts = n_attempts_;
    place.nanoseconds = rows_.nanoseconds();
    place.n_bytes = rows_.n_bytes();
    place.known = rows_.known();
    return place;
}

OrderState OrderCrew::state_at(const OrderPlace& place) const {
    OrderState state;
    state.order = place.order;
    state.position.resize(place.order.size());
    for (std::size_t i = 0; i < place.order.size(); ++i) {
        state.position[static_cast<std::size_t>(place.order[i])] = static_cast<std::int32_t>(i);
    }
    state.families.resize(n_nodes());
    for (std::size_t v = 0; v < place.parents.size(); ++v) {
        state.families[v].parents = place.parents[v];
    }
    state.total = place.total;
    return state;
}

void OrderCrew::look_up(OrderState& state, OrderLane& lane, const StopFlag& stop) {
    for (std::size_t v = 0; v < n_nodes(); ++v) lane.look_up(v, state.families[v], stop);
}

void OrderCrew::restore(const CrewPlace& place, const Execution& execution) {
    rows_.restore(place.known, place.nanoseconds, place.n_bytes);
    best_ = state_at(place.best);
    n_idle_ = place.n_idle;
    to_sweep_ = place.to_sweep;
    n_attempts_ = place.n_attempts;
    is_settled_ = false;
    std::vector<OrderState> homes, bests;
    for (const LanePlace& lane : place.lanes) {
        homes.push_back(state_at(lane.home));
        bests.push_back(state_at(lane.best));
    }
    if (place.is_settled) {
        run(execution, [&](std::size_t i, OrderLane& lane, const StopFlag& stop) {
            look_up(homes[i], lane, stop);
            look_up(bests[i], lane, stop);
        });
        run(execution, [&](std::size_t i, OrderLane& lane, const StopFlag& stop) {
            if (i == 0) look_up(best_, lane, stop);
        });
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        lanes_[i].restore(place.lanes[i].counter, homes[i], bests[i]);
    }
    is_settled_ = place.is_settled;
}

bool OrderCrew::improve(double nanoseconds, const Execution& execution) {
    // Threads beyond one for each lane work for the lanes.
    const int per_lane = std::max(1, execution.threads / static_cast<int>(lanes_.size()));
    for (OrderLane& lane : lanes_) lane.share(per_lane);
    if (!is_settled_) settle(execution);
    const double before = total();
    const double end = rows_.nanoseconds() + nanoseconds;
    double attempts = 0.0;
    const double per_batch = static_cast<double>(kAttemptsAtOnce * lanes_.size()) *
                             (kPerAttempt + kPerVariable * static_cast<double>(n_nodes()));
    while (rows_.nanoseconds() + attempts < end) {
        // Batches may be too short to be polled meanwhile.
        if (execution.should_stop && execution.should_stop()) throw Interrupted();
        if (static_cast<double>(rows_.n_bytes()) > max_bytes_) {
            is_settled_ = false;
            rows_.clear();
        }
        if (!is_settled_) settle(execution);
        try {
            batch(execution);
        } catch (const Interrupted&) {
            merge();
            throw;
        }
        merge();
        attempts += per_batch;
    }
    return total() > before;
}

void OrderCrew::batch(const Execution& execution) {
    if (!to_sweep_.empty()) {
        const std::size_t all = std::min(to_sweep_.size(), kSweptAtOnce * lanes_.size());
        const std::vector<std::int32_t> now(to_sweep_.end() - static_cast<std::ptrdiff_t>(all),
                                            to_sweep_.end());
        run(execution, [&](std::size_t i, OrderLane& lane, const StopFlag& stop) {
            const std::size_t first = std::min(all, i * kSweptAtOnce);
            const std::size_t last = std::min(all, first + kSweptAtOnce);
            lane.sweep(std::span(now).subspan(first, last - first), stop);
        });
        to_sweep_.resize(to_sweep_.size() - all);
        return;
    }
    run(execution, [&](std::size_t number, OrderLane& lane, const StopFlag& stop) {
        for (std::size_t i = 0; i < kAttemptsAtOnce; ++i)
            lane.attempt(kTemperatures[number % std::size(kTemperatures)], stop);
    });
    n_attempts_ += kAttemptsAtOnce * lanes_.size();
}

// The best lane's structure, and on top of it what the others changed where nothing had changed.
void OrderCrew::merge() {
    std::vector<OrderLane*> ranked;
    for (OrderLane& lane : lanes_) ranked.push_back(&lane);
    std::stable_sort(ranked.begin(), ranked.end(), [](const OrderLane* a, const OrderLane* b) {
        return a->best().total > b->best().total;
    });
    if (!(ranked.front()->best().total > best_.total) && ++n_idle_ < kMostIdle) return;
    n_idle_ = 0;
    OrderState merged = ranked.front()->best().total > best_.total ? ranked.front()->best() : best_;
    const std::size_t n = merged.families.size();
    std::vector<std::uint8_t> is_changed(n);
    const auto differs = [&](const OrderState& state, std::size_t v) {
        return state.families[v].parents != best_.families[v].parents;
    };
    for (std::size_t v = 0; v < n; ++v) is_changed[v] = differs(merged, v);
    bool is_new = false;
    for (std::size_t i = 1; i < ranked.size(); ++i) {
        const OrderState& other = ranked[i]->best();
        auto families = merged.families;
        bool is_apart = true;
        for (std::size_t v = 0; v < n && is_apart; ++v) {
            if (!differs(other, v)) continue;
            is_apart = !is_changed[v];
            families[v] = other.families[v];
        }
        double total = 0.0;
        for (const auto& family : families) total += family.score();
        if (!is_apart || !(total > merged.total) || !lanes_.front().fits(families)) continue;
        for (std::size_t v = 0; v < n; ++v) is_changed[v] |= differs(other, v);
        merged.families = std::move(families);
        merged.total = total;
        is_new = true;
    }
    if (is_new) lanes_.front().sort_order(merged, false);
    best_ = std::move(merged);
    for (OrderLane& lane : lanes_) lane.adopt(best_);
}

}  // namespace bestdag
