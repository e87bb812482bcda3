// How sets of one size grow into those of the next, whoever scores them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "scoring/candidate_sets.hpp"
#include "scoring/child_listing.hpp"
#include "scoring/set_level.hpp"

namespace bestdag {

// Lists what may join a set. A set is of interest while it is open: a bound says that a larger one
// may score more than the best of its subsets.
class SetGrowth {
protected:
    SetGrowth(const Pruning& pruning, double slack)
        : pruning_(pruning), slack_(slack + pruning.margin) {}

    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    // A set about to be scored: one of the level and one more member.
    struct Candidate {
        std::uint16_t member;
        double best;   // over the subsets
        double bound;  // the lowest of theirs
        std::size_t first_subset;
    };

    // What may join set number i of the level: larger members all of whose subsets are there.
    // `group_end` is kept between calls with ascending i: sets up to there share all members but
    // the last.
    void list_candidates(const ChildListing& c, std::size_t i, std::size_t& group_end) {
        const SetLevel& level = c.level;
        const std::size_t size = level.set_size();
        const auto set = level.set(i);
        if (i >= group_end) {
            for (group_end = i + 1; group_end < level.size(); ++group_end) {
                const auto other = level.set(group_end);
                if (!std::equal(set.begin(), set.end() - (size > 0), other.begin())) break;
            }
        }
        set_.assign(set.begin(), set.end());
        set_.push_back(0);
        candidates_.clear();
        subsets_.clear();
        if (size == 0 || !pruning_.is_on) {
            const std::size_t first = size == 0 ? 0 : std::size_t{set_[size - 1]} + 1;
            for (std::size_t member = first; member < c.chosen.size(); ++member) {
                const Candidate candidate{static_cast<std::uint16_t>(member), level.values(i).best,
                                          level.values(i).bound, subsets_.size()};
                if (size == 0) subsets_.push_back(i);
                candidates_.push_back(candidate);
            }
            return;
        }
        std::uint64_t code = 0;
        for (std::size_t k = 0; k < size; ++k) code ^= SetLevel::code_of(set_[k]);
        for (std::size_t j = i + 1; j < group_end; ++j) {
            set_.back() = level.set(j).back();
            add_if_open(level, i, j, code ^ SetLevel::code_of(set_.back()));
        }
    }

    // A set with a closed subset is dominated, and so are all that contain it.
    void add_if_open(const SetLevel& level, std::size_t i, std::size_t j, std::uint64_t code) {
        const std::size_t size = level.set_size();
        const std::size_t first = subsets_.size();
        double best = -kInfinity;
        double bound = kInfinity;
        // Without member k, for each k; without the last is set i, without the one before set j.
        for (std::size_t k = 0; k <= size; ++k) {
            const std::size_t subset = k == size       ? i
                                       : k + 1 == size ? j
                                                       : level.find_without(set_, code, k);
            if (subset == SetLevel::kAbsent) {
                subsets_.resize(first);
                return;
            }
            subsets_.push_back(subset);
            best = std::max(best, level.values(subset).best);
            bound = std::min(bound, level.values(subset).bound);
        }
        if (bound + slack_ <= best) {
            subsets_.resize(first);
            return;
        }
        candidates_.push_back({set_.back(), best, bound, first});
    }

    const Pruning pruning_;
    const double slack_;  // what a bound must be lower by, the margin included

    // The set at hand, with room for one more member, and what may join it.
    std::vector<std::uint16_t> set_;
    std::vector<Candidate> candidates_;
    std::vector<std::size_t> subsets_;  // for each candidate the numbers of its subsets
};

}  // namespace bestdag
