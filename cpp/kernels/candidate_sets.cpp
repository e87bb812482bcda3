#include "kernels/candidate_sets.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <queue>

#include "kernels/count_type.hpp"
#include "kernels/found_sets.hpp"
#include "kernels/joint_counts.hpp"
#include "kernels/likelihood_caps.hpp"
#include "kernels/lookup.hpp"
#include "kernels/open_sets.hpp"
#include "kernels/partition_counter.hpp"
#include "kernels/set_level.hpp"

namespace bestdag {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNanosecondsPerSet = 500.0;  // enough to decide whether threads are worth it
// More cells than this for each row of the data: most are empty, and a partition is faster.
constexpr double kDenseCellsPerRow = 1.0;
constexpr double kPartitionCellsPerPart = 256.0;  // memory: so many cells per row of the data
// Scores are sums of terms of the size of N ln N, rounded: a bound must be better than that.
constexpr double kRelativeSlack = 1e-12;

// With a time limit a child is left for another after so long, or after so much of its time so far:
// to come back to it costs a look at its rows.
constexpr double kLeastSlice = 0.05, kSliceShare = 0.25;
// The clock is looked at after so many rows of so many families; 10 ms or so.
constexpr std::size_t kRowsPerLook = std::size_t{1} << 23;
constexpr std::size_t kFewCandidates = 16;  // not fewer: the rows are split for each look
// Likelihoods given all other columns may take this share of the time, or so many seconds.
constexpr double kShareForCaps = 0.1, kSecondsForCaps = 0.02;
// To bring a set, found or open, into the result: what is kept back of the time.
constexpr double kSecondsPerSetAtEnd = 1e-7;

// What is listed of one child, and where to go on. Sets are written as positions in `chosen`.
struct ChildListing {
    std::size_t child = 0;
    ParentLimits limits{};
    double fit = 0.0;  // no family of the child has a higher log-likelihood

    bool has_begun = false, is_done = false;
    double seconds = 0.0;              // it has had
    std::vector<std::int32_t> chosen;  // columns that may be added to the required parents
    std::vector<double> bonuses;       // of each
    double positive_bonus = 0.0;       // the sum of those above 0
    double growth = kInfinity;         // the smallest arity of these columns
    std::size_t max_chosen = 0;
    bool watches_parents = false;  // the score has a rule about single parents

    SetLevel level, next;        // the sets that are open, and those with one member more so far
    std::size_t place = 0;       // the set of `level` that is being extended
    std::size_t n_extended = 0;  // candidates of it that are done
    FoundSets found;
    FoundSets open;  // what is left of the levels where memory ended the listing
    std::size_t bytes_counted = 0;

