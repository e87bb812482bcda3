#include "scoring/candidate_sets.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "counting/count_type.hpp"
#include "scoring/child_listing.hpp"
#include "scoring/found_sets.hpp"
#include "scoring/likelihood_caps.hpp"
#include "scoring/open_sets.hpp"
#include "scoring/set_enumerator.hpp"
#include "scoring/set_queue.hpp"
#include "scoring/shared_listing.hpp"

namespace bestdag {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNanosecondsPerSet = 500.0;  // enough to decide whether threads are worth it
// Scores are sums of terms of the size of N ln N, rounded: a bound must be better than that.
constexpr double kRelativeSlack = 1e-12;

// With a time limit a child is left for another after so long, or after so much of its time so far:
// to come back to it costs a look at its rows.
constexpr double kLeastSlice = 0.05, kSliceShare = 0.25;
// Likelihoods given all other columns may take this share of the time, or so many seconds.
constexpr double kShareForCaps = 0.1, kSecondsForCaps = 0.02;
// And the bounds of sets with one parent this share, where there is no time for all sets.
constexpr double kShareForArcs = 0.1;
// To bring a set, found or open, into the result: what is kept back of the time.
constexpr double kSecondsPerSetAtEnd = 1e-7;

Clock::duration duration_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

class CandidateListing::Impl {
public:
    Impl(const Table& table, const Kernel& kernel, std::span<const ParentLimits> limits,
         const Pruning& pruning)
        : Impl(limits, pruning,
               kRelativeSlack * table.total_weight() * std::log(table.total_weight() + 2.0)) {
        table_ = &table;
        kernel_ = &kernel;
    }

    Impl(std::span<const ParentLimits> limits, const Pruning& pruning, double slack)
        : pruning_(pruning),
          slack_(slack),
          required_(limits.size()),
          allowed_(limits.size()),
          bonuses_(limits.size()),
          children_(limits.size()),
          fits_(limits.size(), 0.0) {
        for (std::size_t i = 0; i < limits.size(); ++i) {
            required_[i].assign(limits[i].required.begin(), limits[i].required.end());
            allowed_[i].assign(limits[i].allowed.begin(), limits[i].allowed.end());
            bonuses_[i].assign(limits[i].bonuses.begin(), limits[i].bonuses.end());
            limits_.push_back(
                {required_[i], allowed_[i], limits[i].max_parents, limits[i].bonus, bonuses_[i]});
            children_[i].child = i;
            children_[i].limits = limits_[i];
            most_ = std::max(most_, limits[i].max_parents);
        }
    }

    SetQueue& queue() {
        if (!queue_) queue_.emplace(children_, pruning_, slack_);
        return *queue_;
    }

    void stop() noexcept { is_full_ = is_stopped_ = true; }

    bool is_over() const noexcept {
        if (is_stopped_) return true;
        if (shared_ && shared_->n_sizes() > most_) return true;
        return std::all_of(children_.begin(), children_.end(),
                           [](const ChildListing& c) { return c.is_done; });
    }

    bool is_full() const noexcept { return is_full_; }

    std::size_t n_bytes() const noexcept {
        std::size_t total = 0;
        for (const ChildListing& c : children_) total += c.bytes();
        return total + (shared_ ? shared_->bytes() : 0);
    }

    void run(double seconds, double max_bytes, bool stops_at_memory, std::size_t max_parents,
             const Execution& execution) {
        const auto start = Clock::now();
        is_limited_ = seconds < 1e9;
        deadline_ = is_limited_ ? start + duration_of(seconds) : Clock::time_point::max();
        max_bytes_ = max_bytes;
        stops_at_memory_ = stops_at_memory;
        if (pruning_.is_on && !has_caps_) {
            find_caps(is_limited_
                          ? start + duration_of(std::max(kSecondsForCaps, kShareForCaps * seconds))
                          : deadline_,
                      execution);
        }
        if (!shares(max_parents)) {
            extend(max_parents, execution);
            return;
        }
        if (!shared_) shared_.emplace(*table_, *kernel_, limits_, pruning_, slack_);
        // Open sets cover what will not be listed in time: with a parent they bound it better.
        const double n = static_cast<double>(table_->n_columns());
        const double seconds_for_arcs =
            1e-9 * n * n * (kNanosecondsPerSet + static_cast<double>(table_->n_rows()));
        const bool is_long = shared_->forecast(max_parents).seconds > seconds * execution.threads;
        extend(is_long && seconds_for_arcs < kShareForArcs * seconds ? 1 : 0, execution);
        shared_->run(max_parents, deadline_, max_bytes, stops_at_memory, fits_, execution);
        if (shared_->is_full()) stop();
    }

