#include "posterior/parent_weights.hpp"

#include <bit>
#include <stdexcept>

namespace bestdag {

ParentWeights::ParentWeights(std::span<const std::int64_t> begin,
                             std::span<const std::uint64_t> sets, std::span<const double> logs)
    : begin_(begin), sets_(sets), logs_(logs), n_words_((begin.size() + 62) / 64) {
    if (begin.size() < 2 || begin.back() != static_cast<std::int64_t>(logs.size()) ||
        sets.size() != logs.size() * n_words_) {
        throw std::invalid_argument("parent sets: malformed");
    }
}

bool ParentWeights::fits(std::size_t i, SetWords among, SetWords hit) const noexcept {
    const SetWords members = set(i);
    std::uint64_t outside = 0, met = hit ? 0 : 1;
    for (std::size_t w = 0; w < n_words_; ++w) {
        outside |= members[w] & ~among[w];
        if (hit) met |= members[w] & hit[w];
    }
    return outside == 0 && met != 0;
}

double ParentWeights::log_sum_within(std::size_t v, SetWords among, SetWords hit) const noexcept {
    std::size_t i = first(v);
    const std::size_t last = end(v);
    while (i < last && !fits(i, among, hit)) ++i;
    if (i == last || logs_[i] == kLogZero) return kLogZero;
    const double largest = logs_[i];
    // All that are left, each at its largest, would not change the last digit.
    const double least = largest - 38.0 - std::log(static_cast<double>(last - i));
    double sum = 1.0;
    for (++i; i < last && logs_[i] >= least; ++i) {
        if (fits(i, among, hit)) sum += std::exp(logs_[i] - largest);
    }
    return largest + std::log(sum);
}

std::size_t ParentWeights::draw_within(std::size_t v, SetWords among, SetWords hit,
                                       double log_total, double choice) const noexcept {
    std::size_t found = first(v);
    double sum = 0.0;
    for (std::size_t i = first(v); i < end(v) && sum < choice; ++i) {
        if (!fits(i, among, hit)) continue;
        sum += std::exp(logs_[i] - log_total);
        found = i;  // the last one where rounding leaves the sum short
    }
    return found;
}

void add_families(const ParentWeights& weights, std::size_t v, const double* around,
                  double log_total, std::span<double> sets, std::span<double> arcs,
                  const StopFlag& stop) {
    const std::size_t n = weights.n();
    for (std::size_t u = 0; u < n; ++u) arcs[u * n + v] = 0.0;
    for (std::size_t i = weights.first(v); i < weights.end(v); ++i) {
        if (i % kSetsBetweenLooks == 0) check(stop);
        const std::uint64_t set = *weights.set(i);
        sets[i] = std::exp(weights.log_weight(i) + around[without_place(set, v)] - log_total);
        for (std::uint64_t left = set; left != 0; left &= left - 1) {
            arcs[static_cast<std::size_t>(std::countr_zero(left)) * n + v] += sets[i];
        }
    }
}

}  // namespace bestdag
