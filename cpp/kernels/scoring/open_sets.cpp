#include "scoring/open_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/parallel.hpp"

namespace bestdag {

namespace {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;

// A set is a subset exactly when its bits are: only the members in use get a number.
std::vector<Word> masks_of(const FoundSets& sets, std::size_t& n_words) {
    std::vector<std::int32_t> used(sets.members);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    n_words = std::max<std::size_t>(1, (used.size() + kWordBits - 1) / kWordBits);
    std::vector<Word> masks(sets.scores.size() * n_words, 0);
    for (std::size_t i = 0; i < sets.scores.size(); ++i) {
        for (const std::int32_t member : sets.parents(i)) {
            const auto place = static_cast<std::size_t>(
                std::lower_bound(used.begin(), used.end(), member) - used.begin());
            masks[i * n_words + place / kWordBits] |= Word{1} << (place % kWordBits);
        }
    }
    return masks;
}

}  // namespace

void coarsen(FoundSets& sets, std::size_t most) {
    std::vector<double> scores;
    while (sets.scores.size() > most) {
        const std::size_t n_kept = most / 2;
        scores = sets.scores;
        const auto nth = scores.begin() + static_cast<std::ptrdiff_t>(n_kept);
        std::nth_element(scores.begin(), nth, scores.end(), std::greater<>());
        const double lowest = *nth;  // fewer than n_kept are above, and as many as are needed equal
        std::size_t n_equal = n_kept;
        for (auto it = scores.begin(); it != nth; ++it) n_equal -= *it > lowest;
        FoundSets coarser;
        std::span<const std::int32_t> last;  // of those that became shorter
        std::size_t place = sets.scores.size();
        for (std::size_t i = 0; i < sets.scores.size(); ++i) {
            const auto parents = sets.parents(i);
            const double score = sets.scores[i];
            if (score > lowest || (score == lowest && n_equal > 0)) {
                n_equal -= score == lowest;
                coarser.add(score, parents);
                continue;
            }
            const auto shorter = parents.first(parents.size() - !parents.empty());
            if (place < coarser.scores.size() && std::ranges::equal(shorter, last)) {
                coarser.scores[place] = std::max(coarser.scores[place], score);
            } else {
                place = coarser.scores.size();
                last = shorter;
                coarser.add(score, shorter);
            }
        }
        coarser.n_scored = sets.n_scored;
        coarser.is_complete = sets.is_complete;
        sets = std::move(coarser);
    }
}

void drop_dominated(FoundSets& sets, const StopFlag& stop) {
    order_by_score(sets);
    std::size_t n_words;
    const std::vector<Word> masks = masks_of(sets, n_words);
    std::vector<std::size_t> kept;
    FoundSets rest;
    rest.n_scored = sets.n_scored;
    rest.is_complete = sets.is_complete;
    for (std::size_t i = 0; i < sets.scores.size(); ++i) {
        if (i % 256 == 0) check(stop);
        const Word* const mask = masks.data() + i * n_words;
        const bool is_dominated = std::any_of(kept.begin(), kept.end(), [&](std::size_t k) {
            const Word* const other = masks.data() + k * n_words;
            for (std::size_t w = 0; w < n_words; ++w) {
                if (other[w] & ~mask[w]) return false;
            }
            return true;
        });
        if (is_dominated) continue;
        kept.push_back(i);
        rest.add(sets.scores[i], sets.parents(i));
        if (sets.parents(i).empty()) break;  // a subset of all that follow
    }
    sets = std::move(rest);
}

void make_optimistic(std::span<FoundSets> lists, std::size_t most, const Execution& execution) {
    parallel_for(lists.size(), 1e9, execution, [&](std::size_t i, const StopFlag& stop) {
        coarsen(lists[i], most);
        drop_dominated(lists[i], stop);
    });
}

}  // namespace bestdag
