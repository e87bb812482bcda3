#include "posterior/room_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bestdag {

namespace {

constexpr std::size_t kAtOnce = 16, kLanes = 4;
constexpr double kLeftOut = 1e-12;  // at most this share of a sum
constexpr double kLeastSum = 1e-250;

}  // namespace

RoomSums::RoomSums(const ParentWeights& weights) : weights_(weights) {
    relative_.reserve(weights.end(weights.n() - 1));
    for (std::size_t v = 0; v < weights.n(); ++v) {
        const double heaviest = weights.log_weight(weights.first(v));
        for (std::size_t i = weights.first(v); i < weights.end(v); ++i) {
            relative_.push_back(std::exp(weights.log_weight(i) - heaviest));
        }
    }
}

// The sum over the next sets, each a word: most do not fit, and looking at each would take longer.
double RoomSums::sum_of_group(std::size_t i, SetWords among, SetWords hit) const noexcept {
    const std::uint64_t outside = ~*among, wanted = hit ? *hit : 0, free = hit ? 0 : 1;
    const std::uint64_t* const words = weights_.set(i);
    const double* const values = relative_.data() + i;
    std::array<double, kLanes> sums{};
    for (std::size_t k = 0; k < kAtOnce; k += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint64_t word = words[k + lane];
            const bool fits = (word & outside) == 0 && ((word & wanted) | free) != 0;
            sums[lane] += fits ? values[k + lane] : 0.0;
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double RoomSums::log_sum(std::size_t v, SetWords among, SetWords hit) const noexcept {
    const std::size_t last = weights_.end(v);
    const bool is_word = weights_.n_words() == 1;
    double sum = 0.0;
    for (std::size_t i = weights_.first(v); i < last;) {
        const std::size_t next = std::min(i + kAtOnce, last);
        if (relative_[i] * static_cast<double>(last - i) <= kLeftOut * sum) break;
        if (is_word && next - i == kAtOnce) {
            sum += sum_of_group(i, among, hit);
        } else {
            for (std::size_t k = i; k < next; ++k) {
                if (weights_.fits(k, among, hit)) sum += relative_[k];
            }
        }
        i = next;
    }
    if (sum < kLeastSum) return weights_.log_sum_within(v, among, hit);
    return weights_.log_weight(weights_.first(v)) + std::log(sum);
}

std::size_t RoomSums::draw(std::size_t v, SetWords among, SetWords hit, double log_total,
                           double choice) const noexcept {
    const double total = std::exp(log_total - weights_.log_weight(weights_.first(v)));
    if (total < kLeastSum) return weights_.draw_within(v, among, hit, log_total, choice);
    double left = choice * total;
    std::size_t found = weights_.first(v);
    for (std::size_t i = found; i < weights_.end(v); ++i) {
        if (!weights_.fits(i, among, hit)) continue;
        found = i;  // the last one where what was left out leaves the sum short
        left -= relative_[i];
        if (left <= 0.0 || relative_[i] < kLeastSum) break;
    }
    return found;
}

}  // namespace bestdag
