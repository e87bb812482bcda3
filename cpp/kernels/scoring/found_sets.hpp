// Sets found for one child while a table of candidate sets is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scoring/candidate_sets.hpp"

namespace bestdag {

struct FoundSets {
    std::vector<double> scores;
    std::vector<std::int64_t> ends;
    std::vector<std::int32_t> members;
    std::int64_t n_scored = 0;
    bool is_complete = true;

    void add(double score, std::span<const std::int32_t> parents) {
        scores.push_back(score);
        members.insert(members.end(), parents.begin(), parents.end());
        ends.push_back(static_cast<std::int64_t>(members.size()));
    }

    std::span<const std::int32_t> parents(std::size_t i) const noexcept {
        const auto first = static_cast<std::size_t>(i == 0 ? 0 : ends[i - 1]);
        return {members.data() + first, static_cast<std::size_t>(ends[i]) - first};
    }

    std::size_t bytes() const noexcept {
        return scores.capacity() * sizeof(double) + ends.capacity() * sizeof(std::int64_t) +
               members.capacity() * sizeof(std::int32_t);
    }
};

// Those with at most so many parents.
FoundSets up_to(FoundSets sets, std::size_t max_parents);

// Best first; equal scores as in LocalScores.
void order_by_score(FoundSets& sets);

// One list after the other; the lists are emptied.
LocalScores join(std::span<FoundSets> lists);

}  // namespace bestdag
