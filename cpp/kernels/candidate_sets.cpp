#include "kernels/candidate_sets.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/count_type.hpp"
#include "kernels/found_sets.hpp"
#include "kernels/joint_counts.hpp"
#include "kernels/lookup.hpp"
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

// One thread's search for the sets of one child after another, by size.
template <class Count>
class Enumerator {
public:
    Enumerator(const Table& table, const Kernel& kernel, const CandidateSettings& settings,
               double max_bytes, const StopFlag& stop)
        : table_(table),
          settings_(settings),
          max_bytes_(max_bytes),
          stop_(stop),
          evaluator_(kernel.evaluator(table, stop)),
          joint_(table, true),
          partition_(table),
          counter_(table, true),
          n_log_n_(table.total_weight()),
          slack_(kRelativeSlack * table.total_weight() * std::log(table.total_weight() + 2.0)) {}

    FoundSets run(std::size_t child, const ParentLimits& limits, Clock::time_point deadline) {
        start(child, limits, deadline);
        SetLevel level = first_level();
        while (level.size() > 0 && level.set_size() < max_chosen_) {
            if (settings_.prune) level.index();
            SetLevel next(level.set_size() + 1);
            if (!extend_all(level, next)) {
                found_.is_complete = false;
                break;
            }
            level = std::move(next);
        }
        return std::move(found_);
    }

private:
    // A set about to be counted: one of the level and one more member.
    struct Candidate {
        std::uint16_t member;
        double best;  // over the subsets
        std::size_t first_subset;
    };

    void start(std::size_t child, const ParentLimits& limits, Clock::time_point deadline) {
        child_ = child;
        limits_ = &limits;
        deadline_ = deadline;
        found_ = {};
        chosen_.clear();
        bonuses_.clear();
        growth_ = kInfinity;
        positive_bonus_ = 0.0;
        for (std::size_t i = 0; i < limits.allowed.size(); ++i) {
            const double bonus = limits.bonuses[i];
            const std::uint32_t states = arity(limits.allowed[i]);
            // A parent with one state changes no count, and a child with one state has nothing to
            // be learnt from a parent: it can only tie.
            const std::uint32_t n_states = std::min(states, table_.column(child).arity);
            const bool ties = n_states == 1 && evaluator_->is_blind_to_single_states();
            if (settings_.prune && ties && bonus <= 0.0) continue;
            chosen_.push_back(limits.allowed[i]);
            bonuses_.push_back(bonus);
            growth_ = std::min(growth_, static_cast<double>(states));
            positive_bonus_ += std::max(0.0, bonus);
        }
        if (chosen_.size() > std::numeric_limits<std::uint16_t>::max()) {
            throw TooManySets(child, limits.required.size() + 1);
        }
        const Family family{child, limits.required};
        watches_parents_ = settings_.prune &&
                           (evaluator_->is_regular() ||
                            evaluator_->least_saving(shape_of(table_, family), 2.0) > -kInfinity);
        max_chosen_ = std::min(chosen_.size(), limits.max_parents - limits.required.size());
    }

    SetLevel first_level() {
        SetLevel level(0);
        set_.clear();
        subsets_.clear();
        evaluate({0, -kInfinity, 0}, nullptr, nullptr, level);
        return level;
    }

    // All sets of the next size; false when time ran out.
    bool extend_all(const SetLevel& level, SetLevel& next) {
        const std::size_t size = level.set_size();
        std::size_t group_end = 0;  // sets up to here share all members but the last
        for (std::size_t i = 0; i < level.size(); ++i) {
            check(stop_);
            if (Clock::now() >= deadline_) return false;
            const auto set = level.set(i);
            if (i >= group_end) {
                for (group_end = i + 1; group_end < level.size(); ++group_end) {
                    const auto other = level.set(group_end);
                    if (!std::equal(set.begin(), set.end() - (size > 0), other.begin())) break;
                }
            }
            set_.assign(set.begin(), set.end());
            set_.push_back(0);
            list_candidates(level, i, group_end);
            score_candidates(level, next);
            if (static_cast<double>(level.bytes() + next.bytes() + found_.bytes()) > max_bytes_) {
                throw TooManySets(child_, limits_->required.size() + size + 1);
            }
        }
        return true;
    }