    ListingForecast forecast(std::size_t max_parents) const {
        if (!shares(max_parents)) return {};
        if (shared_) return shared_->forecast(max_parents);
        return SharedListing(*table_, *kernel_, limits_, pruning_, slack_).forecast(max_parents);
    }

    // Whether sets of so many parents are listed from sets that are counted once for all children.
    bool shares(std::size_t max_parents) const noexcept {
        if (!table_ || std::min(max_parents, most_) > kMaxSharedParents) return false;
        if (shared_) return true;
        return SharedListing::suits(*table_, *kernel_, limits_) &&
               std::ranges::none_of(children_, [](const ChildListing& c) { return c.has_begun; });
    }

    // Go on child by child.
    void extend(std::size_t max_parents, const Execution& execution) {
        max_parents_ = max_parents;
        waiting_ = {};
        n_waiting_sets_ = 0;
        for (ChildListing& child : children_) {
            n_waiting_sets_ += static_cast<std::int64_t>(child.n_sets());
            if (!child.is_done && !child.is_complete_within(max_parents)) waiting_.push(&child);
        }
        const auto n_workers =
            std::min(waiting_.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
        const double expected = kernel_->expected(
            n_sets_at_most(limits_) * (kNanosecondsPerSet + static_cast<double>(table_->n_rows())));
        with_count_type(*table_, [&](auto zero) {
            parallel_for(n_workers, expected, execution,
                         [&](std::size_t, const StopFlag& stop) { work<decltype(zero)>(stop); });
        });
    }

    bool is_complete_within(std::size_t max_parents) const noexcept {
        return std::ranges::all_of(children_, [&](const ChildListing& c) {
            return is_complete_within(c, max_parents);
        });
    }

    CandidateSets result(std::size_t most_open, bool finish, std::size_t max_parents,
                         const Execution& execution) {
        CandidateSets result;
        std::vector<FoundSets> found(children_.size()), open(children_.size());
        double n_sets = 0.0;
        for (const ChildListing& c : children_) n_sets += static_cast<double>(c.n_sets());
        if (shared_) n_sets += static_cast<double>(shared_->n_listed());
        parallel_for(children_.size(), 200.0 * n_sets, execution,
                     [&](std::size_t i, const StopFlag& stop) {
                         check(stop);
                         ChildListing& c = children_[i];
                         const bool is_complete = is_complete_within(c, max_parents);
                         if (!is_complete && pruning_.is_on) {
                             open[i] = c.is_done ? c.open : open_sets(c, slack_);
                             // Larger ones contain no set of the class that is missing.
                             open[i] = up_to(std::move(open[i]), max_parents - 1);
                             coarsen(open[i], most_open);
                             order_by_score(open[i]);
                         }
                         const std::size_t most = std::max(max_parents, c.limits.required.size());
                         found[i] = listed(c, most, finish);
                         found[i].is_complete = is_complete;
                         order_by_score(found[i]);
                     });
        for (std::size_t i = 0; i < children_.size(); ++i) {
            result.n_scored.push_back(found[i].n_scored);
            result.is_complete.push_back(found[i].is_complete);
            // A listing that has not begun has no sets to cover the rest with.
            const bool is_bounded =
                found[i].is_complete || (!open[i].scores.empty() && open[i].scores[0] < kInfinity);
            result.is_bounded.push_back(is_bounded);
            if (!is_bounded) open[i] = {};
        }
        result.sets = join(found);
        result.open_sets = join(open);
        return result;
    }

private:
    // Upper bounds on the log-likelihoods of the children, if there is time for them.
    void find_caps(Clock::time_point until, const Execution& execution) {
        const double expected = 3.0 * static_cast<double>(table_->n_rows()) *
                                static_cast<double>(table_->n_columns());
        parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) {
            std::vector<double> fits(table_->n_columns(), 0.0);
            has_caps_ = likelihood_caps(*table_, until, stop, fits);
            if (has_caps_) fits_ = std::move(fits);
        });
        for (std::size_t i = 0; i < children_.size(); ++i) children_[i].fit = fits_[i];
    }