    std::size_t bytes() const noexcept { return level.bytes() + next.bytes() + found.bytes(); }
    std::size_t n_sets() const noexcept {
        return found.scores.size() + level.size() - place + next.size();
    }
};

// Sets with bounds that cover what is not listed. A set that is neither listed nor dominated has
// open subsets only. Either it contains one of the next size that is not scored yet, and with it a
// set of the level that has not been extended; or all of those are scored, and it contains one.
FoundSets open_sets(const ChildListing& c, double slack) {
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

// One thread's search: takes up the listing of any child where it was left.
template <class Count>
class Enumerator {
public:
    Enumerator(const Table& table, const Kernel& kernel, bool prune, double slack,
               const StopFlag& stop)
        : table_(table),
          prune_(prune),
          slack_(slack),
          stop_(stop),
          evaluator_(kernel.evaluator(table, stop)),
          joint_(table, true),
          partition_(table),
          counter_(table, true),
          n_log_n_(table.total_weight()),
          candidates_per_look_(std::max(kFewCandidates, kRowsPerLook / table.n_rows())) {}

    // Score the smallest set, or go on until the sets of the next size are there or time is up.
    // `keep` is called after each set that is extended; the listing ends where it says no.
    template <class Keep>
    void advance(ChildListing& child, Clock::time_point until, const Keep& keep) {
        at_ = &child;
        if (!child.has_begun) {
            begin();
        } else if (!extend_all(until, keep)) {
            return;
        }
        child.place = 0;
        child.is_done = child.level.size() == 0 || child.level.set_size() >= child.max_chosen;
        if (child.is_done) {
            child.level = SetLevel();
        } else if (prune_) {
            child.level.index();
        }
    }

private:
    // A set about to be counted: one of the level and one more member.
    struct Candidate {
        std::uint16_t member;
        double best;   // over the subsets
        double bound;  // the lowest of theirs
        std::size_t first_subset;
    };

    void begin() {
        ChildListing& c = *at_;
        const ParentLimits& limits = c.limits;
        for (std::size_t i = 0; i < limits.allowed.size(); ++i) {
            const double bonus = limits.bonuses[i];
            const std::uint32_t states = arity(limits.allowed[i]);
            // A parent with one state changes no count, and a child with one state has nothing to
            // be learnt from a parent: it can only tie.
            const std::uint32_t n_states = std::min(states, table_.column(c.child).arity);
            const bool ties = n_states == 1 && evaluator_->is_blind_to_single_states();
            if (prune_ && ties && bonus <= 0.0) continue;
            c.chosen.push_back(limits.allowed[i]);
            c.bonuses.push_back(bonus);
            c.growth = std::min(c.growth, static_cast<double>(states));
            c.positive_bonus += std::max(0.0, bonus);
        }
        if (c.chosen.size() > std::numeric_limits<std::uint16_t>::max()) {
            throw TooManySets(c.child, limits.required.size() + 1);
        }
        const Family family{c.child, limits.required};
        c.watches_parents =
            prune_ && (evaluator_->is_regular() ||
                       evaluator_->least_saving(shape_of(table_, family), 2.0) > -kInfinity);
        c.max_chosen = std::min(c.chosen.size(), limits.max_parents - limits.required.size());
        set_.clear();
        subsets_.clear();
        evaluate({0, -kInfinity, kInfinity, 0}, nullptr, nullptr, c.level);
        c.next = SetLevel(1);
        c.has_begun = true;
    }

    // All sets of the next size; false when time ran out or the listing was ended.
    template <class Keep>
    bool extend_all(Clock::time_point until, const Keep& keep) {
        ChildListing& c = *at_;
        const std::size_t size = c.level.set_size();
        std::size_t group_end = 0;  // sets up to here share all members but the last
        for (; c.place < c.level.size(); ++c.place, c.n_extended = 0) {
            check(stop_);
            if (Clock::now() >= until) return false;
            const auto set = c.level.set(c.place);
            if (c.place >= group_end) {
                for (group_end = c.place + 1; group_end < c.level.size(); ++group_end) {
                    const auto other = c.level.set(group_end);
                    if (!std::equal(set.begin(), set.end() - (size > 0), other.begin())) break;
                }
            }
            set_.assign(set.begin(), set.end());
            set_.push_back(0);
            list_candidates(c.level, c.place, group_end);
            while (c.n_extended < candidates_.size()) {
                score_candidates(c.level, c.next);
                if (c.n_extended < candidates_.size() && Clock::now() >= until) return false;
            }
            if (!keep(c)) return false;
        }
        c.level = std::move(c.next);
        c.next = SetLevel(size + 2);
        return true;
    }

    // What may join set number i of the level: larger members all of whose subsets are there.
    void list_candidates(const SetLevel& level, std::size_t i, std::size_t group_end) {
        candidates_.clear();
        subsets_.clear();
        const std::size_t size = level.set_size();
        if (size == 0 || !prune_) {
            const std::size_t first = size == 0 ? 0 : std::size_t{set_[size - 1]} + 1;
            for (std::size_t member = first; member < at_->chosen.size(); ++member) {
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

    // Some of the candidates that are left: so many that the clock is looked at in time.
    void score_candidates(const SetLevel& level, SetLevel& next) {
        const auto some = std::span(candidates_).subspan(at_->n_extended);
        const auto now = some.first(std::min(some.size(), candidates_per_look_));
        prefix_.clear();
        columns_.clear();
        double configurations = 1.0;
        double widest = 1.0;
        for (std::size_t k = 0; k + 1 < set_.size(); ++k) {
            prefix_.push_back(at_->chosen[set_[k]]);
            configurations *= arity(prefix_.back());
        }
        for (const Candidate& candidate : now) {
            columns_.push_back(at_->chosen[candidate.member]);
            widest = std::max(widest, static_cast<double>(arity(columns_.back())));
        }
        widest *= table_.column(at_->child).arity;
        const auto n_rows = static_cast<double>(table_.n_rows());
        if (!at_->limits.required.empty()) {  // parents must be counted in ascending order
            for (const Candidate& candidate : now) evaluate(candidate, nullptr, &level, next);
        } else if (configurations * widest > kDenseCellsPerRow * n_rows &&
                   widest <= kPartitionCellsPerPart) {
            partition_.split(prefix_, stop_);
            for (std::size_t i = 0; i < now.size(); ++i) {
                const CountRows<Count> rows = partition_.count(columns_[i], at_->child, stop_);
                evaluate(now[i], &rows, &level, next);
            }
        } else {
            score_by_joint_counts(now, level, next);
        }
    }

    void score_by_joint_counts(std::span<const Candidate> some, const SetLevel& level,
                               SetLevel& next) {
        prefix_.push_back(static_cast<std::int32_t>(at_->child));
        joint_.visit(prefix_, columns_, stop_, [&](std::size_t i, std::span<const Count> cells) {
            if (cells.empty()) {
                evaluate(some[i], nullptr, &level, next);
                return;
            }
            const CountRows<Count> rows{child_last(cells, arity(columns_[i])),
                                        table_.column(at_->child).arity};
            evaluate(some[i], &rows, &level, next);
        });
    }

    // From (parents, child, new parent) to (parents, new parent, child).
    std::span<const Count> child_last(std::span<const Count> cells, std::size_t n_new) {
        const std::size_t n_child = table_.column(at_->child).arity;
        turned_.resize(cells.size());
        for (std::size_t block = 0; block < cells.size(); block += n_child * n_new) {
            const Count* const from = cells.data() + block;
            Count* to = turned_.data() + block;
            for (std::size_t s = 0; s < n_new; ++s) {
                for (std::size_t k = 0; k < n_child; ++k) *to++ = from[k * n_new + s];
            }
        }
        return turned_;
    }

    // Score one set, from its counts or by counting; keep it and let it grow where that may help.
    // `level` holds its subsets; nullptr for the set that has none.
    void evaluate(const Candidate& candidate, const CountRows<Count>* rows, const SetLevel* level,
                  SetLevel& next) {
        ChildListing& c = *at_;
        if (level) set_.back() = candidate.member;
        double bonus = c.limits.bonus;
        double bonus_left = c.positive_bonus;
        parents_.assign(c.limits.required.begin(), c.limits.required.end());
        for (const std::uint16_t member : set_) {
            parents_.push_back(c.chosen[member]);
            bonus += c.bonuses[member];
            bonus_left -= std::max(0.0, c.bonuses[member]);
        }
        if (!c.limits.required.empty()) std::sort(parents_.begin(), parents_.end());
        const Family family{c.child, parents_};
        const FamilyShape shape = shape_of(table_, family);

        const bool may_grow = set_.size() < c.max_chosen;
        const bool needs_bound = prune_ && may_grow;
        double score = evaluator_->constant(shape) + bonus;
        double bound = needs_bound ? evaluator_->bound_constant(shape, c.growth) : kInfinity;
        const bool sums_rows = bound < kInfinity;
        const bool is_capped = needs_bound && evaluator_->is_capped_by_likelihood();
        double cap = c.fit;
        double n_log_n = 0.0;
        std::uint32_t n_seen = 0;
        const auto add = [&](const CountRows<Count>& piece) {
            score += evaluator_->rows(piece, shape);
            if (sums_rows) bound += evaluator_->bound_rows(piece, shape);
            if (is_capped) cap += evaluator_->cap_rows(piece, shape);
            if (c.watches_parents && may_grow) add_totals(piece, n_log_n, n_seen);
        };
        if (rows) {
            add(*rows);
        } else {
            counter_.visit(family, stop_, add);
        }
        ++c.found.n_scored;
        if (score != score) throw std::domain_error("a score is not a number");
        if (score > (prune_ ? candidate.best : -kInfinity)) c.found.add(score, parents_);
        if (level) ++c.n_extended;
        if (!may_grow) return;

        const double best = std::max(score, candidate.best);
        bound += evaluator_->likelihood_weight() * c.fit;
        if (is_capped) bound = std::min(bound, cap);
        bound = std::min(bound + bonus + std::max(0.0, bonus_left), candidate.bound);
        if (bound + slack_ <= best) return;
        const SetLevel::Values values{best, bound, n_log_n, n_seen};
        if (c.watches_parents && level && has_idle_parent(candidate, *level, shape, values)) return;
        next.add(set_, values);
    }

    void add_totals(const CountRows<Count>& rows, double& n_log_n, std::uint32_t& n_seen) {
        for (std::size_t row = 0; row < rows.cells.size(); row += rows.arity) {
            Count total{0};  // N_j
            for (const Count count : rows.cells.subspan(row, rows.arity)) total += count;
            n_log_n += n_log_n_(total);
            n_seen += total > Count{0};
        }
    }

    // A parent whose entropy given the others is no more than what it costs: larger sets, and
    // this one, are no worse without it.
    bool has_idle_parent(const Candidate& candidate, const SetLevel& level,
                         const FamilyShape& shape, const SetLevel::Values& values) {
        for (std::size_t k = 0; k < set_.size(); ++k) {
            const auto& without = level.values(subsets_[candidate.first_subset + k]);
            const double bonus = at_->bonuses[set_[k]];
            if (without.n_seen == values.n_seen && bonus <= 0.0 && evaluator_->is_regular()) {
                return true;  // a function of the others
            }
            const double entropy = without.n_log_n - values.n_log_n;  // times N
            const double saving =
                evaluator_->least_saving(shape, static_cast<double>(arity(at_->chosen[set_[k]])));
            if (entropy + bonus + slack_ <= saving) return true;
        }
        return false;
    }

    std::uint32_t arity(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }

    const Table& table_;
    const bool prune_;
    const double slack_;
    const StopFlag& stop_;
    std::unique_ptr<Evaluator> evaluator_;
    JointCounter<Count> joint_;
    PartitionCounter<Count> partition_;
    FamilyCounter<Count> counter_;
    NLogN n_log_n_;
    const std::size_t candidates_per_look_;

    ChildListing* at_ = nullptr;  // the child at hand

    // The set at hand and what may join it.
    std::vector<std::uint16_t> set_;
    std::vector<Candidate> candidates_;
    std::vector<std::size_t> subsets_;  // for each candidate the numbers of its subsets
    std::vector<std::int32_t> prefix_, columns_, parents_;
    std::vector<Count> turned_;
};

Clock::duration duration_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

class CandidateListing::Impl {
public:
    Impl(const Table& table, const Kernel& kernel, std::span<const ParentLimits> limits, bool prune)
        : table_(table),
          kernel_(kernel),
          prune_(prune),
          slack_(kRelativeSlack * table.total_weight() * std::log(table.total_weight() + 2.0)),
          required_(limits.size()),
          allowed_(limits.size()),
          bonuses_(limits.size()),
          children_(limits.size()) {
        for (std::size_t i = 0; i < limits.size(); ++i) {
            required_[i].assign(limits[i].required.begin(), limits[i].required.end());
            allowed_[i].assign(limits[i].allowed.begin(), limits[i].allowed.end());
            bonuses_[i].assign(limits[i].bonuses.begin(), limits[i].bonuses.end());
            limits_.push_back(
                {required_[i], allowed_[i], limits[i].max_parents, limits[i].bonus, bonuses_[i]});
            children_[i].child = i;
            children_[i].limits = limits_[i];
        }
    }

    bool is_over() const noexcept {
        return std::all_of(children_.begin(), children_.end(),
                           [](const ChildListing& c) { return c.is_done; });
    }

    bool is_full() const noexcept { return is_full_; }

    std::size_t n_bytes() const noexcept {
        std::size_t total = 0;
        for (const ChildListing& c : children_) total += c.bytes();
        return total;
    }

    void run(double seconds, double max_bytes, bool stops_at_memory, const Execution& execution) {
        const auto start = Clock::now();
        is_limited_ = seconds < 1e9;
        deadline_ = is_limited_ ? start + duration_of(seconds) : Clock::time_point::max();
        const bool is_first = std::none_of(children_.begin(), children_.end(),
                                           [](const ChildListing& c) { return c.has_begun; });
        if (is_first && shares_counts(table_, kernel_, limits_, seconds, max_bytes) &&
            find_shared(execution)) {
            return;
        }
        max_bytes_ = max_bytes;
        stops_at_memory_ = stops_at_memory;
        if (prune_ && !has_caps_) {
            const auto until =
                is_limited_
                    ? start + duration_of(std::max(kSecondsForCaps, kShareForCaps * seconds))
                    : deadline_;
            const double expected = 3.0 * static_cast<double>(table_.n_rows()) *
                                    static_cast<double>(table_.n_columns());
            parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) {
                std::vector<double> fits(table_.n_columns(), 0.0);
                has_caps_ = likelihood_caps(table_, until, stop, fits);
                for (std::size_t i = 0; i < children_.size(); ++i) children_[i].fit = fits[i];
            });
        }
        waiting_ = {};
        n_waiting_sets_ = 0;
        for (ChildListing& child : children_) {
            n_waiting_sets_ += static_cast<std::int64_t>(child.n_sets());
            if (!child.is_done) waiting_.push(&child);
        }
        const auto n_workers =
            std::min(waiting_.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
        const double expected = kernel_.expected(
            n_sets_at_most(limits_) * (kNanosecondsPerSet + static_cast<double>(table_.n_rows())));
        with_count_type(table_, [&](auto zero) {
            parallel_for(n_workers, expected, execution, [&](std::size_t, const StopFlag& stop) {
                work<decltype(zero)>(stop);
            });
        });
    }

    CandidateSets result(std::size_t most_open, bool finish, const Execution& execution) {
        CandidateSets result;
        std::vector<FoundSets> found(children_.size()), open(children_.size());
        double n_sets = 0.0;
        for (const ChildListing& c : children_) n_sets += static_cast<double>(c.n_sets());
        parallel_for(children_.size(), 200.0 * n_sets, execution,
                     [&](std::size_t i, const StopFlag& stop) {
                         check(stop);
                         ChildListing& c = children_[i];
                         found[i] = finish ? std::move(c.found) : c.found;
                         found[i].is_complete = c.is_done && c.open.scores.empty();
                         order_by_score(found[i]);
                         if (found[i].is_complete || !prune_) return;
                         open[i] = c.is_done ? c.open : open_sets(c, slack_);
                         coarsen(open[i], most_open);
                         order_by_score(open[i]);
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
    // Scoring all families at once; false when that was ended by the deadline.
    bool find_shared(const Execution& execution) {
        bool is_late = false;
        const Execution with_deadline{execution.threads, [&] {
                                          is_late = Clock::now() >= deadline_;
                                          return is_late ||
                                                 (execution.should_stop && execution.should_stop());
                                      }};
        std::vector<FoundSets> found;
        try {
            found = find_by_sharing(table_, kernel_, limits_, prune_, with_deadline);
        } catch (const Interrupted&) {
            if (is_late) return false;
            throw;
        }
        for (std::size_t i = 0; i < children_.size(); ++i) {
            children_[i].found = std::move(found[i]);
            children_[i].has_begun = children_[i].is_done = true;
        }
        return true;
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
        Enumerator<Count> enumerator(table_, kernel_, prune_, slack_, stop);
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
            } while (!is_limited_ && !child->is_done);
            n_waiting_sets_ +=
                static_cast<std::int64_t>(child->n_sets()) - static_cast<std::int64_t>(n_before);
            child->seconds += std::chrono::duration<double>(Clock::now() - start).count();
            if (!child->is_done) give_back(child);
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

    const Table& table_;
    const Kernel& kernel_;
    const bool prune_;
    const double slack_;
    std::vector<std::vector<std::int32_t>> required_, allowed_;
    std::vector<std::vector<double>> bonuses_;
    std::vector<ParentLimits> limits_;
    std::vector<ChildListing> children_;
    bool has_caps_ = false;

    // Of the run under way.
    bool is_limited_ = false, stops_at_memory_ = false;
    Clock::time_point deadline_;
    double max_bytes_ = kInfinity;
    std::mutex mutex_;  // guards waiting_
    std::priority_queue<ChildListing*, std::vector<ChildListing*>, HadMore> waiting_;
    std::atomic<std::int64_t> n_bytes_ = 0;
    std::atomic<bool> is_full_ = false;
    std::atomic<std::int64_t> n_waiting_sets_ = 0;  // that the result will take time for
};

CandidateListing::CandidateListing(const Table& table, const Kernel& kernel,
                                   std::span<const ParentLimits> limits, bool prune)
    : impl_(std::make_unique<Impl>(table, kernel, limits, prune)) {}

CandidateListing::~CandidateListing() = default;

void CandidateListing::run(double seconds, double max_bytes, bool stops_at_memory,
                           const Execution& execution) {
    impl_->run(seconds, max_bytes, stops_at_memory, execution);
}

bool CandidateListing::is_over() const noexcept { return impl_->is_over(); }

bool CandidateListing::is_full() const noexcept { return impl_->is_full(); }

std::size_t CandidateListing::n_bytes() const noexcept { return impl_->n_bytes(); }

CandidateSets CandidateListing::result(std::size_t most_open, bool finish,
                                       const Execution& execution) {
    return impl_->result(most_open, finish, execution);
}

CandidateSets candidate_sets(const Table& table, const Kernel& kernel,
                             std::span<const ParentLimits> limits,
                             const CandidateSettings& settings, const Execution& execution) {
    CandidateListing listing(table, kernel, limits, settings.prune);
    listing.run(settings.seconds, settings.max_bytes, false, execution);
    return listing.result(1, true, execution);
}

}  // namespace bestdag
