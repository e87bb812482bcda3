// The parent sets that each variable may have, with the logarithms of their weights: local scores,
// and what a prior over structures adds. Sums of weights, and draws by weight, of those sets that
// lie within some variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "posterior/log_sums.hpp"

namespace bestdag {

// A set without the bit of v, and the bits above it one place lower; and back.
inline std::uint64_t without_place(std::uint64_t set, std::size_t v) noexcept {
    const std::uint64_t low = (std::uint64_t{1} << v) - 1;
    return (set & low) | (set >> 1 & ~low);
}
inline std::uint64_t with_place(std::uint64_t set, std::size_t v) noexcept {
    const std::uint64_t low = (std::uint64_t{1} << v) - 1;
    return (set & low) | (set & ~low) << 1;
}

// Sets of variables as words of 64 bits, as many words as the variables need.
using SetWords = const std::uint64_t*;

inline void put(std::span<std::uint64_t> words, std::size_t v) noexcept {
    words[v / 64] |= std::uint64_t{1} << (v % 64);
}
inline void take(std::span<std::uint64_t> words, std::size_t v) noexcept {
    words[v / 64] &= ~(std::uint64_t{1} << (v % 64));
}
inline bool has(SetWords words, std::size_t v) noexcept {
    return (words[v / 64] >> (v % 64) & 1) != 0;
}

class ParentWeights {
public:
    // Variable v has the sets begin[v] .. begin[v + 1] - 1: n_words words and one logarithm each.
    // All of it must live as long as this does. Sums and draws need the sets of each variable by
    // descending weight.
    ParentWeights(std::span<const std::int64_t> begin, std::span<const std::uint64_t> sets,
                  std::span<const double> logs);

    std::size_t n() const noexcept { return begin_.size() - 1; }
    std::size_t n_words() const noexcept { return n_words_; }
    std::size_t first(std::size_t v) const noexcept { return static_cast<std::size_t>(begin_[v]); }
    std::size_t end(std::size_t v) const noexcept { return first(v + 1); }
    SetWords set(std::size_t i) const noexcept { return sets_.data() + i * n_words_; }
    double log_weight(std::size_t i) const noexcept { return logs_[i]; }

    // Whether a set lies within `among` and has a member of `hit`, unless that is nullptr.
    bool fits(std::size_t i, SetWords among, SetWords hit) const noexcept {
        const SetWords members = set(i);
        std::uint64_t outside = 0, met = hit ? 0 : 1;
        for (std::size_t w = 0; w < n_words_; ++w) {
            outside |= members[w] & ~among[w];
            if (hit) met |= members[w] & hit[w];
        }
        return outside == 0 && met != 0;
    }

    // Logarithm of the sum of the weights of the sets of v within `among` that have a member of
    // `hit`, unless that is nullptr. What is left out at the end is less than rounding.
    double log_sum_within(std::size_t v, SetWords among, SetWords hit) const noexcept;

    // The number of one of them, drawn by weight: `choice` in (0, 1) decides, and log_total is
    // their sum. Requires that there is one.
    std::size_t draw_within(std::size_t v, SetWords among, SetWords hit, double log_total,
                            double choice) const noexcept;

private:
    static constexpr std::size_t kAtOnce = 16;

    bool has_fitting(std::size_t i, SetWords among, SetWords hit) const noexcept;
    template <class Visit>
    void each_fitting(std::size_t v, SetWords among, SetWords hit, const Visit& visit) const;

    std::span<const std::int64_t> begin_;
    std::span<const std::uint64_t> sets_;
    std::span<const double> logs_;
    std::size_t n_words_;
};

// The number of sets between two looks at a flag.
inline constexpr std::size_t kSetsBetweenLooks = 4096;

// Given for each P, a set without v and its place, the logarithm of what goes around v where P
// are its parents: the probability of each parent set of v, and of the arcs u -> v, at u n + v.
void add_families(const ParentWeights& weights, std::size_t v, const double* around,
                  double log_total, std::span<double> sets, std::span<double> arcs,
                  const StopFlag& stop);

}  // namespace bestdag
