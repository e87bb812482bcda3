#include "scoring/shared_listing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>

#include "base/subsets.hpp"
#include "counting/count_type.hpp"
#include "scoring/set_values.hpp"
#include "scoring/shared_worker.hpp"

namespace bestdag {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNanosecondsPerTask = 4e6;  // the clock is looked at in between
constexpr double kSecondsPerSetAtEnd = 1e-7;
constexpr double kLeastMeasured = 1e-3;      // seconds that say something about speed
constexpr double kBytesPerListed = 80.0;     // in a list that grows, and in a table
constexpr double kShareForLevel = 0.5;       // of the memory, for what the next size needs
// Roughly, in nanoseconds: what a set takes beside its cells, a cell, a row of a histogram.
constexpr double kPerSet = 40.0, kPerCell = 1.5, kPerRow = 0.7;
constexpr double kPerFamily = 100.0;  // where each is worked out by itself, beside its cells

}  // namespace

class SharedListing::Impl {
public:
    Impl(const Table& table, const Kernel& kernel, std::span<const ParentLimits> limits,
         const Pruning& pruning, double slack)
        : work_(table, kernel, limits, pruning, slack), n_scored_(limits.size(), 0) {
        for (const ParentLimits& limit : limits) most_ = std::max(most_, limit.max_parents);
        const StopFlag never{false};
        const auto evaluator = kernel.evaluator(table, never);
        if (!table.is_weighted() && evaluator->set_form() != SetForm::none) {
            work_.road = SharedRoad::terms;
            work_.counts.emplace(table, work_.subsets);
            work_.n_values = SetValueTerms(*evaluator, table).n_of_parents();
        } else if (evaluator->has_set_function()) {
            work_.road = SharedRoad::sets;
            work_.n_values = 1;
        }
    }

    void run(std::size_t max_parents, Clock::time_point until, double max_bytes,
             bool stops_at_memory, std::span<const double> fits, const Execution& execution) {
        work_.fits = fits;
        const std::size_t target = std::min({max_parents, most_, kMaxSharedParents});
        while (n_sizes_ <= target && !is_full_) {
            if (!has_begun_ && !begin(max_bytes, stops_at_memory)) return;
            // Every child gets its set without parents, however late it is.
            const auto end = n_sizes_ == 0 ? Clock::time_point::max() : until;
            with_count_type(work_.table, [&](auto zero) {
                work<decltype(zero)>(end, max_bytes, stops_at_memory, execution);
            });
            if (!tasks_.empty()) return;
            speed_ = measured_ > kLeastMeasured ? measured_ / (1e-9 * expected_) : speed_;
            work_.previous = std::move(work_.level);  // none where there was no room for it
            work_.level.reset();
            ++n_sizes_;
            has_begun_ = false;
        }
    }

    std::size_t n_sizes() const noexcept { return n_sizes_; }
    bool is_full() const noexcept { return is_full_; }

    std::size_t bytes() const noexcept {
        double bytes = work_.counts ? work_.counts->bytes() : 0.0;
        if (work_.previous) bytes += work_.previous->bytes();
        if (work_.level) bytes += work_.level->bytes();
        return static_cast<std::size_t>(bytes) + n_list_bytes_;
    }

    ListingForecast forecast(std::size_t max_parents) const {
        ListingForecast forecast;
        const std::size_t target = std::min(max_parents, most_);
        for (std::size_t size = n_sizes_ + 1; size <= target + 1; ++size) {
            const double n_sets = n_sets_of(size);
            const double n_left = size == n_sizes_ + 1 && has_begun_ ? n_sets_left() : n_sets;
            forecast.seconds += speed_ * 1e-9 * n_left * nanoseconds_per_set(size);
            forecast.bytes +=
                n_left * static_cast<double>(size) * share_that_stays() * kBytesPerListed;
            // What a larger size needs; without room for it there is none.
            if (size <= target) {
                forecast.bytes += 8.0 * n_sets * static_cast<double>(work_.n_values + size);
            }
            if (size > 1 && size == n_sizes_ + 1 && !work_.previous) forecast.bytes = kInfinity;
            if (size == n_sizes_ + 1 && has_begun_ && !work_.level && size <= target) {
                forecast.bytes = kInfinity;
            }
        }
        return forecast;
    }

    std::size_t n_listed() const noexcept { return n_listed_; }