    bool is_complete_within(const ChildListing& c, std::size_t max_parents) const noexcept {
        const bool is_shared = shared_ && shared_->n_sizes() > std::min(max_parents, most_);
        return is_shared || c.is_complete_within(max_parents);
    }

    // What is listed of a child: shared sizes, and larger sets if it was gone on with by itself.
    FoundSets listed(ChildListing& c, std::size_t max_parents, bool take) {
        if (!shared_) return up_to(take ? std::move(c.found) : c.found, max_parents);
        FoundSets found = shared_->sets(c.child, max_parents, take);
        found.n_scored += c.found.n_scored - c.has_begun;  // without the set that both scored
        std::set<std::vector<std::int32_t>> partial;  // of a size that is not complete
        for (std::size_t i = 0; i < found.scores.size(); ++i) {
            const auto parents = found.parents(i);
            if (parents.size() >= shared_->n_sizes()) {
                partial.emplace(parents.begin(), parents.end());
            }
        }
        for (std::size_t i = 0; i < c.found.scores.size(); ++i) {
            const auto parents = c.found.parents(i);
            if (parents.size() < shared_->n_sizes() || parents.size() > max_parents) continue;
            if (partial.contains({parents.begin(), parents.end()})) continue;
            found.add(c.found.scores[i], parents);
        }
        if (take) c.found = {};
        return found;
    }

    struct HadMore {  // time; ties go to the first child
        bool operator()(const ChildListing* a, const ChildListing* b) const {
            return a->seconds != b->seconds ? a->seconds > b->seconds : a->child > b->child;
        }
    };

    ChildListing* take() {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return nullptr;
        ChildListing* const child = waiting_.top();
        // Those that have not begun come first, and begin however late it is.
        if (child->has_begun && Clock::now() >= end()) return nullptr;
        waiting_.pop();
        return child;
    }

    void give_back(ChildListing* child) {
        const std::lock_guard lock(mutex_);
        waiting_.push(child);
    }

    // When listing must end, so that the result is there in time.
    Clock::time_point end() const {
        if (!is_limited_) return Clock::time_point::max();
        return deadline_ -
               duration_of(kSecondsPerSetAtEnd * static_cast<double>(n_waiting_sets_.load()));
    }

    template <class Count>
    void work(const StopFlag& stop) {
        SetEnumerator<Count> enumerator(*table_, *kernel_, pruning_, slack_, stop);
        const auto keep = [&](ChildListing& c) { return has_room(c); };
        // When none waits, all that are left are in the hands of other threads.
        while (ChildListing* const child = take()) {
            const auto start = Clock::now();
            auto until = end();
            if (is_limited_) {
                const double slice = std::max(kLeastSlice, kSliceShare * child->seconds);
                until = std::min(until, start + duration_of(slice));
            }
            const std::size_t n_before = child->n_sets();
            do {
                enumerator.advance(*child, until, keep);
            } while (!is_limited_ && !child->is_done && !child->is_complete_within(max_parents_));
            n_waiting_sets_ +=
                static_cast<std::int64_t>(child->n_sets()) - static_cast<std::int64_t>(n_before);
            child->seconds += std::chrono::duration<double>(Clock::now() - start).count();
            if (!child->is_done && !child->is_complete_within(max_parents_)) give_back(child);
        }
    }

