// Candidate sets of all children together, from sets of columns that are counted once.
//
// A set of k + 1 columns is the family of each of its members given the others: counted once, it
// gives k + 1 scores, most of them by one subtraction (see kernel.hpp, has_set_function). Sets come
// by size, and what no subset of a family beats is kept at once. Of the sets of one size there
// remain a few numbers each, for the next one; never the families themselves. Fast for few parents;
// with more, bounds save more than sharing does (set_enumerator.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"
#include "scoring/candidate_sets.hpp"
#include "scoring/found_sets.hpp"
#include "scoring/shared_level.hpp"

namespace bestdag {

// Table and kernel must outlive it.
class SharedListing {
    using Clock = std::chrono::steady_clock;

public:
    SharedListing(const Table& table, const Kernel& kernel, std::span<const ParentLimits> limits,
                  const Pruning& pruning, double slack);
    ~SharedListing();

    // Whether that is a good way to list so many parents.
    static bool suits(const Table& table, const Kernel& kernel,
                      std::span<const ParentLimits> limits) noexcept;

    // Go on with sets of at most so many parents, until it is late; `fits` has an upper bound on
    // the log-likelihood of each child. Where the memory does not suffice, the listing is over if
    // `stops_at_memory`, else TooManySets is thrown.
    void run(std::size_t max_parents, Clock::time_point until, double max_bytes,
             bool stops_at_memory, std::span<const double> fits, const Execution& execution);

    // How many sizes are complete: those of 0, 1, ... parents.
    std::size_t n_sizes() const noexcept;
    bool is_full() const noexcept;  // memory ended it
    std::size_t bytes() const noexcept;
    std::size_t n_listed() const noexcept;  // sets, so far

    // What it takes to go on to sets of so many parents.
    ListingForecast forecast(std::size_t max_parents) const;

    // What is listed of one child, best first; the listing is emptied of it if `take`.
    FoundSets sets(std::size_t child, std::size_t max_parents, bool take);

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace bestdag