    // What may join set number i of the level: larger members all of whose subsets are there.
    void list_candidates(const SetLevel& level, std::size_t i, std::size_t group_end) {
        candidates_.clear();
        subsets_.clear();
        const std::size_t size = level.set_size();
        if (size == 0 || !settings_.prune) {
            const std::size_t first = size == 0 ? 0 : std::size_t{set_[size - 1]} + 1;
            for (std::size_t member = first; member < chosen_.size(); ++member) {
                const Candidate candidate{static_cast<std::uint16_t>(member), level.values(i).best,
                                          subsets_.size()};
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
        candidates_.push_back({set_.back(), best, first});
    }

    void score_candidates(const SetLevel& level, SetLevel& next) {
        if (candidates_.empty()) return;
        prefix_.clear();
        columns_.clear();
        double configurations = 1.0;
        double widest = 1.0;
        for (std::size_t k = 0; k + 1 < set_.size(); ++k) {
            prefix_.push_back(chosen_[set_[k]]);
            configurations *= arity(prefix_.back());
        }
        for (const Candidate& candidate : candidates_) {
            columns_.push_back(chosen_[candidate.member]);
            widest = std::max(widest, static_cast<double>(arity(columns_.back())));
        }
        widest *= table_.column(child_).arity;
        const auto n_rows = static_cast<double>(table_.n_rows());
        if (!limits_->required.empty()) {  // parents must be counted in ascending order
            for (const Candidate& candidate : candidates_) {
                evaluate(candidate, nullptr, &level, next);
            }
        } else if (configurations * widest > kDenseCellsPerRow * n_rows &&
                   widest <= kPartitionCellsPerPart) {
            partition_.split(prefix_, stop_);
            for (std::size_t i = 0; i < candidates_.size(); ++i) {
                const CountRows<Count> rows = partition_.count(columns_[i], child_, stop_);
                evaluate(candidates_[i], &rows, &level, next);
            }
        } else {
            score_by_joint_counts(level, next);
        }
    }

    void score_by_joint_counts(const SetLevel& level, SetLevel& next) {
        prefix_.push_back(static_cast<std::int32_t>(child_));
        joint_.visit(prefix_, columns_, stop_, [&](std::size_t i, std::span<const Count> cells) {
            if (cells.empty()) {
                evaluate(candidates_[i], nullptr, &level, next);
                return;
            }
            const CountRows<Count> rows{child_last(cells, arity(columns_[i])),
                                        table_.column(child_).arity};
            evaluate(candidates_[i], &rows, &level, next);
        });
    }

    // From (parents, child, new parent) to (parents, new parent, child).
    std::span<const Count> child_last(std::span<const Count> cells, std::size_t n_new) {
        const std::size_t n_child = table_.column(child_).arity;
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
        if (level) set_.back() = candidate.member;
        double bonus = limits_->bonus;
        double bonus_left = positive_bonus_;
        parents_.assign(limits_->required.begin(), limits_->required.end());
        for (const std::uint16_t member : set_) {
            parents_.push_back(chosen_[member]);
            bonus += bonuses_[member];
            bonus_left -= std::max(0.0, bonuses_[member]);
        }
        if (!limits_->required.empty()) std::sort(parents_.begin(), parents_.end());
        const Family family{child_, parents_};
        const FamilyShape shape = shape_of(table_, family);

        double score = evaluator_->constant(shape) + bonus;
        double bound = settings_.prune ? evaluator_->bound_constant(shape, growth_) : kInfinity;
        const bool sums_rows = bound < kInfinity;
        double n_log_n = 0.0;
        std::uint32_t n_seen = 0;
        const auto add = [&](const CountRows<Count>& piece) {
            score += evaluator_->rows(piece, shape);
            if (sums_rows) bound += evaluator_->bound_rows(piece, shape);
            if (watches_parents_) add_totals(piece, n_log_n, n_seen);
        };
        if (rows) {
            add(*rows);
        } else {
            counter_.visit(family, stop_, add);
        }
        ++found_.n_scored;
        if (score != score) throw std::domain_error("a score is not a number");
        if (score > (settings_.prune ? candidate.best : -kInfinity)) found_.add(score, parents_);
        if (set_.size() >= max_chosen_) return;

        const double best = std::max(score, candidate.best);
        bound += bonus + std::max(0.0, bonus_left);
        if (bound + slack_ <= best) return;
        const SetLevel::Values values{best, bound, n_log_n, n_seen};
        if (watches_parents_ && level && has_idle_parent(candidate, *level, shape, values)) return;
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
            const double bonus = bonuses_[set_[k]];
            if (without.n_seen == values.n_seen && bonus <= 0.0 && evaluator_->is_regular()) {
                return true;  // a function of the others
            }
            const double entropy = without.n_log_n - values.n_log_n;  // times N
            const double saving =
                evaluator_->least_saving(shape, static_cast<double>(arity(chosen_[set_[k]])));
            if (entropy + bonus + slack_ <= saving) return true;
        }
        return false;
    }

    std::uint32_t arity(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }

    const Table& table_;
    const CandidateSettings& settings_;
    const double max_bytes_;
    const StopFlag& stop_;
    std::unique_ptr<Evaluator> evaluator_;
    JointCounter<Count> joint_;
    PartitionCounter<Count> partition_;
    FamilyCounter<Count> counter_;
    NLogN n_log_n_;
    const double slack_;

    // The child at hand. Sets are written as positions in chosen_.
    std::size_t child_ = 0;
    const ParentLimits* limits_ = nullptr;
    Clock::time_point deadline_;
    std::vector<std::int32_t> chosen_;  // columns that may be added to the required parents
    std::vector<double> bonuses_;       // of each
    double positive_bonus_ = 0.0;       // the sum of those above 0
    double growth_ = 1.0;               // the smallest arity of these columns
    std::size_t max_chosen_ = 0;
    bool watches_parents_ = false;  // the score has a rule about single parents
    FoundSets found_;

    // The set at hand and what may join it.
    std::vector<std::uint16_t> set_;
    std::vector<Candidate> candidates_;
    std::vector<std::size_t> subsets_;  // for each candidate the numbers of its subsets
    std::vector<std::int32_t> prefix_, columns_, parents_;
    std::vector<Count> turned_;
};

template <class Count>
std::vector<FoundSets> find_all(const Table& table, const Kernel& kernel,
                                std::span<const ParentLimits> limits,
                                const CandidateSettings& settings, const Execution& execution) {
    const auto start = Clock::now();
    std::vector<FoundSets> found(limits.size());
    std::atomic<std::size_t> next = 0;
    const auto n_workers =
        std::min(limits.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
    const auto work = [&](std::size_t, const StopFlag& stop) {
        const double max_bytes = settings.max_bytes / static_cast<double>(n_workers);
        Enumerator<Count> enumerator(table, kernel, settings, max_bytes, stop);
        for (std::size_t child; !stop && (child = next++) < limits.size();) {
            // The time left is shared by the children that are left.
            auto deadline = Clock::time_point::max();
            const auto now = Clock::now();
            const std::chrono::duration<double> used = now - start;
            const double share = (settings.seconds - used.count()) *
                                 static_cast<double>(n_workers) /
                                 static_cast<double>(limits.size() - child);
            if (share < 1e9) {
                const double own = std::min(share, settings.seconds - used.count());
                deadline = now + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(own));
            }
            found[child] = enumerator.run(child, limits[child], deadline);
        }
    };
    const double expected = kernel.expected(
        n_sets_at_most(limits) * (kNanosecondsPerSet + static_cast<double>(table.n_rows())));
    parallel_for(n_workers, expected, execution, work);
    return found;
}

}  // namespace

CandidateSets candidate_sets(const Table& table, const Kernel& kernel,
                             std::span<const ParentLimits> limits,
                             const CandidateSettings& settings, const Execution& execution) {
    if (shares_counts(table, kernel, limits, settings)) {
        return candidate_sets_by_sharing(table, kernel, limits, settings, execution);
    }
    std::vector<FoundSets> found;
    with_count_type(table, [&](auto zero) {
        found = find_all<decltype(zero)>(table, kernel, limits, settings, execution);
    });
    return join(found);
}

}  // namespace bestdag
