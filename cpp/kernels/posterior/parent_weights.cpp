#include "posterior/parent_weights.hpp"

#include <algorithm>
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

// Whether one of the next sets, each a word, may fit: most groups have none, and are passed over.
bool ParentWeights::has_fitting(std::size_t i, SetWords among, SetWords hit) const noexcept {
    const std::uint64_t outside = ~*among, wanted = hit ? *hit : 0;
    const std::uint64_t* const words = sets_.data() + i;
    std::uint64_t found = 0;
    if (hit) {
        for (std::size_t k = 0; k < kAtOnce; ++k) {
            found |=
                static_cast<std::uint64_t>((words[k] & outside) == 0 && (words[k] & wanted) != 0);
        }
    } else {
        for (std::size_t k = 0; k < kAtOnce; ++k) {
            found |= static_cast<std::uint64_t>((words[k] & outside) == 0);
        }
    }
    return found != 0;
}

// Visit the sets that fit, by descending weight, until visit(number) is false.
template <class Visit>
void ParentWeights::each_fitting(std::size_t v, SetWords among, SetWords hit,
                                 const Visit& visit) const {
    const std::size_t last = end(v);
    for (std::size_t i = first(v); i < last;) {
        const std::size_t next = std::min(i + kAtOnce, last);
        if (n_words_ > 1 || next - i < kAtOnce || has_fitting(i, among, hit)) {
            for (; i < next; ++i) {
                if (fits(i, among, hit) && !visit(i)) return;
            }
        }
        i = next;
    }
}

double ParentWeights::log_sum_within(std::size_t v, SetWords among, SetWords hit) const noexcept {
    double largest = kLogZero, least = kLogZero, sum = 0.0;
    each_fitting(v, among, hit, [&](std::size_t i) {
        if (largest == kLogZero) {
            largest = logs_[i];
            // All that are left, each at its largest, would not change the last digit.
            least = largest - 38.0 - std::log(static_cast<double>(end(v) - i));
        }
        if (!(logs_[i] >= least) || largest == kLogZero) return false;
        sum += std::exp(logs_[i] - largest);
        return true;
    });
    return largest == kLogZero ? kLogZero : largest + std::log(sum);
}

std::size_t ParentWeights::draw_within(std::size_t v, SetWords among, SetWords hit,
                                       double log_total, double choice) const noexcept {
    std::size_t found = first(v);
    double sum = 0.0;
    each_fitting(v, among, hit, [&](std::size_t i) {
        sum += std::exp(logs_[i] - log_total);
        found = i;  // the last one where rounding leaves the sum short
        return sum < choice;
    });
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
