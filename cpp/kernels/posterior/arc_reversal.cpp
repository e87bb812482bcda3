#include "posterior/arc_reversal.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bestdag {

namespace {

std::size_t n_arcs(const std::vector<std::uint64_t>& parents) {
    std::size_t sum = 0;
    for (const std::uint64_t word : parents) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
}

}  // namespace

ArcReversal::ArcReversal(const RoomSums& rooms)
    : rooms_(rooms),
      weights_(rooms.weights()),
      others_(weights_.n_words()),
      one_(weights_.n_words()) {}

// The arc of this number, parent and child.
std::pair<std::size_t, std::size_t> ArcReversal::arc(const std::vector<std::uint64_t>& parents,
                                                     std::size_t which) const {
    for (std::size_t w = 0;; ++w) {
        const auto here = static_cast<std::size_t>(std::popcount(parents[w]));
        if (which >= here) {
            which -= here;
            continue;
        }
        std::uint64_t left = parents[w];
        for (; which > 0; --which) left &= left - 1;
        const auto bit = static_cast<std::size_t>(std::countr_zero(left));
        return {w % weights_.n_words() * 64 + bit, w / weights_.n_words()};
    }
}

void ArcReversal::leave_out_descendants(const std::vector<std::uint64_t>& parents, std::size_t v) {
    const std::size_t n = weights_.n(), n_words = weights_.n_words();
    for (std::size_t u = 0; u < n; ++u) put(others_, u);
    take(others_, v);
    for (bool has_grown = true; has_grown;) {
        has_grown = false;
        for (std::size_t u = 0; u < n; ++u) {
            if (!has(others_.data(), u)) continue;
            std::uint64_t met = 0;
            for (std::size_t w = 0; w < n_words; ++w) met |= parents[u * n_words + w] & ~others_[w];
            if (met == 0) continue;
            take(others_, u);
            has_grown = true;
        }
    }
}

// With i -> j chosen: i gets new parents with j among them, then j gets new parents. The ratio of
// the chances of this step and of the one back is that of the sums over what could be drawn.
bool ArcReversal::step(std::vector<std::uint64_t>& parents, RandomStream& random) {
    const std::size_t n_words = weights_.n_words(), n_before = n_arcs(parents);
    if (n_before == 0) return false;
    const auto chosen = static_cast<std::size_t>(random.uniform() * static_cast<double>(n_before));
    const auto [i, j] = arc(parents, std::min(chosen, n_before - 1));
    const auto words_of = [&](std::vector<std::uint64_t>& dag, std::size_t v) {
        return dag.begin() + static_cast<std::ptrdiff_t>(v * n_words);
    };
    const auto only = [&](std::size_t v) {
        std::fill(one_.begin(), one_.end(), 0);
        put(one_, v);
        return one_.data();
    };
    without_ = parents;
    std::fill_n(words_of(without_, i), n_words, 0);
    std::fill_n(words_of(without_, j), n_words, 0);

    leave_out_descendants(without_, j);
    double log_ratio = -rooms_.log_sum(j, others_.data(), only(i));
    back_ = without_;
    std::copy_n(words_of(parents, j), n_words, words_of(back_, j));
    leave_out_descendants(back_, i);
    log_ratio -= rooms_.log_sum(i, others_.data(), nullptr);

    leave_out_descendants(without_, i);
    const double log_i = rooms_.log_sum(i, others_.data(), only(j));
    if (log_i == kLogZero) return false;
    const SetWords of_i =
        weights_.set(rooms_.draw(i, others_.data(), one_.data(), log_i, random.uniform()));
    std::copy_n(of_i, n_words, words_of(without_, i));
    leave_out_descendants(without_, j);
    const double log_j = rooms_.log_sum(j, others_.data(), nullptr);
    if (log_j == kLogZero) return false;
    const SetWords of_j =
        weights_.set(rooms_.draw(j, others_.data(), nullptr, log_j, random.uniform()));
    std::copy_n(of_j, n_words, words_of(without_, j));

    log_ratio += log_i + log_j + std::log(static_cast<double>(n_before)) -
                 std::log(static_cast<double>(n_arcs(without_)));
    if (!(std::log(random.uniform()) < log_ratio)) return false;
    std::swap(parents, without_);
    return true;
}

}  // namespace bestdag