    FoundSets sets(std::size_t child, std::size_t max_parents, bool take) {
        struct Sized {
            double score;
            std::array<std::uint16_t, kMaxSharedParents> parents;
            std::uint16_t size;
        };
        std::vector<Sized> sized;
        std::size_t n = 0;
        for (std::size_t size = 0; size < lists_.size() && size <= max_parents; ++size) {
            n += lists_[size][child].size();
        }
        sized.reserve(n);
        for (std::size_t size = 0; size < lists_.size() && size <= max_parents; ++size) {
            for (const SharedSet& one : lists_[size][child]) {
                sized.push_back({one.score, one.parents, static_cast<std::uint16_t>(size)});
            }
            if (take) std::vector<SharedSet>().swap(lists_[size][child]);
        }
        std::sort(sized.begin(), sized.end(), [](const Sized& a, const Sized& b) {
            if (a.score != b.score) return a.score > b.score;
            if (a.size != b.size) return a.size < b.size;
            return a.parents < b.parents;  // what is not used is zero
        });
        FoundSets found;
        found.scores.reserve(n);
        found.ends.reserve(n);
        std::array<std::int32_t, kMaxSharedParents> parents;
        for (const Sized& one : sized) {
            std::copy(one.parents.begin(), one.parents.end(), parents.begin());
            found.add(one.score, std::span(parents).first(one.size));
        }
        found.n_scored = n_scored_[child];
        return found;
    }

private:
    // Prefixes with these ranks, each with all larger columns.
    struct Task {
        std::size_t first, last;
        double n_sets;
    };

    // Make room for the next size, and tasks.
    bool begin(double max_bytes, bool stops_at_memory) {
        const std::size_t size = n_sizes_ + 1;
        const bool goes_on = size <= most_ && size <= kMaxSharedParents;
        double needed = 0.0;
        if (goes_on) {
            needed = SharedLevel::bytes_of(work_.subsets, size, work_.n_values + size);
            if (work_.counts) needed += work_.counts->bytes_of(size);
        }
        const bool has_room =
            static_cast<double>(bytes()) + needed <= (goes_on ? kShareForLevel : 1.0) * max_bytes;
        if (size > 1 && !work_.previous) return end(size, stops_at_memory);
        if (goes_on && has_room) {
            work_.level.emplace(work_.subsets, size, work_.n_values + size);
            if (work_.counts) work_.counts->add_size(size);
        }
        lists_.emplace_back(work_.table.n_columns());
        // The least columns have the most larger ones; prefixes come by their last column.
        const double per_set = nanoseconds_per_set(size);
        for (std::size_t last = size > 1 ? size - 2 : 0; last < work_.table.n_columns(); ++last) {
            const std::size_t first = size > 1 ? work_.subsets.choose(last, size - 1) : 0;
            const std::size_t end = size > 1 ? work_.subsets.choose(last + 1, size - 1) : 1;
            const std::size_t n_larger = work_.table.n_columns() - (size > 1 ? last + 1 : 0);
            if (n_larger == 0) break;
            const double per_prefix = per_set * static_cast<double>(n_larger);
            const auto step = static_cast<std::size_t>(
                std::max(1.0, std::min(kNanosecondsPerTask / per_prefix, 1e9)));
            for (std::size_t at = first; at < end; at += step) {
                const std::size_t to = std::min(end, at + step);
                tasks_.push_back({at, to, static_cast<double>((to - at) * n_larger)});
            }
            if (size == 1) break;
        }
        has_begun_ = true;
        measured_ = 0.0;
        expected_ = per_set * n_sets_left();
        return true;
    }

    bool end(std::size_t size, bool stops_at_memory) {
        if (!stops_at_memory) throw TooManySets(largest_child(), size - 1);
        is_full_ = true;
        return false;
    }

    std::size_t largest_child() const {
        std::size_t largest = 0;
        if (lists_.empty()) return largest;
        for (std::size_t child = 1; child < lists_.back().size(); ++child) {
            if (lists_.back()[child].size() > lists_.back()[largest].size()) largest = child;
        }
        return largest;
    }

    double n_sets_of(std::size_t size) const {
        const auto n = static_cast<double>(work_.table.n_columns());
        double n_sets = 1.0;
        for (std::size_t k = 0; k < size; ++k) {
            n_sets *= (n - static_cast<double>(k)) / static_cast<double>(k + 1);
        }
        return n_sets;
    }

    double n_sets_left() const {
        double n_sets = 0.0;
        for (const Task& task : tasks_) n_sets += task.n_sets;
        return n_sets;
    }

    // Of the families of the next size: no more than of the last one, most likely.
    double share_that_stays() const {
        if (n_sizes_ < 2) return 1.0;
        double n_listed = 0.0;
        for (const auto& list : lists_[n_sizes_ - 1]) n_listed += static_cast<double>(list.size());
        return n_listed / (n_sets_of(n_sizes_) * static_cast<double>(n_sizes_));
    }

    // Roughly; `speed_` is what it really took.
    double nanoseconds_per_set(std::size_t size) const {
        double states = 0.0;
        for (std::size_t c = 0; c < work_.table.n_columns(); ++c) {
            states += static_cast<double>(work_.table.column(c).arity);
        }
        const auto n_rows = static_cast<double>(work_.table.n_rows());
        states /= static_cast<double>(work_.table.n_columns());
        const auto n_members = static_cast<double>(size);
        const double cells = std::pow(states, n_members);
        const double numbers = std::pow(std::max(1.0, states - 1.0), n_members);
        double counting = kPerRow * n_rows;
        if (work_.counts) {
            counting = std::min(counting, numbers * (2.5 + n_rows / 64.0 / 10.0));
        }
        double evaluating = kPerSet + kPerCell * std::min(cells, 20.0 * n_rows);
        if (work_.road == SharedRoad::members) {
            evaluating = static_cast<double>(size) *
                         (kPerFamily + work_.kernel.traits().nanoseconds_per_family +
                          5.0 * std::min(cells, 20.0 * n_rows));
        }
        return counting + evaluating;
    }

