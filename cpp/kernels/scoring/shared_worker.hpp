// One thread's work on the sets of columns of one size, of a listing that all children share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/subsets.hpp"
#include "counting/family_counts.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"
#include "scoring/candidate_sets.hpp"
#include "scoring/reduced_counts.hpp"
#include "scoring/set_scorer.hpp"
#include "scoring/set_values.hpp"
#include "scoring/shared_level.hpp"

namespace bestdag {

// A set that stays, of a child.
struct SharedSet {
    double score;
    std::array<std::uint16_t, kMaxSharedParents> parents;
    std::uint16_t child;
};

// How a set of columns gives the scores of its families.
enum class SharedRoad : std::uint8_t {
    terms,    // a difference of sums of terms of counts, which are remembered
    sets,     // a difference of values of sets
    members,  // each family by itself
};

// What the parents of the children may be, by arc.
struct SharedArcs {
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    SharedArcs(std::size_t n_columns, std::span<const ParentLimits> limits) : n(n_columns) {
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

// What the work is about, and what is known of smaller sets.
struct SharedWork {
    SharedWork(const Table& table_, const Kernel& kernel_, std::span<const ParentLimits> limits,
               const Pruning& pruning_, double slack_)
        : table(table_),
          kernel(kernel_),
          pruning(pruning_),
          slack(slack_ + pruning_.margin),
          arcs(table_.n_columns(), limits),
          subsets(table_.n_columns(), kMaxSharedParents) {}

    const Table& table;
    const Kernel& kernel;
    const Pruning pruning;
    const double slack;  // what a bound must be lower by, the margin included
    const SharedArcs arcs;
    const Subsets subsets;
    SharedRoad road = SharedRoad::members;
    std::size_t n_values = 0;  // of a set, for families in which it is the parents
    std::optional<ReducedCounts> counts;
    // Fields: the values, and for each member as child the best score among the family and those
    // with fewer parents. `level` is of the size at hand, if the next size is to build on it.
    std::optional<SharedLevel> previous, level;
    std::span<const double> fits;  // no family of a child has a higher log-likelihood
};

// One thread's work on the sets of one size.
template <class Count>
class SharedWorker {
public:
    SharedWorker(SharedWork& of, std::size_t size, const StopFlag& stop)
        : of_(of),
          table_(of.table),
          stop_(stop),
          m_(size - 1),
          n_(of.table.n_columns()),
          scorer_(of.table, of.kernel, stop),
          evaluator_(of.kernel.evaluator(of.table, stop)),
          counter_(of.table, true),
          n_scored_(n_, 0) {
        if (of_.road == SharedRoad::terms) {
            terms_.emplace(*evaluator_, table_);
            reduced_.emplace(table_, *of_.counts);
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
        // Where all have two states, counting costs no more than looking at bounds.
        has_most_ = of_.pruning.is_on && !of_.level && m_ > 0 && !is_binary_ &&
                    evaluator_->most(shape_of(table_, family)) < kInfinity;
        is_simple_ = of_.pruning.is_on && of_.pruning.margin <= 0.0 && !of_.level && m_ > 0 &&
                     of_.road != SharedRoad::members && !has_beside_ && !has_most_ &&
                     !(terms_ && terms_->is_by_arity());
        for (std::size_t c = 0; c < n_; ++c) {
            is_simple_ &= of_.arcs.is_plain[c] && of_.arcs.max_parents[c] >= m_;
        }
    }

    void run(std::size_t first_rank, std::size_t last_rank) {
        listed_.clear();
        std::fill(n_scored_.begin(), n_scored_.end(), 0);
        prefix_.resize(m_);
        of_.subsets.unrank(first_rank, prefix_);
        for (std::size_t rank = first_rank; rank < last_rank; ++rank) {
            check(stop_);
            visit();
            next_subset(prefix_);
        }
    }

    std::span<const SharedSet> listed() const { return listed_; }
    std::span<const std::int64_t> n_scored() const { return n_scored_; }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
        if (of_.pruning.is_on && !is_simple_) find_best();
        is_wanted_.assign(len_, 1);
        if (has_most_ && !bound()) return;
        joint_.assign(len_, -kInfinity);
        if (of_.road == SharedRoad::terms) {
            parent_values_.assign(terms_->is_by_arity() && of_.level ? terms_->n_of_parents() : 0,
                                  std::vector<double>(len_, 0.0));
            value_by_terms();
        } else if (of_.road == SharedRoad::sets) {
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
                        if (of_.arcs.max_parents[static_cast<std::size_t>(set[i])] < m_) continue;
                        scores_[i][k] = scorer_.member_score(set, i, cells, stop_);
                    }
                });
        }
        if (is_simple_) {
            list_simply();
            return;
        }
        if (of_.road != SharedRoad::members) subtract();
        for (std::size_t i = 0; i <= m_; ++i) list(i);
        if (of_.level) store();
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
        return of_.previous->row(prefix, field) + (first_ - SharedLevel::first_of(prefix));
    }

