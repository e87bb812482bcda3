#include "search/order_chains.hpp"

#include <algorithm>

namespace bestdag {
namespace {

constexpr double kLong = 1e9;  // nanoseconds: worth a thread, so that Ctrl-C is noticed

}  // namespace

OrderChains::OrderChains(const ChoiceSets& sets, std::uint64_t seed, std::size_t n_chains) {
    chains_.reserve(n_chains);
    for (std::size_t i = 0; i < n_chains; ++i) chains_.emplace_back(sets, seed * n_chains + i);
}

const OrderSearch& OrderChains::best() const noexcept {
    return *std::min_element(
        chains_.begin(), chains_.end(),
        [](const OrderSearch& a, const OrderSearch& b) { return a.best_cost() < b.best_cost(); });
}

std::vector<OrderSearchPlace> OrderChains::places() const {
    std::vector<OrderSearchPlace> places;
    for (const OrderSearch& chain : chains_) places.push_back(chain.place());
    return places;
}

void OrderChains::restore(std::span<const OrderSearchPlace> places) {
    for (std::size_t i = 0; i < chains_.size(); ++i) chains_[i].restore(places[i]);
}

void OrderChains::descend_from(std::span<const std::int32_t> order, const Execution& execution) {
    parallel_for(1, kLong, execution, [&](std::size_t, const StopFlag& stop) {
        chains_.front().descend_from(order, stop);
    });
    for (std::size_t i = 1; i < chains_.size(); ++i) chains_[i].adopt(chains_.front());
}

void OrderChains::scatter(const Execution& execution) {
    parallel_for(chains_.size() - 1, kLong, execution, [&](std::size_t i, const StopFlag& stop) {
        chains_[i + 1].descend_from_random(stop);
    });
}

void OrderChains::improve(std::int64_t rounds, const Execution& execution) {
    const auto [least, most] = std::minmax_element(
        chains_.begin(), chains_.end(),
        [](const OrderSearch& a, const OrderSearch& b) { return a.home_cost() < b.home_cost(); });
    if (least->home_cost() < most->home_cost()) most->adopt(*least);
    parallel_for(chains_.size(), kLong, execution,
                 [&](std::size_t i, const StopFlag& stop) { chains_[i].improve(rounds, stop); });
}

}  // namespace bestdag
