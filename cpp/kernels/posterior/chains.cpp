#include "posterior/chains.hpp"

#include <algorithm>
#include <cmath>

namespace bestdag {

namespace {

constexpr double kNanosecondsPerStep = 1e5;
constexpr double kHottest = 20.0;                    // temperature of the first step
constexpr std::size_t kStepsBetweenMeetings = 1000;  // of chains that go on beside each other

}  // namespace

Chains::Chains(const ParentWeights& weights, bool over_partitions, std::uint64_t seed,
               std::size_t n_chains, std::uint64_t first)
    : rooms_(weights), over_partitions_(over_partitions) {
    chains_.reserve(n_chains);
    for (std::size_t c = 0; c < n_chains; ++c) {
        chains_.push_back({PartitionChain(rooms_, RandomStream(PhiloxKey{seed, first + c}))});
    }
}

void Chains::go(Walker& walker, double temperature) {
    walker.chain.step(temperature);
    ++walker.n_steps;
}

void Chains::settle(std::size_t n_steps, std::size_t first, std::size_t last,
                    const Execution& execution) {
    const double expected = kNanosecondsPerStep * static_cast<double>(n_chains() * (last - first));
    parallel_for(n_chains(), expected, execution, [&](std::size_t c, const StopFlag& stop) {
        for (std::size_t i = first; i < last; ++i) {
            check(stop);
            const double left = 1.0 - static_cast<double>(i) / static_cast<double>(n_steps);
            go(chains_[c], std::pow(kHottest, left));
        }
    });
}

void Chains::run(std::size_t n_draws, std::size_t n_between, const Execution& execution,
                 std::span<std::uint64_t> structures, std::span<std::int64_t> n_drawn) {
    const std::size_t n_per_dag = n() * n_words();
    std::fill(n_drawn.begin(), n_drawn.end(), 0);
    if (over_partitions_ && is_over_orders_) {
        for (Walker& walker : chains_) walker.chain.turn_to_partitions();
        is_over_orders_ = false;
    }
    const std::size_t at_once = std::max<std::size_t>(1, kStepsBetweenMeetings / n_between);
    for (std::size_t first = 0; first < n_draws; first += at_once) {
        const std::size_t end = std::min(n_draws, first + at_once);
        const double expected =
            kNanosecondsPerStep * static_cast<double>(n_chains() * (end - first) * n_between);
        parallel_for(n_chains(), expected, execution, [&](std::size_t c, const StopFlag& stop) {
            for (std::size_t k = first; k < end; ++k) {
                for (std::size_t i = 0; i < n_between; ++i) {
                    check(stop);
                    go(chains_[c], 1.0);
                }
                chains_[c].chain.draw(structures.subspan((c * n_draws + k) * n_per_dag, n_per_dag));
                n_drawn[c] = static_cast<std::int64_t>(k + 1);
            }
        });
    }
}

Chains::Places Chains::places() const {
    Places places;
    for (const Walker& walker : chains_) places.emplace_back(walker.chain.place(), walker.n_steps);
    return places;
}

void Chains::restore(const Places& places) {
    for (std::size_t c = 0; c < n_chains(); ++c) {
        chains_[c].chain.restore(places[c].first);
        chains_[c].n_steps = places[c].second;
    }
    is_over_orders_ = places.empty() || !places.front().first.over_partitions;
}

std::size_t Chains::n_steps() const noexcept {
    std::size_t sum = 0;
    for (const Walker& walker : chains_) sum += walker.n_steps;
    return sum;
}

std::size_t Chains::n_moved() const noexcept {
    std::size_t sum = 0;
    for (const Walker& walker : chains_) sum += walker.chain.n_moved();
    return sum;
}

}  // namespace bestdag
