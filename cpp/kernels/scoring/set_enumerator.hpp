// Candidate parent sets of a child, enumerated by size and cut off where bounds allow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "counting/joint_counts.hpp"
#include "counting/partition_counter.hpp"
#include "scores/kernel.hpp"
#include "scoring/child_listing.hpp"
#include "scoring/set_growth.hpp"
#include "special/lookup.hpp"

namespace bestdag {

// One thread's search: continues the listing of any child where it was left.
template <class Count>
class SetEnumerator : SetGrowth {
    using Clock = std::chrono::steady_clock;

public:
    SetEnumerator(const Table& table, const Kernel& kernel, const Pruning& pruning, double slack,
                  const StopFlag& stop)
        : SetGrowth(pruning, slack),
          table_(table),
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
        } else if (pruning_.is_on) {
            child.level.index();
        }
    }

private:
    // More cells than this for each row of the data: most are empty, and a partition is faster.
    static constexpr double kDenseCellsPerRow = 1.0;
    static constexpr double kPartitionCellsPerPart = 256.0;  // memory: cells per row of the data
    // The clock is looked at after so many rows of so many families; 10 ms or so.
    static constexpr std::size_t kRowsPerLook = std::size_t{1} << 23;
    static constexpr std::size_t kFewCandidates = 16;  // not fewer: rows are split for each look

    void begin() {
        ChildListing& c = *at_;
        const ParentLimits& limits = c.limits;
        c.chosen.reserve(limits.allowed.size());
        for (std::size_t i = 0; i < limits.allowed.size(); ++i) {
            const double bonus = limits.bonus_of(i);
            const std::uint32_t states = arity(limits.allowed[i]);
            // A parent with one state changes no count, and a child with one state has nothing to
            // be learned from a parent: it can only tie.
            const std::uint32_t n_states = std::min(states, table_.column(c.child).arity);
            const bool ties = n_states == 1 && evaluator_->is_blind_to_single_states();
            if (drops_ties() && ties && bonus <= 0.0) continue;
            c.chosen.push_back(limits.allowed[i]);
            if (!limits.bonuses.empty()) c.bonuses.push_back(bonus);
            c.growth = std::min(c.growth, static_cast<double>(states));
            c.positive_bonus += std::max(0.0, bonus);
        }
        if (c.chosen.size() > std::numeric_limits<std::uint16_t>::max()) {
            throw TooManySets(c.child, limits.required.size() + 1);
        }
        const Family family{c.child, limits.required};
        c.checks_parents = pruning_.is_on &&
                           (evaluator_->is_regular() ||
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
            list_candidates(c, c.place, group_end);
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
            bonus += c.bonus_of(member);
            bonus_left -= std::max(0.0, c.bonus_of(member));
        }
        if (!c.limits.required.empty()) std::sort(parents_.begin(), parents_.end());
        const Family family{c.child, parents_};
        const FamilyShape shape = shape_of(table_, family);

        const bool may_grow = set_.size() < c.max_chosen;
        const bool needs_bound = pruning_.is_on && may_grow;
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
            if (c.checks_parents && may_grow) add_totals(piece, n_log_n, n_seen);
        };
        if (rows) {
            in_pieces(*rows, parents_.size(), add);
        } else {
            counter_.visit(family, stop_, add);
        }
        ++c.found.n_scored;
        if (evaluator_->lacks_support()) {  // and so does every larger set
            if (level) ++c.n_extended;
            return;
        }
        if (score != score) throw std::domain_error("a score is not a number");
        if (!pruning_.is_on ? score > -kInfinity : pruning_.keeps(score, candidate.best)) {
            c.found.add(score, parents_);
        }
        if (level) ++c.n_extended;
        if (!may_grow) return;

        const double best = std::max(score, candidate.best);
        bound += evaluator_->likelihood_weight() * c.fit;
        if (is_capped) bound = std::min(bound, cap);
        bound = std::min(bound + bonus + std::max(0.0, bonus_left), candidate.bound);
        if (bound + slack_ <= best) return;
        const SetLevel::Values values{best, bound, n_log_n, n_seen};
        if (c.checks_parents && level && has_needless_parent(candidate, *level, shape, values))
            return;
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
    bool has_needless_parent(const Candidate& candidate, const SetLevel& level,
                             const FamilyShape& shape, const SetLevel::Values& values) {
        for (std::size_t k = 0; k < set_.size(); ++k) {
            const auto& without = level.values(subsets_[candidate.first_subset + k]);
            const double bonus = at_->bonus_of(set_[k]);
            if (drops_ties() && without.n_seen == values.n_seen && bonus <= 0.0 &&
                evaluator_->is_regular()) {
                return true;  // a function of the others
            }
            const double entropy = without.n_log_n - values.n_log_n;  // times N
            const double saving =
                evaluator_->least_saving(shape, static_cast<double>(arity(at_->chosen[set_[k]])));
            if (entropy + bonus + slack_ <= saving) return true;
        }
        return false;
    }

    // Whether a set is left out that scores the same as a subset.
    bool drops_ties() const noexcept { return pruning_.is_on && pruning_.margin <= 0.0; }

    std::uint32_t arity(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }

    const Table& table_;
    const StopFlag& stop_;
    std::unique_ptr<Evaluator> evaluator_;
    JointCounter<Count> joint_;
    PartitionCounter<Count> partition_;
    FamilyCounter<Count> counter_;
    NLogN n_log_n_;
    const std::size_t candidates_per_look_;

    ChildListing* at_ = nullptr;  // the child at hand

    std::vector<std::int32_t> prefix_, columns_, parents_;
    std::vector<Count> turned_;
};

}  // namespace bestdag
