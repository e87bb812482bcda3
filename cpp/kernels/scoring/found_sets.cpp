#include "scoring/found_sets.hpp"

#include <algorithm>
#include <numeric>

namespace bestdag {

FoundSets up_to(FoundSets sets, std::size_t max_parents) {
    bool has_larger = false;
    for (std::size_t i = 0; i < sets.scores.size() && !has_larger; ++i) {
        has_larger = sets.parents(i).size() > max_parents;
    }
    if (!has_larger) return sets;
    FoundSets smaller;
    for (std::size_t i = 0; i < sets.scores.size(); ++i) {
        if (sets.parents(i).size() <= max_parents) smaller.add(sets.scores[i], sets.parents(i));
    }
    smaller.n_scored = sets.n_scored;
    smaller.is_complete = sets.is_complete;
    return smaller;
}

void order_by_score(FoundSets& sets) {
    const auto before = [&](std::size_t a, std::size_t b) { return comes_before(sets, a, b); };
    std::vector<std::size_t> order(sets.scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (std::is_sorted(order.begin(), order.end(), before)) return;
    std::sort(order.begin(), order.end(), before);
    FoundSets ordered;
    ordered.scores.reserve(sets.scores.size());
    ordered.ends.reserve(sets.ends.size());
    ordered.members.reserve(sets.members.size());
    for (const std::size_t i : order) ordered.add(sets.scores[i], sets.parents(i));
    ordered.n_scored = sets.n_scored;
    ordered.is_complete = sets.is_complete;
    sets = std::move(ordered);
}

LocalScores join(std::span<FoundSets> lists) {
    LocalScores sets;
    std::size_t n_sets = 0, n_members = 0;
    for (const FoundSets& list : lists) {
        n_sets += list.scores.size();
        n_members += list.members.size();
    }
    sets.scores.reserve(n_sets);
    sets.offsets.reserve(n_sets + 1);
    sets.members.reserve(n_members);
    for (FoundSets& list : lists) {
        const auto offset = static_cast<std::int64_t>(sets.members.size());
        sets.scores.insert(sets.scores.end(), list.scores.begin(), list.scores.end());
        sets.members.insert(sets.members.end(), list.members.begin(), list.members.end());
        for (const std::int64_t end : list.ends) sets.offsets.push_back(offset + end);
        sets.first_sets.push_back(static_cast<std::int64_t>(sets.scores.size()));
        list = {};
    }
    return sets;
}

}  // namespace bestdag
