#include "scoring/shared_listing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "base/subsets.hpp"
#include "counting/count_type.hpp"
#include "scoring/reduced_counts.hpp"
#include "scoring/set_scorer.hpp"
#include "scoring/set_values.hpp"
#include "scoring/shared_level.hpp"

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

// A set that stays, of a child.
struct Listed {
    double score;
    std::array<std::uint16_t, kMaxSharedParents> parents;
    std::uint16_t child;
};

// How a set of columns gives the scores of its families.
enum class Road : std::uint8_t {
    terms,    // a difference of sums of terms of counts, which are remembered
    sets,     // a difference of values of sets
    members,  // each family by itself
};

// What the parents of the children may be, by arc.
struct Arcs {
    Arcs(std::size_t n_columns, std::span<const ParentLimits> limits) : n(n_columns) {
        for (const ParentLimits& limit : limits) {
            const bool has_bonus =
                limit.bonus != 0.0 || std::any_of(limit.bonuses.begin(), limit.bonuses.end(),
                                                  [](double term) { return term != 0.0; });
            is_plain.push_back(limit.required.empty() && limit.allowed.size() + 1 == n &&
                               !has_bonus);
            max_parents.push_back(limit.max_parents);
            base.push_back(limit.bonus);
            n_required.push_back(limit.required.size());
        }
        if (std::ranges::all_of(is_plain, [](std::uint8_t plain) { return plain != 0; })) return;
        bonus.assign(n * n, -kInfinity);
        required.assign(n * n, 0);
        for (std::size_t child = 0; child < n; ++child) {
            const ParentLimits& limit = limits[child];
            for (std::size_t i = 0; i < limit.allowed.size(); ++i) {
                bonus[child * n + static_cast<std::size_t>(limit.allowed[i])] = limit.bonus_of(i);
            }
            for (const std::int32_t parent : limit.required) {
                bonus[child * n + static_cast<std::size_t>(parent)] = 0.0;
                required[child * n + static_cast<std::size_t>(parent)] = 1;
            }
        }
    }

    std::size_t n;
    std::vector<std::uint8_t> is_plain;  // by child: anything goes, up to so many
    std::vector<std::size_t> max_parents, n_required;
    std::vector<double> base;
    // By child and parent, if any child is not plain: minus infinity where it is not allowed.
    std::vector<double> bonus;
    std::vector<std::uint8_t> required;
};

}  // namespace

class SharedListing::Impl {
public:
    Impl(const Table& table, const Kernel& kernel, std::span<const ParentLimits> limits,
         const Pruning& pruning, double slack)
        : table_(table),
          kernel_(kernel),
          pruning_(pruning),
          slack_(slack + pruning.margin),
          arcs_(table.n_columns(), limits),
          subsets_(table.n_columns(), kMaxSharedParents),
          n_scored_(limits.size(), 0) {
        for (const ParentLimits& limit : limits) most_ = std::max(most_, limit.max_parents);
        const StopFlag never{false};
        const auto evaluator = kernel.evaluator(table, never);
        road_ = !table.is_weighted() && evaluator->set_form() != SetForm::none ? Road::terms
                : evaluator->has_set_function()                               ? Road::sets
                                                                              : Road::members;
        if (road_ == Road::terms) {
            counts_.emplace(table, subsets_);
            n_values_ = SetValueTerms(*evaluator, table).n_of_parents();
        } else if (road_ == Road::sets) {
            n_values_ = 1;
        }
    }

    void run(std::size_t max_parents, Clock::time_point until, double max_bytes,
             bool stops_at_memory, std::span<const double> fits, const Execution& execution) {
        fits_ = fits;
        const std::size_t target = std::min({max_parents, most_, kMaxSharedParents});
        while (n_sizes_ <= target && !is_full_) {
            if (!has_begun_ && !begin(max_bytes, stops_at_memory)) return;
            // Every child gets its set without parents, however late it is.
            const auto end = n_sizes_ == 0 ? Clock::time_point::max() : until;
            with_count_type(table_, [&](auto zero) {
                work<decltype(zero)>(end, max_bytes, stops_at_memory, execution);
            });
            if (!tasks_.empty()) return;
            speed_ = measured_ > kLeastMeasured ? measured_ / (1e-9 * expected_) : speed_;
            previous_ = std::move(level_);  // none where there was no room for it
            level_.reset();
            ++n_sizes_;
            has_begun_ = false;
        }
    }

