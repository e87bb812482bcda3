#include "scoring/local_scores.hpp"

#include <algorithm>

namespace bestdag {

void order_sets(LocalScores& scores) {
    const LocalScoresView sets = view_of(scores);
    const auto before = [&](std::size_t a, std::size_t b) { return comes_before(sets, a, b); };
    std::vector<std::size_t> order(scores.scores.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    bool is_ordered = true;
    for (std::size_t child = 0; child + 1 < scores.first_sets.size(); ++child) {
        const auto first = order.begin() + scores.first_sets[child];
        const auto last = order.begin() + scores.first_sets[child + 1];
        if (std::is_sorted(first, last, before)) continue;
        std::sort(first, last, before);
        is_ordered = false;
    }
    if (is_ordered) return;
    std::vector<double> new_scores;
    std::vector<std::int64_t> new_offsets{0};
    std::vector<std::int32_t> new_members;
    new_scores.reserve(order.size());
    new_offsets.reserve(order.size() + 1);
    new_members.reserve(scores.members.size());
    for (const std::size_t set : order) {
        const auto parents = sets.parents(set);
        new_scores.push_back(scores.scores[set]);
        new_members.insert(new_members.end(), parents.begin(), parents.end());
        new_offsets.push_back(static_cast<std::int64_t>(new_members.size()));
    }
    scores.scores.swap(new_scores);
    scores.offsets.swap(new_offsets);
    scores.members.swap(new_members);
}

}  // namespace bestdag
