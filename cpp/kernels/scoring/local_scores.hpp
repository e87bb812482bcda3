// Candidate parent sets of every child with their scores, in flat arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bestdag {

// Sets k in first_sets[i] .. first_sets[i + 1] are those of child i, best first (equal scores:
// fewer parents first, then in order of the members); set k has the score scores[k] and the
// parents members[offsets[k] .. offsets[k + 1]), ascending.
struct LocalScores {
    std::vector<std::int64_t> first_sets{0};
    std::vector<double> scores;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> members;
};

// The same, owned elsewhere.
struct LocalScoresView {
    std::span<const std::int64_t> first_sets;
    std::span<const double> scores;
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> members;

    std::span<const std::int32_t> parents(std::size_t set) const noexcept {
        const auto first = static_cast<std::size_t>(offsets[set]);
        const auto last = static_cast<std::size_t>(offsets[set + 1]);
        return members.subspan(first, last - first);
    }
};

inline LocalScoresView view_of(const LocalScores& scores) noexcept {
    return {scores.first_sets, scores.scores, scores.offsets, scores.members};
}

// Whether one set of a child comes before another. `Sets` has scores, and parents(set) ascending.
template <class Sets>
bool comes_before(const Sets& sets, std::size_t one, std::size_t other) {
    if (sets.scores[one] != sets.scores[other]) return sets.scores[one] > sets.scores[other];
    const auto a = sets.parents(one), b = sets.parents(other);
    if (a.size() != b.size()) return a.size() < b.size();
    return std::ranges::lexicographical_compare(a, b);
}

// Bring the sets of every child into order. Requires ascending members.
void order_sets(LocalScores& scores);

}  // namespace bestdag