    std::size_t n_sizes() const noexcept { return n_sizes_; }
    bool is_full() const noexcept { return is_full_; }

    std::size_t bytes() const noexcept {
        double bytes = counts_ ? counts_->bytes() : 0.0;
        if (previous_) bytes += previous_->bytes();
        if (level_) bytes += level_->bytes();
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
                forecast.bytes += 8.0 * n_sets * static_cast<double>(n_values_ + size);
            }
            if (size > 1 && size == n_sizes_ + 1 && !previous_) forecast.bytes = kInfinity;
            if (size == n_sizes_ + 1 && has_begun_ && !level_ && size <= target) {
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
            for (const Listed& one : lists_[size][child]) {
                sized.push_back({one.score, one.parents, static_cast<std::uint16_t>(size)});
            }
            if (take) std::vector<Listed>().swap(lists_[size][child]);
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
            needed = SharedLevel::bytes_of(subsets_, size, n_values_ + size);
            if (counts_) needed += counts_->bytes_of(size);
        }
        const bool has_room =
            static_cast<double>(bytes()) + needed <= (goes_on ? kShareForLevel : 1.0) * max_bytes;
        if (size > 1 && !previous_) return end(size, stops_at_memory);
        if (goes_on && has_room) {
            level_.emplace(subsets_, size, n_values_ + size);
            if (counts_) counts_->add_size(size);
        }
        lists_.emplace_back(table_.n_columns());
        // The least columns have the most larger ones; prefixes come by their last column.
        const double per_set = nanoseconds_per_set(size);
        for (std::size_t last = size > 1 ? size - 2 : 0; last < table_.n_columns(); ++last) {
            const std::size_t first = size > 1 ? subsets_.choose(last, size - 1) : 0;
            const std::size_t end = size > 1 ? subsets_.choose(last + 1, size - 1) : 1;
            const std::size_t n_larger = table_.n_columns() - (size > 1 ? last + 1 : 0);
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
        const auto n = static_cast<double>(table_.n_columns());
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
        for (std::size_t c = 0; c < table_.n_columns(); ++c) {
            states += static_cast<double>(table_.column(c).arity);
        }
        const auto n_rows = static_cast<double>(table_.n_rows());
        const double cells =
            std::pow(states / static_cast<double>(table_.n_columns()), static_cast<double>(size));
        const double numbers = std::pow(
            std::max(1.0, states / static_cast<double>(table_.n_columns()) - 1.0),
            static_cast<double>(size));
        double counting = kPerRow * n_rows;
        if (counts_) {
            counting = std::min(counting, numbers * (2.5 + n_rows / 64.0 / 10.0));
        }
        double evaluating = kPerSet + kPerCell * std::min(cells, 20.0 * n_rows);
        if (road_ == Road::members) {
            evaluating = static_cast<double>(size) *
                         (kPerFamily + kernel_.traits().nanoseconds_per_family +
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
        parallel_for(n_workers, kernel_.expected(expected), execution,
                     [&](std::size_t, const StopFlag& stop) {
                         Worker<Count> worker(*this, size, stop);
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

    void add(std::span<const Listed> listed, std::span<const std::int64_t> n_scored) {
        n_listed_ += listed.size();
        for (const Listed& one : listed) {
            auto& list = lists_.back()[one.child];
            const std::size_t before = list.capacity();
            list.push_back(one);
            n_list_bytes_ += (list.capacity() - before) * sizeof(Listed);
        }
        for (std::size_t child = 0; child < n_scored.size(); ++child) {
            n_scored_[child] += n_scored[child];
        }
    }

    template <class Count>
    class Worker;

    const Table& table_;
    const Kernel& kernel_;
    const Pruning pruning_;
    const double slack_;  // what a bound must be lower by, the margin included
    const Arcs arcs_;
    const Subsets subsets_;
    std::size_t most_ = 0;  // parents that any child may have
    Road road_ = Road::members;
    std::size_t n_values_ = 0;  // of a set, for families in which it is the parents
    std::optional<ReducedCounts> counts_;
    // Fields: the values, and for each member as child the best score among the family and those
    // with fewer parents. None where there was no memory for it.
    std::optional<SharedLevel> previous_, level_;
    std::vector<std::vector<std::vector<Listed>>> lists_;  // by number of parents and child
    std::size_t n_list_bytes_ = 0;
    std::atomic<std::size_t> n_listed_ = 0;
    std::vector<std::int64_t> n_scored_;
    double measured_ = 0.0, expected_ = 0.0;  // of this size: seconds, and forecast nanoseconds
    double speed_ = 1.0;                      // of the last size: how much longer it took
    std::size_t n_sizes_ = 0;
    bool has_begun_ = false, is_full_ = false;
    std::deque<Task> tasks_;  // of the size that is under way, what is not done
    std::span<const double> fits_;
};

// One thread's work on the sets of one size.
template <class Count>
class SharedListing::Impl::Worker {
public:
    Worker(Impl& of, std::size_t size, const StopFlag& stop)
        : of_(of),
          table_(of.table_),
          stop_(stop),
          m_(size - 1),
          n_(of.table_.n_columns()),
          scorer_(of.table_, of.kernel_, stop),
          evaluator_(of.kernel_.evaluator(of.table_, stop)),
          counter_(of.table_, true),
          n_scored_(n_, 0) {
        if (of_.road_ == Road::terms) {
            terms_.emplace(*evaluator_, table_);
            reduced_.emplace(table_, *of_.counts_);
            is_binary_ = true;
            for (std::size_t c = 0; c < n_; ++c) is_binary_ &= table_.column(c).arity == 2;
            has_beside_ = evaluator_->has_beside();
        }
        max_cells_ = evaluator_->max_cells();
        for (std::size_t c = 0; c < n_; ++c) {
            arities_.push_back(table_.column(c).arity);
        }
        std::sort(arities_.begin(), arities_.end());
        arities_.erase(std::unique(arities_.begin(), arities_.end()), arities_.end());
        for (std::size_t c = 0; c < n_; ++c) {
            arity_number_.push_back(static_cast<std::size_t>(
                std::lower_bound(arities_.begin(), arities_.end(), table_.column(c).arity) -
                arities_.begin()));
        }
        others_.resize(m_);
        scores_.resize(size);
        best_.resize(size);
        // What is bounded need not be counted, unless the next size builds on it.
        const Family family{0, {}};
        has_most_ = of_.pruning_.is_on && !of_.level_ && m_ > 0 &&
                    evaluator_->most(shape_of(table_, family)) < kInfinity;
    }

    void run(std::size_t first_rank, std::size_t last_rank) {
        listed_.clear();
        std::fill(n_scored_.begin(), n_scored_.end(), 0);
        prefix_.resize(m_);
        of_.subsets_.unrank(first_rank, prefix_);
        for (std::size_t rank = first_rank; rank < last_rank; ++rank) {
            check(stop_);
            visit();
            next_subset(prefix_);
        }
    }

    std::span<const Listed> listed() const { return listed_; }
    std::span<const std::int64_t> n_scored() const { return n_scored_; }

private:
    // All sets that add one larger column to the prefix.
    void visit() {
        first_ = SharedLevel::first_of(prefix_);
        len_ = n_ - first_;
        if (len_ == 0) return;
        for (std::size_t i = 0; i < m_; ++i) {
            others_[i] = prefix_;
            others_[i].erase(others_[i].begin() + static_cast<std::ptrdiff_t>(i));
        }
        for (std::size_t i = 0; i <= m_; ++i) {
            scores_[i].resize(len_);
            best_[i].resize(len_);
        }
        if (of_.pruning_.is_on) find_best();
        is_wanted_.assign(len_, 1);
        if (has_most_ && !bound()) return;
        joint_.assign(len_, -kInfinity);
        if (of_.road_ == Road::terms) {
            parent_values_.assign(terms_->is_by_arity() && of_.level_ ? terms_->n_of_parents() : 0,
                                  std::vector<double>(len_, 0.0));
            value_by_terms();
        } else if (of_.road_ == Road::sets) {
            scorer_.visit_sets(prefix_, wanted_columns(), stop_,
                               [&](const auto& set, std::span<const Count> cells) {
                                   joint_[static_cast<std::size_t>(set.back()) - first_] =
                                       scorer_.set_value(set, cells, stop_);
                               });
        } else {
            for (auto& scores : scores_) std::fill(scores.begin(), scores.end(), -kInfinity);
            scorer_.visit_sets(
                prefix_, wanted_columns(), stop_,
                [&](const auto& set, std::span<const Count> cells) {
                    const std::size_t k = static_cast<std::size_t>(set.back()) - first_;
                    for (std::size_t i = 0; i <= m_; ++i) {
                        if (of_.arcs_.max_parents[static_cast<std::size_t>(set[i])] < m_) continue;
                        scores_[i][k] = scorer_.member_score(set, i, cells, stop_);
                    }
                });
        }
        if (of_.road_ != Road::members) subtract();
        for (std::size_t i = 0; i <= m_; ++i) list(i);
        if (of_.level_) store();
    }

    std::span<const std::int32_t> wanted_columns() {
        columns_.clear();
        for (std::size_t k = 0; k < len_; ++k) {
            if (is_wanted_[k]) columns_.push_back(static_cast<std::int32_t>(first_ + k));
        }
        return columns_;
    }

    const double* row(std::size_t without, std::size_t field) const {
        const auto& prefix = others_[without];
        return of_.previous_->row(prefix, field) + (first_ - SharedLevel::first_of(prefix));
    }

    // Of each family, the best score among those with one parent less, and all below them.
    void find_best() {
        if (m_ == 0) {
            best_[0].assign(len_, -kInfinity);
            return;
        }
        const std::size_t n_values = of_.n_values_;
        for (std::size_t i = 0; i < m_; ++i) {
            best_[i].assign(len_, of_.previous_->at(prefix_, n_values + i));
            for (std::size_t j = 0; j < m_; ++j) {
                if (j == i) continue;
                raise(best_[i], row(j, n_values + (i < j ? i : i - 1)));
            }
        }
        best_[m_].assign(len_, -kInfinity);
        for (std::size_t j = 0; j < m_; ++j) raise(best_[m_], row(j, n_values + m_ - 1));
    }

    static void raise(std::vector<double>& best, const double* values) {
        double* const to = best.data();
        const std::size_t n = best.size();
        for (std::size_t k = 0; k < n; ++k) to[k] = to[k] < values[k] ? values[k] : to[k];
    }

    // Which sets need be counted: those with a family that its shape does not rule out.
    bool bound() {
        const double weight = evaluator_->likelihood_weight();
        most_.assign((m_ + 1) * arities_.size(), std::numeric_limits<double>::quiet_NaN());
        std::size_t n_wanted = 0;
        for (std::size_t k = 0; k < len_; ++k) {
            const auto d = static_cast<std::int32_t>(first_ + k);
            const std::size_t a = arity_number_[first_ + k];
            bool is_open = false;
            for (std::size_t i = 0; i <= m_ && !is_open; ++i) {
                const std::int32_t child = i < m_ ? prefix_[i] : d;
                const auto c = static_cast<std::size_t>(child);
                if (!of_.arcs_.is_plain[c]) {
                    is_open = true;
                    continue;
                }
                if (of_.arcs_.max_parents[c] < m_) continue;
                double& most = most_[i * arities_.size() + a];
                if (std::isnan(most)) {
                    if (i < m_) {
                        parents_ = others_[i];
                        parents_.push_back(d);
                    } else {
                        parents_ = prefix_;
                    }
                    most = evaluator_->most(shape_of(table_, {c, parents_}));
                }
                is_open = most + weight * of_.fits_[c] + of_.slack_ > best_[i][k];
            }
            is_wanted_[k] = is_open;
            n_wanted += is_open;
        }
        // Many at once are faster than some of them one by one.
        if (is_binary_ && 4 * n_wanted > len_) is_wanted_.assign(len_, 1);
        return n_wanted > 0;
    }

    // g of every set, and what it has as parents.
    void value_by_terms() {
        const std::size_t numbers = of_.counts_->n_numbers(prefix_);
        by_bits_.clear();
        by_rows_.clear();
        for (std::size_t k = 0; k < len_; ++k) {
            if (!is_wanted_[k]) continue;
            const auto d = static_cast<std::int32_t>(first_ + k);
            (of_.counts_->covers(numbers, d) ? by_bits_ : by_rows_).push_back(d);
        }
        double n_cells = 1.0;
        for (const std::int32_t column : prefix_) n_cells *= arity(column);
        if (!by_bits_.empty()) {
            reduced_->count(prefix_, by_bits_, stop_);
            const bool are_all = by_bits_.size() == len_;
            if (is_binary_ && are_all && value_together(2.0 * n_cells)) return;
            for (const std::int32_t d : by_bits_) {
                const auto sized = terms_->of_size(n_cells * arity(d));
                const auto cells = reduced_->cells(d);
                put(d, sized, terms_->joint(sized, cells), n_occupied(cells));
                put_as_parents(d, cells);
            }
        }
        if (by_rows_.empty()) return;
        if constexpr (std::is_same_v<Count, std::uint32_t>) {
            scorer_.visit_sets(prefix_, by_rows_, stop_,
                               [&](const auto& set, std::span<const std::uint32_t> cells) {
                                   const auto sized = terms_->of_size(n_cells * arity(set.back()));
                                   if (cells.empty()) {
                                       value_by_sorting(set, sized);
                                       return;
                                   }
                                   put(set.back(), sized, terms_->joint(sized, cells),
                                       n_occupied(cells));
                                   put_as_parents(set.back(), cells);
                               });
        }
    }

    // Too many cells for an array.
    void value_by_sorting(std::span<const std::int32_t> set, const SetValueTerms::Sized& sized) {
        if constexpr (std::is_same_v<Count, std::uint32_t>) {
            const Family family{static_cast<std::size_t>(set.back()), set.first(set.size() - 1)};
            double sum = 0.0;
            std::size_t n_seen = 0;
            counter_.visit(family, stop_, [&](const CountRows<std::uint32_t>& rows) {
                sum += terms_->joint(sized, rows.cells);
                n_seen += n_occupied(rows.cells);
                put_as_parents(set.back(), rows.cells);
            });
            put(set.back(), sized, sum, n_seen);
        }
    }

    void put(std::int32_t d, const SetValueTerms::Sized& sized, double sum, std::size_t n_seen) {
        const bool is_out = m_ > 0 && static_cast<double>(n_seen) > max_cells_;
        joint_[static_cast<std::size_t>(d) - first_] = is_out ? -kInfinity : sum + sized.constant;
    }

    void put_as_parents(std::int32_t d, std::span<const std::uint32_t> cells) {
        for (std::size_t a = 0; a < parent_values_.size(); ++a) {
            parent_values_[a][static_cast<std::size_t>(d) - first_] += terms_->of_rows(a, cells);
        }
    }

    std::size_t n_occupied(std::span<const std::uint32_t> cells) const {
        if (max_cells_ == kInfinity) return 0;
        std::size_t n = 0;
        for (const std::uint32_t count : cells) n += count > 0;
        return n;
    }

    // All columns have two states: many sets at once. False where counts are too large for that.
    bool value_together(double n_cells) {
        const auto sized = terms_->of_size(n_cells);
        if (!sized.terms->holds(table_.total_weight())) return false;
        constexpr std::size_t kTogether = ReducedCounter::kTogether;
        const auto n = static_cast<std::size_t>(n_cells);
        std::array<double, kTogether> sums;
        std::array<std::uint32_t, kTogether> n_seen;
        std::array<std::uint32_t, std::size_t{2} << kMaxSharedParents> one;
        for (std::size_t begin = 0; begin < len_; begin += kTogether) {
            const std::size_t some = std::min(kTogether, len_ - begin);
            const std::uint32_t* const cells =
                reduced_->cells_together(static_cast<std::int32_t>(first_ + begin), some);
            sums.fill(0.0);
            const double* const terms = sized.terms->data();
            for (std::size_t cell = 0; cell < n; ++cell) {
                const std::uint32_t* const counts = cells + cell * kTogether;
                for (std::size_t i = 0; i < some; ++i) sums[i] += terms[counts[i]];
            }
            n_seen.fill(0);
            if (max_cells_ < kInfinity) {
                for (std::size_t cell = 0; cell < n; ++cell) {
                    const std::uint32_t* const counts = cells + cell * kTogether;
                    for (std::size_t i = 0; i < some; ++i) n_seen[i] += counts[i] > 0;
                }
            }
            for (std::size_t i = 0; i < some; ++i) {
                const auto d = static_cast<std::int32_t>(first_ + begin + i);
                const bool is_new = std::isnan(sums[i]);  // a count that was not met before
                if (is_new || !parent_values_.empty()) {
                    for (std::size_t cell = 0; cell < n; ++cell) {
                        one[cell] = cells[cell * kTogether + i];
                    }
                }
                if (is_new) sums[i] = terms_->joint(sized, std::span(one).first(n));
                put(d, sized, sums[i], n_seen[i]);
                put_as_parents(d, std::span(one).first(n));
            }
        }
        return true;
    }

    // From values of sets to scores of families.
    void subtract() {
        for (std::size_t i = 0; i < m_; ++i) {
            const double* const of_parents = row(i, value_number(prefix_[i]));
            const double* const of_set = joint_.data();
            double* const scores = scores_[i].data();
            for (std::size_t k = 0; k < len_; ++k) {
                scores[k] = of_parents[k] > -kInfinity ? of_set[k] - of_parents[k] : of_parents[k];
            }
        }
        for (std::size_t k = 0; k < len_; ++k) {
            const auto d = static_cast<std::int32_t>(first_ + k);
            const std::size_t number = value_number(d);
            scores_[m_][k] = set_difference(
                joint_[k], m_ == 0 ? empty_value(number) : of_previous(number));
        }
        if (has_beside_) add_beside();
    }

    double of_previous(std::size_t number) const { return of_.previous_->at(prefix_, number); }

    // No columns at all: one cell that has every row.
    double empty_value(std::size_t number) {
        if (of_.road_ == Road::sets) return scorer_.empty_set_value();
        const std::array all{static_cast<std::uint32_t>(table_.total_weight())};
        if (terms_->is_by_arity()) return terms_->of_rows(number, all);
        const auto sized = terms_->of_size(1.0);
        return terms_->joint(sized, all) + sized.constant;
    }

    std::size_t value_number(std::int32_t child) const {
        return terms_ ? terms_->number_of_arity(arity_of(child)) : 0;
    }

    void add_beside() {
        for (std::size_t k = 0; k < len_; ++k) {
            if (!is_wanted_[k]) continue;
            const auto d = static_cast<std::int32_t>(first_ + k);
            for (std::size_t i = 0; i <= m_; ++i) {
                parents_ = i < m_ ? others_[i] : prefix_;
                if (i < m_) parents_.push_back(d);
                const auto child = static_cast<std::size_t>(i < m_ ? prefix_[i] : d);
                scores_[i][k] += evaluator_->beside_sets(shape_of(table_, {child, parents_}));
            }
        }
    }

    // Keep what no subset dominates, of the families whose child has position i in the set.
    void list(std::size_t i) {
        if (i == m_ || !of_.arcs_.is_plain[static_cast<std::size_t>(prefix_[i])]) {
            for (std::size_t k = 0; k < len_; ++k) list_one(i, k);
            return;
        }
        const auto child = static_cast<std::size_t>(prefix_[i]);
        if (of_.arcs_.max_parents[child] < m_) {
            std::fill(scores_[i].begin(), scores_[i].end(), -kInfinity);
            return;
        }
        const double* const scores = scores_[i].data();
        const double* const best = best_[i].data();
        std::size_t n_wanted = 0;
        bool is_bad = false;
        for (std::size_t k = 0; k < len_; ++k) {
            n_wanted += is_wanted_[k];
            is_bad |= scores[k] != scores[k];
        }
        if (is_bad) throw std::domain_error("a score is not a number");
        n_scored_[child] += static_cast<std::int64_t>(n_wanted);
        for (std::size_t k = 0; k < len_; ++k) {
            if (stays(scores[k], best[k])) keep(i, k, scores[k]);
        }
    }

    bool stays(double score, double best) const noexcept {
        return of_.pruning_.is_on ? of_.pruning_.keeps(score, best) : score > -kInfinity;
    }

    // One family, whatever the limits of its child.
    void list_one(std::size_t i, std::size_t k) {
        if (!is_wanted_[k]) return;
        const Arcs& arcs = of_.arcs_;
        const auto d = static_cast<std::int32_t>(first_ + k);
        const auto child = static_cast<std::size_t>(i < m_ ? prefix_[i] : d);
        double& score = scores_[i][k];
        if (!arcs.is_plain[child]) {
            double bonus = arcs.base[child];
            std::size_t n_required = 0;
            const auto add = [&](std::int32_t parent) {
                bonus += arcs.bonus[child * n_ + static_cast<std::size_t>(parent)];
                n_required += arcs.required[child * n_ + static_cast<std::size_t>(parent)];
            };
            for (const std::int32_t parent : i < m_ ? others_[i] : prefix_) add(parent);
            if (i < m_) add(d);
            const bool is_allowed = n_required == arcs.n_required[child] && bonus > -kInfinity;
            score = is_allowed ? score + bonus : -kInfinity;
            if (!is_allowed) return;
        }
        if (arcs.max_parents[child] < m_) {
            score = -kInfinity;
            return;
        }
        ++n_scored_[child];
        if (score != score) throw std::domain_error("a score is not a number");
        if (stays(score, best_[i][k])) keep(i, k, score);
    }

    void keep(std::size_t i, std::size_t k, double score) {
        Listed one{score, {}, 0};
        const auto d = static_cast<std::uint16_t>(first_ + k);
        const auto& parents = i < m_ ? others_[i] : prefix_;
        for (std::size_t p = 0; p < parents.size(); ++p) {
            one.parents[p] = static_cast<std::uint16_t>(parents[p]);
        }
        if (i < m_) one.parents[m_ - 1] = d;
        one.child = i < m_ ? static_cast<std::uint16_t>(prefix_[i]) : d;
        listed_.push_back(one);
    }

    // What the next size needs.
    void store() {
        SharedLevel& level = *of_.level_;
        if (parent_values_.empty() && of_.n_values_ > 0) {
            std::copy(joint_.begin(), joint_.end(), level.row(prefix_, 0));
        }
        for (std::size_t a = 0; a < parent_values_.size(); ++a) {
            std::copy(parent_values_[a].begin(), parent_values_[a].end(), level.row(prefix_, a));
        }
        for (std::size_t i = 0; i <= m_; ++i) {
            if (of_.pruning_.is_on) raise(best_[i], scores_[i].data());
            std::copy(best_[i].begin(), best_[i].end(), level.row(prefix_, of_.n_values_ + i));
        }
    }

    std::size_t arity_of(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }
    double arity(std::int32_t column) const { return static_cast<double>(arity_of(column)); }

    Impl& of_;
    const Table& table_;
    const StopFlag& stop_;
    const std::size_t m_;  // columns of a prefix
    const std::size_t n_;
    SetScorer<Count> scorer_;
    std::unique_ptr<Evaluator> evaluator_;
    FamilyCounter<Count> counter_;
    std::optional<SetValueTerms> terms_;
    std::optional<ReducedCounter> reduced_;
    bool is_binary_ = false, has_beside_ = false, has_most_ = false;
    double max_cells_ = kInfinity;
    std::vector<std::size_t> arities_, arity_number_;  // distinct; by column

    // The prefix at hand, and what goes with each larger column.
    std::vector<std::int32_t> prefix_, parents_, columns_, by_bits_, by_rows_;
    std::vector<std::vector<std::int32_t>> others_;  // the prefix without each of its members
    std::size_t first_ = 0, len_ = 0;
    std::vector<std::uint8_t> is_wanted_;
    std::vector<double> joint_, most_;                 // g; and bounds by position and arity
    std::vector<std::vector<double>> parent_values_;   // h by arity, where it is not g
    std::vector<std::vector<double>> scores_, best_;   // by position of the child

    // Of the task at hand.
    std::vector<Listed> listed_;
    std::vector<std::int64_t> n_scored_;
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