    template <class Count>
    void work(Clock::time_point until, double max_bytes, bool stops_at_memory,
              const Execution& execution) {
        const std::size_t size = n_sizes_ + 1;
        const double expected = n_sets_left() * nanoseconds_per_set(size);
        const auto n_workers =
            std::min(tasks_.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
        std::atomic<bool> has_room = true;
        std::mutex mutex;  // guards tasks and lists
        parallel_for(n_workers, work_.kernel.expected(expected), execution,
                     [&](std::size_t, const StopFlag& stop) {
                         SharedWorker<Count> worker(work_, size, stop);
                         bool is_first = true;  // it is done in any case: slices come to an end
                         while (has_room &&
                                (is_first || Clock::now() + time_for_result() < until)) {
                             is_first = false;
                             Task task;
                             {
                                 const std::lock_guard lock(mutex);
                                 if (tasks_.empty()) return;
                                 task = tasks_.front();
                                 tasks_.pop_front();
                             }
                             const auto start = Clock::now();
                             try {
                                 worker.run(task.first, task.last);
                             } catch (...) {
                                 const std::lock_guard lock(mutex);
                                 tasks_.push_front(task);
                                 throw;
                             }
                             const std::lock_guard lock(mutex);
                             add(worker.listed(), worker.n_scored());
                             measured_ +=
                                 std::chrono::duration<double>(Clock::now() - start).count();
                             if (static_cast<double>(bytes()) > max_bytes) has_room = false;
                         }
                     });
        if (!has_room && !tasks_.empty()) end(size, stops_at_memory);
    }

    // What it takes to bring the sets into a result.
    Clock::duration time_for_result() const noexcept {
        const double seconds = kSecondsPerSetAtEnd * static_cast<double>(n_listed_.load());
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    void add(std::span<const SharedSet> listed, std::span<const std::int64_t> n_scored) {
        n_listed_ += listed.size();
        for (const SharedSet& one : listed) {
            auto& list = lists_.back()[one.child];
            const std::size_t before = list.capacity();
            list.push_back(one);
            n_list_bytes_ += (list.capacity() - before) * sizeof(SharedSet);
        }
        for (std::size_t child = 0; child < n_scored.size(); ++child) {
            n_scored_[child] += n_scored[child];
        }
    }

    SharedWork work_;
    std::size_t most_ = 0;  // parents that any child may have
    std::vector<std::vector<std::vector<SharedSet>>> lists_;  // by number of parents and child
    std::size_t n_list_bytes_ = 0;
    std::atomic<std::size_t> n_listed_ = 0;
    std::vector<std::int64_t> n_scored_;
    double measured_ = 0.0, expected_ = 0.0;  // of this size: seconds, and forecast nanoseconds
    double speed_ = 1.0;                      // of the last size: how much longer it took
    std::size_t n_sizes_ = 0;
    bool has_begun_ = false, is_full_ = false;
    std::deque<Task> tasks_;  // of the size that is under way, what is not done
};

SharedListing::SharedListing(const Table& table, const Kernel& kernel,
                             std::span<const ParentLimits> limits, const Pruning& pruning,
                             double slack)
    : impl_(std::make_unique<Impl>(table, kernel, limits, pruning, slack)) {}

SharedListing::~SharedListing() = default;

bool SharedListing::suits(const Table& table, const Kernel& kernel,
                          std::span<const ParentLimits> limits) noexcept {
    if (kernel.traits().may_refuse) return false;
    if (table.n_columns() > std::numeric_limits<std::uint16_t>::max()) return false;
    if (kernel.traits().nanoseconds_per_family > kPerFamily) return false;
    double n_allowed = 0.0;
    for (const ParentLimits& limit : limits) {
        n_allowed += static_cast<double>(limit.allowed.size());
    }
    // Where knowledge leaves little there is little to share.
    return 2.0 * n_allowed >= static_cast<double>(table.n_columns() * (table.n_columns() - 1));
}

void SharedListing::run(std::size_t max_parents, Clock::time_point until, double max_bytes,
                        bool stops_at_memory, std::span<const double> fits,
                        const Execution& execution) {
    impl_->run(max_parents, until, max_bytes, stops_at_memory, fits, execution);
}

std::size_t SharedListing::n_sizes() const noexcept { return impl_->n_sizes(); }
bool SharedListing::is_full() const noexcept { return impl_->is_full(); }
std::size_t SharedListing::bytes() const noexcept { return impl_->bytes(); }
std::size_t SharedListing::n_listed() const noexcept { return impl_->n_listed(); }

ListingForecast SharedListing::forecast(std::size_t max_parents) const {
    return impl_->forecast(max_parents);
}

FoundSets SharedListing::sets(std::size_t child, std::size_t max_parents, bool take) {
    return impl_->sets(child, max_parents, take);
}

}  // namespace bestdag