    // False when there is none, and the listing of this child has been ended.
    bool has_room(ChildListing& c) {
        const std::size_t bytes = c.bytes();
        n_bytes_ += static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(c.bytes_counted);
        c.bytes_counted = bytes;
        if (static_cast<double>(n_bytes_.load()) <= max_bytes_) return true;
        if (!stops_at_memory_) {
            throw TooManySets(c.child, c.limits.required.size() + c.level.set_size() + 1);
        }
        is_full_ = true;
        ++c.place;  // this one is done
        c.n_extended = 0;
        c.open = open_sets(c, slack_);
        coarsen(c.open, kMostOpenKept);
        c.level = c.next = SetLevel();
        c.place = 0;
        c.is_done = true;
        n_bytes_ += static_cast<std::int64_t>(c.bytes()) - static_cast<std::int64_t>(bytes);
        c.bytes_counted = c.bytes();
        return false;
    }

    static constexpr std::size_t kMostOpenKept = 4096;

    const Table* table_ = nullptr;  // neither where the listing is fed
    const Kernel* kernel_ = nullptr;
    const Pruning pruning_;
    const double slack_;
    std::vector<std::vector<std::int32_t>> required_, allowed_;
    std::vector<std::vector<double>> bonuses_;
    std::vector<ParentLimits> limits_;
    std::vector<ChildListing> children_;
    std::size_t most_ = 0;      // parents that any child may have
    std::vector<double> fits_;  // no family of a child has a higher log-likelihood
    bool has_caps_ = false;
    std::optional<SharedListing> shared_;
    std::optional<SetQueue> queue_;  // where it is
    bool is_stopped_ = false;

    // Of the run under way.
    bool is_limited_ = false, stops_at_memory_ = false;
    Clock::time_point deadline_;
    double max_bytes_ = kInfinity;
    std::size_t max_parents_ = kAnyParents;
    std::mutex mutex_;  // guards waiting_
    std::priority_queue<ChildListing*, std::vector<ChildListing*>, HadMore> waiting_;
    std::atomic<std::int64_t> n_bytes_ = 0;
    std::atomic<bool> is_full_ = false;
    std::atomic<std::int64_t> n_waiting_sets_ = 0;  // that the result will take time for
};

CandidateListing::CandidateListing(const Table& table, const Kernel& kernel,
                                   std::span<const ParentLimits> limits, const Pruning& pruning)
    : impl_(std::make_unique<Impl>(table, kernel, limits, pruning)) {}

CandidateListing::CandidateListing(std::span<const ParentLimits> limits, const Pruning& pruning,
                                   double slack)
    : impl_(std::make_unique<Impl>(limits, pruning, slack)) {}

CandidateListing::~CandidateListing() = default;

WantedSets CandidateListing::wanted(std::size_t most) { return impl_->queue().wanted(most); }

void CandidateListing::take(std::span<const double> scores, std::span<const double> bounds) {
    impl_->queue().take(scores, bounds);
}

void CandidateListing::stop() { impl_->stop(); }

void CandidateListing::run(double seconds, double max_bytes, bool stops_at_memory,
                           std::size_t max_parents, const Execution& execution) {
    impl_->run(seconds, max_bytes, stops_at_memory, max_parents, execution);
}

bool CandidateListing::is_over() const noexcept { return impl_->is_over(); }

bool CandidateListing::is_complete_within(std::size_t max_parents) const noexcept {
    return impl_->is_complete_within(max_parents);
}

ListingForecast CandidateListing::forecast(std::size_t max_parents) const {
    return impl_->forecast(max_parents);
}

bool CandidateListing::is_full() const noexcept { return impl_->is_full(); }

std::size_t CandidateListing::n_bytes() const noexcept { return impl_->n_bytes(); }

CandidateSets CandidateListing::result(std::size_t most_open, bool finish, std::size_t max_parents,
                                       const Execution& execution) {
    return impl_->result(most_open, finish, max_parents, execution);
}

CandidateSets candidate_sets(const Table& table, const Kernel& kernel,
                             std::span<const ParentLimits> limits,
                             const CandidateSettings& settings, const Execution& execution) {
    CandidateListing listing(table, kernel, limits, Pruning{settings.prune});
    listing.run(settings.seconds, settings.max_bytes, false, kAnyParents, execution);
    return listing.result(1, true, kAnyParents, execution);
}

}  // namespace bestdag