    // Of each family, the best score among those with one parent less, and all below them.
    void find_best() {
        if (m_ == 0) {
            best_[0].assign(len_, -kInfinity);
            return;
        }
        const std::size_t n_values = of_.n_values;
        for (std::size_t i = 0; i < m_; ++i) {
            best_[i].assign(len_, of_.previous->at(prefix_, n_values + i));
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
                if (!of_.arcs.is_plain[c]) {
                    is_open = true;
                    continue;
                }
                if (of_.arcs.max_parents[c] < m_) continue;
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
                is_open = most + weight * of_.fits[c] + of_.slack > best_[i][k];
            }
            is_wanted_[k] = is_open;
            n_wanted += is_open;
        }
        return n_wanted > 0;
    }

    // g of every set, and what it has as parents.
    void value_by_terms() {
        const std::size_t numbers = of_.counts->n_numbers(prefix_);
        by_bits_.clear();
        by_rows_.clear();
        for (std::size_t k = 0; k < len_; ++k) {
            if (!is_wanted_[k]) continue;
            const auto d = static_cast<std::int32_t>(first_ + k);
            (of_.counts->covers(numbers, d) ? by_bits_ : by_rows_).push_back(d);
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

    // All at once where nothing but one difference is asked for: few families stay.
    void list_simply() {
        const std::size_t n_values = of_.n_values;
        std::array<const double*, kMaxSharedParents> rows;
        for (std::size_t i = 0; i < m_; ++i) {
            std::size_t n_rows = 0;
            for (std::size_t j = 0; j < m_; ++j) {
                if (j != i) rows[n_rows++] = row(j, n_values + (i < j ? i : i - 1));
            }
            list_differences(i, row(i, 0), 0.0, of_.previous->at(prefix_, n_values + i),
                             std::span(rows).first(n_rows));
            n_scored_[static_cast<std::size_t>(prefix_[i])] += static_cast<std::int64_t>(len_);
        }
        for (std::size_t j = 0; j < m_; ++j) rows[j] = row(j, n_values + m_ - 1);
        list_differences(m_, nullptr, of_previous(0), -kInfinity, std::span(rows).first(m_));
        for (std::size_t k = 0; k < len_; ++k) ++n_scored_[first_ + k];
    }

    // The value of each set less that of its parents, one for all or each its own, where it is more
    // than `least` and what is in the rows.
    void list_differences(std::size_t i, const double* of_each, double of_all, double least,
                          std::span<const double* const> rows) {
        of_all_.assign(of_each ? 0 : len_, of_all);
        const double* const of_parents = of_each ? of_each : of_all_.data();
        const double* const of_set = joint_.data();
        // One row more than once changes nothing.
        const double* const a = rows.empty() ? nullptr : rows[0];
        const double* const b = rows.size() > 1 ? rows[1] : a;
        const double* const c = rows.size() > 2 ? rows[2] : a;
        const auto best_of = [&](std::size_t k) {
            double best = least;
            if (a) best = std::max({best, a[k], b[k], c[k]});
            return best;
        };
        double n_listed = 0.0, n_bad = 0.0;
        if (a) {
            for (std::size_t k = 0; k < len_; ++k) {
                const double ab = a[k] < b[k] ? b[k] : a[k];
                const double cl = c[k] < least ? least : c[k];
                const double best = ab < cl ? cl : ab;
                const double score = of_set[k] - of_parents[k];
                n_listed += score > best ? 1.0 : 0.0;
                n_bad += score == score ? 0.0 : 1.0;
            }
        } else {
            n_listed = 1.0;
        }
        if (n_listed + n_bad == 0.0) return;
        for (std::size_t k = 0; k < len_; ++k) {
            const double score = set_difference(of_set[k], of_parents[k]);
            if (score != score) throw std::domain_error("a score is not a number");
            if (score > best_of(k)) keep(i, k, score);
        }
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

    double of_previous(std::size_t number) const { return of_.previous->at(prefix_, number); }

    // No columns at all: one cell that has every row.
    double empty_value(std::size_t number) {
        if (of_.road == SharedRoad::sets) return scorer_.empty_set_value();
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
        if (i == m_ || !of_.arcs.is_plain[static_cast<std::size_t>(prefix_[i])]) {
            for (std::size_t k = 0; k < len_; ++k) list_one(i, k);
            return;
        }
        const auto child = static_cast<std::size_t>(prefix_[i]);
        if (of_.arcs.max_parents[child] < m_) {
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
        return of_.pruning.is_on ? of_.pruning.keeps(score, best) : score > -kInfinity;
    }

    // One family, whatever the limits of its child.
    void list_one(std::size_t i, std::size_t k) {
        if (!is_wanted_[k]) return;
        const SharedArcs& arcs = of_.arcs;
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
        SharedSet one{score, {}, 0};
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
        SharedLevel& level = *of_.level;
        if (parent_values_.empty() && of_.n_values > 0) {
            std::copy(joint_.begin(), joint_.end(), level.row(prefix_, 0));
        }
        for (std::size_t a = 0; a < parent_values_.size(); ++a) {
            std::copy(parent_values_[a].begin(), parent_values_[a].end(), level.row(prefix_, a));
        }
        for (std::size_t i = 0; i <= m_; ++i) {
            if (of_.pruning.is_on) raise(best_[i], scores_[i].data());
            std::copy(best_[i].begin(), best_[i].end(), level.row(prefix_, of_.n_values + i));
        }
    }

    std::size_t arity_of(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }
    double arity(std::int32_t column) const { return static_cast<double>(arity_of(column)); }

    SharedWork& of_;
    const Table& table_;
    const StopFlag& stop_;
    const std::size_t m_;  // columns of a prefix
    const std::size_t n_;
    SetScorer<Count> scorer_;
    std::unique_ptr<Evaluator> evaluator_;
    FamilyCounter<Count> counter_;
    std::optional<SetValueTerms> terms_;
    std::optional<ReducedCounter> reduced_;
    bool is_binary_ = false, has_beside_ = false, has_most_ = false, is_simple_ = false;
    double max_cells_ = kInfinity;
    std::vector<std::size_t> arities_, arity_number_;  // distinct; by column

    // The prefix at hand, and what goes with each larger column.
    std::vector<std::int32_t> prefix_, parents_, columns_, by_bits_, by_rows_;
    std::vector<std::vector<std::int32_t>> others_;  // the prefix without each of its members
    std::size_t first_ = 0, len_ = 0;
    std::vector<std::uint8_t> is_wanted_;
    std::vector<double> joint_, of_all_, most_;  // g; bounds by position and arity of the last
    std::vector<std::vector<double>> parent_values_;   // h by arity, where it is not g
    std::vector<std::vector<double>> scores_, best_;   // by position of the child

    // Of the task at hand.
    std::vector<SharedSet> listed_;
    std::vector<std::int64_t> n_scored_;
};

}  // namespace bestdag
