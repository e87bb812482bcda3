// Candidate parent sets whose scores come from elsewhere: which are wanted next, and what becomes
// of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "scoring/set_growth.hpp"

namespace bestdag {

// Lists the sets of all children by size, child after child in each size. A set is wanted when all
// its subsets with one member less are open, by the bounds that came with their scores.
class SetQueue : SetGrowth {
public:
    SetQueue(std::vector<ChildListing>& children, const Pruning& pruning, double slack);

    // The next families, at most so many, all of one size, parents ascending; none when all sets
    // are scored or closed. Asked again, the same ones, until they are taken.
    WantedSets wanted(std::size_t most);

    // Takes the scores of the first of them, without the terms of the limits, and what no larger
    // set that contains them scores more than: infinity where nothing is known, minus infinity
    // where none is needed. Throws std::domain_error at a score that is not a number.
    void take(std::span<const double> scores, std::span<const double> bounds);

private:
    struct Waiting {
        std::size_t child;
        std::size_t place;  // of the set in the child's level that it extends
        bool is_last;       // of those that extend it
        double best, bound;
        std::vector<std::uint16_t> set;
    };

    bool fill();
    bool extend(ChildListing& c);
    void begin(ChildListing& c);
    void add(ChildListing& c, const Waiting& waiting, double score, double bound);
    void grow_if_done(ChildListing& c);

    std::vector<ChildListing>& children_;
    std::deque<Waiting> waiting_;
    std::size_t size_ = 0;        // of the sets that wait, without the required parents
    std::size_t child_ = 0;       // whose sets are next
    std::size_t next_place_ = 0;  // in its level
    std::size_t group_end_ = 0;
    std::vector<std::size_t> n_waiting_;  // by child
    std::vector<std::uint8_t> all_wait_;  // by child: no more of this size
    std::vector<std::int32_t> parents_;
};

}  // namespace bestdag
