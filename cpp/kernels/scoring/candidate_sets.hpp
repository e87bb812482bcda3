// The parent sets of every child that an optimal network may need, with their scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"
#include "scoring/local_scores.hpp"

namespace bestdag {

// What the parents of one child may be: all of `required` and some of `allowed`, at most
// max_parents in all. Both ascending, without the child, and with nothing in common.
struct ParentLimits {
    std::span<const std::int32_t> required;
    std::span<const std::int32_t> allowed;
    std::size_t max_parents;  // >= required.size()
    // Added to the score (a prior over structures): for the required parents, and for each of the
    // allowed ones when it is a parent. Finite.
    double bonus;
    std::span<const double> bonuses;  // as many as allowed, or none: they are zero

    double bonus_of(std::size_t i) const { return bonuses.empty() ? 0.0 : bonuses[i]; }
};

// How many sets there are at most; pruning may leave far fewer to be looked at.
inline double n_sets_at_most(std::span<const ParentLimits> limits) {
    double total = 0.0;
    for (const ParentLimits& limit : limits) {
        const auto n_others = static_cast<double>(limit.allowed.size());
        double n_of_size = 1.0;
        for (std::size_t k = 0; k + limit.required.size() <= limit.max_parents; ++k) {
            total += n_of_size;
            n_of_size *= (n_others - static_cast<double>(k)) / static_cast<double>(k + 1);
            if (n_of_size < 1.0) break;
        }
    }
    return total;
}

// Leave out every set that scores no more than a subset of it (that is allowed too), and cut whole
// branches of such sets by the score's bounds, before they are counted. Off: every set.
struct Pruning {
    bool is_on = true;
    // With a margin, only sets that a subset beats by more than it: those within are needed where
    // networks that are worse than the best by no more than the margin are looked for.
    double margin = 0.0;

    bool keeps(double score, double best) const noexcept {
        if (margin <= 0.0) return score > best;
        return score > -std::numeric_limits<double>::infinity() && score + margin >= best;
    }
};

struct CandidateSettings {
    bool prune;
    double seconds;    // for all children together; infinite for no limit
    double max_bytes;  // of memory for the sets that are listed and those under way
};

// Where the number of parents has no limit beyond those of the children.
inline constexpr std::size_t kAnyParents = ~std::size_t{0};

struct CandidateSets {
    LocalScores sets;
    std::vector<std::int64_t> n_scored;     // by child: families whose score was worked out
    std::vector<std::uint8_t> is_complete;  // by child: 0 where time or memory ran out
    // What is not listed. Each set that is allowed, not in `sets` and not dominated contains an
    // open set of its child, and scores no more than that one's bound, which is in `scores`.
    // Only for children that are not complete, and bounded.
    LocalScores open_sets;
    std::vector<std::uint8_t> is_bounded;  // by child: 0 where nothing is known of what is missing
};

// What it takes to list more.
struct ListingForecast {
    double seconds = 0.0;  // of one thread
    double bytes = 0.0;    // of lists and of what is known of the sets of a size
};

// The sets do not fit into max_bytes.
class TooManySets : public std::length_error {
public:
    TooManySets(std::size_t child_, std::size_t size_)
        : std::length_error("too many sets"), child(child_), size(size_) {}
    std::size_t child;
    std::size_t size;  // parents of the sets under way, the required ones included
};

// Families whose scores are wanted, by number: as in FamilyList.
struct WantedSets {
    std::vector<std::int32_t> children;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> parents;
    std::size_t size = 0;  // parents that are not required
};

// A listing of candidate sets that may be stopped, read and continued; nothing is computed
// twice. It keeps its own copy of the limits; table and kernel must outlive it.
//
// Sets are listed by size. As long as few parents are asked for, all children share the counts of
// sets of columns (shared_listing.hpp); else each child goes by itself. Then, with a time limit, the
// child that has had the least time goes next, so that the small sets of all children come first
// and time that one does not need is left to the others; without one, children are finished one
// after the other.
//
// A listing without table and kernel is fed: whoever has the scores asks what is wanted, in
// batches, and hands them over with bounds. See set_queue.hpp.
class CandidateListing {
public:
    CandidateListing(const Table& table, const Kernel& kernel, std::span<const ParentLimits> limits,
                     const Pruning& pruning);
    // `slack`: how much scores and bounds may be rounded.
    CandidateListing(std::span<const ParentLimits> limits, const Pruning& pruning, double slack);
    ~CandidateListing();

    // Of a listing that is fed: the next families, at most so many; the scores of the first of
    // them; no more of them, since memory is short.
    WantedSets wanted(std::size_t most);
    void take(std::span<const double> scores, std::span<const double> bounds);
    void stop();

    // Go on for so many seconds at most, and no further than sets of `max_parents`; every child
    // gets its smallest set, however little time there is and however large it is. Where memory
    // runs out, what is listed stays as it is if `stops_at_memory`, else TooManySets is thrown.
    // After an exception the listing may be continued.
    void run(double seconds, double max_bytes, bool stops_at_memory, std::size_t max_parents,
             const Execution& execution);

    // Whether all is listed, or will never be.
    bool is_over() const noexcept;

    // Whether all sets of at most so many parents are, of every child.
    bool is_complete_within(std::size_t max_parents) const noexcept;

    // What it takes to go on to sets of so many parents, where all children share the counts;
    // otherwise nothing is known (all zero).
    ListingForecast forecast(std::size_t max_parents) const;

    // Whether memory ended the listing of a child.
    bool is_full() const noexcept;

    // Memory taken by the sets that are listed and those under way; not during a run.
    std::size_t n_bytes() const noexcept;

    // What there is of sets of at most `max_parents`, with at most so many open sets for each
    // child. With `finish` the listing is emptied, which saves a copy.
    CandidateSets result(std::size_t most_open, bool finish, std::size_t max_parents,
                         const Execution& execution);

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

// One entry of `limits` per column; the result's members are column numbers. Does not depend on
// the number of threads unless time runs out.
CandidateSets candidate_sets(const Table& table, const Kernel& kernel,
                             std::span<const ParentLimits> limits,
                             const CandidateSettings& settings, const Execution& execution);

}  // namespace bestdag
