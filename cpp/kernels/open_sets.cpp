#include "kernels/open_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/joint_counts.hpp"

namespace bestdag {

namespace {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;

std::vector<std::uint32_t> numbers_up_to(std::size_t n) {
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0u);
    return numbers;
}

// A set is a subset exactly when its bits are: members are numbered anew, those in use only.
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
    while (sets.scores.size() > most) {
        std::vector<std::uint32_t> order = numbers_up_to(sets.scores.size());
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return sets.scores[a] > sets.scores[b];
        });
        const std::size_t n_kept = most / 2;
        FoundSets coarser;
        for (std::size_t i = 0; i < n_kept; ++i) {
            coarser.add(sets.scores[order[i]], sets.parents(order[i]));
        }
        const auto shorter = [&](std::uint32_t i) {
            const auto parents = sets.parents(i);
            return parents.empty() ? parents : parents.first(parents.size() - 1);
        };
        const auto rest = std::span(order).subspan(n_kept);
        std::stable_sort(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::ranges::lexicographical_compare(shorter(a), shorter(b));
        });
        for (std::size_t i = 0; i < rest.size(); ++i) {  // the first of equals has the highest
            if (i > 0 && std::ranges::equal(shorter(rest[i]), shorter(rest[i - 1]))) continue;
            coarser.add(sets.scores[rest[i]], shorter(rest[i]));
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
