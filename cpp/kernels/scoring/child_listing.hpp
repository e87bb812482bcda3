// How far the listing of one child's candidate sets has come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "scoring/candidate_sets.hpp"
#include "scoring/found_sets.hpp"
#include "scoring/set_level.hpp"

namespace bestdag {

// What is listed of one child, and where to go on. Sets are written as positions in `chosen`.
struct ChildListing {
    std::size_t child = 0;
    ParentLimits limits{};
    double fit = 0.0;  // no family of the child has a higher log-likelihood

    bool has_begun = false, is_done = false;
    double seconds = 0.0;              // it has had
    std::vector<std::int32_t> chosen;  // columns that may be added to the required parents
    std::vector<double> bonuses;       // of each; none when they are zero
    double positive_bonus = 0.0;       // the sum of those above 0
    double growth = std::numeric_limits<double>::infinity();  // the smallest arity of these columns
    std::size_t max_chosen = 0;
    bool checks_parents = false;  // the score has a rule about single parents

    SetLevel level, next;        // the sets that are open, and those with one member more so far
    std::size_t place = 0;       // the set of `level` that is being extended
    std::size_t n_extended = 0;  // candidates of it that are done
    FoundSets found;
    FoundSets open;  // what is left of the levels where memory ended the listing
    std::size_t bytes_counted = 0;

    // Whether every set of at most so many parents is scored, or dominated.
    bool is_complete_within(std::size_t max_parents) const noexcept {
        if (!is_done) {
            return has_begun && limits.required.size() + level.set_size() >= max_parents;
        }
        for (std::size_t i = 0; i < open.scores.size(); ++i) {
            if (open.parents(i).size() < max_parents) return false;
        }
        return true;
    }

    double bonus_of(std::size_t member) const noexcept {
        return bonuses.empty() ? 0.0 : bonuses[member];
    }
    std::size_t bytes() const noexcept { return level.bytes() + next.bytes() + found.bytes(); }
    std::size_t n_sets() const noexcept {
        return found.scores.size() + level.size() - place + next.size();
    }
};

// Sets with bounds that cover what is not listed. A set that is neither listed nor dominated has
// open subsets only. Either it contains one of the next size that is not scored yet, and with it a
// set of the level that has not been extended; or all of those are scored, and it contains one.
inline FoundSets open_sets(const ChildListing& c, double slack) {
    FoundSets open;
    std::vector<std::int32_t> parents;
    const auto add = [&](const SetLevel& level, std::size_t i) {
        parents.assign(c.limits.required.begin(), c.limits.required.end());
        for (const std::uint16_t member : level.set(i)) parents.push_back(c.chosen[member]);
        std::sort(parents.begin(), parents.end());
        open.add(level.values(i).bound + slack, parents);
    };
    for (std::size_t i = c.place; i < c.level.size(); ++i) add(c.level, i);
    if (c.next.set_size() < c.max_chosen) {  // there are larger ones
        for (std::size_t i = 0; i < c.next.size(); ++i) add(c.next, i);
    }
    return open;
}

}  // namespace bestdag
