// The walk over all sets of columns that works out the values of every_set.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "base/philox.hpp"
#include "scores/kernel.hpp"
#include "scoring/count_spectrum.hpp"
#include "scoring/every_set.hpp"
#include "scoring/row_levels.hpp"
#include "scoring/set_layout.hpp"

namespace bestdag {

// Doubles, for the terms of larger counts.
inline constexpr std::size_t kMaxRememberedTerms = std::size_t{1} << 22;

// One thread's walk.
template <class Weight>
class SetWalk {
public:
    SetWalk(const SetLayout<Weight>& layout, const Kernel& kernel, SetValues& values,
            bool leave_out, const StopFlag& stop)
        : layout_(layout),
          values_(values),
          stop_(stop),
          evaluator_(kernel.evaluator(layout.table, stop)),
          is_sized_(evaluator_->has_sized_terms()),
          levels_(layout),
          constants_(layout.shapes.size(), std::numeric_limits<double>::quiet_NaN()),
          filled_(layout.shapes.size(), 0),
          fill_values_(layout.shapes.size()) {
        const double most = layout.table.total_weight() + 1.0;
        const std::size_t n_tables = is_sized_ ? layout.shapes.size() : 1;
        const double each = static_cast<double>(kMaxRememberedTerms / n_tables);
        n_remembered_ = static_cast<std::size_t>(std::min(most, each));
        joint_terms_.resize(n_tables);
        if (values.by_arity) {
            for (const std::size_t arity : layout.shapes.arities()) {
                row_terms_.emplace_back(n_remembered_, [&](double count) {
                    return evaluator_->row_term(count, arity);
                });
            }
        }
        if (leave_out && !values.by_arity) find_excluded_shapes();
    }

    // All sets whose first n_fixed places are as the bits of `task` say, the first place highest.
    void run(std::size_t task, std::size_t n_fixed) {
        std::size_t shape = 0;
        for (std::size_t place = 0; place < n_fixed; ++place) {
            if ((task >> (n_fixed - 1 - place)) & 1u) {
                levels_.include(place);
                shape += layout_.shapes.stride(place);
            } else {
                levels_.exclude(place);
            }
        }
        visit(n_fixed, task, shape);
    }

    // Rows looked at on a random path, each level counted as often as there are such levels.
    double random_path(PhiloxKey key, std::uint64_t number) {
        double steps = 0.0;
        std::size_t shape = 0;
        for (std::size_t place = 0; place < layout_.n; ++place) {
            const auto n_rows = static_cast<double>(levels_[place].rows.size());
            const double splitting = layout_.arity(place) == 2 ? 1.0 : kSplitSteps;
            steps +=
                std::exp2(static_cast<double>(place)) * ((1.0 + splitting) * n_rows + kLeafSteps);
            if (place + 1 == layout_.n) break;
            const bool is_in = philox4x64(key, number * layout_.n + place)[0] & 1u;
            is_in ? levels_.include(place) : levels_.exclude(place);
            shape += is_in ? layout_.shapes.stride(place) : 0;
            if (levels_[place + 1].rows.empty() || is_excluded(shape)) break;
        }
        return steps;
    }

private:
    static constexpr double kSplitSteps = 3.0;  // splitting cells by more than two states, per row
    static constexpr double kLeafSteps = 20.0;  // what a set takes beside its rows, in rows
    static constexpr double kSlack = 1e-9;      // what rounding may do to a score, of its size

    // Shapes of sets in which no family reaches the score of its child without parents, nor in any
    // larger set: whichever member is the child, or none of them.
    void find_excluded_shapes() {
        const std::size_t n = layout_.n;
        std::vector<double> alone(n);
        for (std::size_t place = 0; place < n; ++place) {
            std::vector<Weight> counts(layout_.arity(place), Weight{0});
            for (const DistinctRow<Weight>& row : layout_.rows) {
                counts[layout_.codes[place][row.number]] += row.weight;
            }
            const auto states = static_cast<double>(layout_.arity(place));
            double value = evaluator_->set_constant(states);
            for (const Weight count : counts) {
                value += evaluator_->cell_term(static_cast<double>(count), states);
            }
            alone[place] = value - evaluator_->set_constant(1.0) -
                           evaluator_->cell_term(layout_.table.total_weight(), 1.0);
        }
        excluded_.resize(layout_.shapes.size());
        for (std::size_t shape = 0; shape < layout_.shapes.size(); ++shape) {
            bool may_win = false;
            for (std::size_t place = 0; place < n && !may_win; ++place) {
                const std::size_t arity = layout_.arity(place);
                const Family family{layout_.column[place], {}};
                const FamilyShape of{layout_.table, family,
                                     layout_.n_cells[shape] / static_cast<double>(arity), arity,
                                     layout_.table.total_weight()};
                may_win = !(evaluator_->most(of) < alone[place] - kSlack * std::abs(alone[place]));
            }
            excluded_[shape] = !may_win;
        }
    }

    bool is_excluded(std::size_t shape) const { return !excluded_.empty() && excluded_[shape]; }

    void visit(std::size_t place, std::size_t set, std::size_t shape) {
        if (is_excluded(shape)) {
            const std::size_t n_left = layout_.n - place;
            std::fill_n(values_.joint->data() + (set << n_left), std::size_t{1} << n_left,
                        -std::numeric_limits<double>::infinity());
            return;
        }
        if (levels_[place].rows.empty()) {
            fill(place, set, shape);
            return;
        }
        if (place + 2 == layout_.n && layout_.arity(place) == 2) {
            finish_two(set, shape);
            return;
        }
        if (place + 1 == layout_.n) {
            finish_one(set, shape);
            return;
        }
        if (place + 6 <= layout_.n && stop_) return;
        levels_.exclude(place);
        visit(place + 1, 2 * set, shape);
        levels_.include(place);
        visit(place + 1, 2 * set + 1, shape + layout_.shapes.stride(place));
    }

    // The last place: without it each cell is one, with it each row is.
    void finish_one(std::size_t set, std::size_t shape) {
        const auto& level = levels_[layout_.n - 1];
        CountSpectrum<Weight>&without = ends_[0], &with = ends_[1];
        without.copy(level.counts);
        with.copy(level.counts);
        const DistinctRow<Weight>* const rows = level.rows.data();
        const std::size_t n_rows = level.rows.size();
        for (std::size_t i = 0; i < n_rows;) {
            Weight total = rows[i].weight;
            with.add(rows[i].weight);
            for (++i; i < n_rows && rows[i].differs != kFirst; ++i) {
                total += rows[i].weight;
                with.add(rows[i].weight);
            }
            without.add(total);
        }
        put(2 * set, shape, without);
        put(2 * set + 1, shape + layout_.shapes.stride(layout_.n - 1), with);
    }

    // The last two places at once, where most of the time goes; the first of them has two states.
    // Rows of a cell come in runs with the same code at the last place.
    void finish_two(std::size_t set, std::size_t shape) {
        const std::size_t place = layout_.n - 2;
        const auto& level = levels_[place];
        for (CountSpectrum<Weight>& end : ends_) end.copy(level.counts);
        CountSpectrum<Weight>&neither = ends_[0], &last = ends_[1], &first = ends_[2],
        &both = ends_[3];
        const std::uint16_t* const codes = layout_.codes[place].data();
        Weight total{0}, run{0}, zeros{0}, ones{0};  // of the cell, of the run, of either code
        for (const DistinctRow<Weight>& row : level.rows) {
            const bool is_new = row.differs == kFirst;
            const bool joins = row.differs == place;
            both.add(row.weight);
            neither.add_if(is_new, total);
            first.add_if(is_new, zeros);
            first.add_if(is_new, ones);
            last.add_if(!joins, run);
            total = row.weight + (is_new ? Weight{0} : total);
            run = row.weight + (joins ? run : Weight{0});
            const bool code = codes[row.number] != 0;
            zeros = (is_new ? Weight{0} : zeros) + (code ? Weight{0} : row.weight);
            ones = (is_new ? Weight{0} : ones) + (code ? row.weight : Weight{0});
        }
        neither.add(total);
        first.add(zeros);
        first.add(ones);
        last.add(run);
        const std::size_t of_first = shape + layout_.shapes.stride(place);
        put(4 * set, shape, neither);
        put(4 * set + 1, shape + layout_.shapes.stride(place + 1), last);
        put(4 * set + 2, of_first, first);
        put(4 * set + 3, of_first + layout_.shapes.stride(place + 1), both);
    }

    void put(std::size_t set, std::size_t shape, const CountSpectrum<Weight>& counts) {
        values_.joint->data()[set] = joint_sum(shape, counts) + constant(shape);
        for (std::size_t a = 0; a < row_terms_.size(); ++a) {
            values_.given[a]->data()[set] = row_sum(a, counts);
        }
    }

    // No row is left: the places that follow change the number of cells only.
    void fill(std::size_t place, std::size_t set, std::size_t shape) {
        const std::size_t n_left = layout_.n - place;
        if (n_left > layout_.n_tail) {
            if (stop_) return;
            levels_.pass(place);
            fill(place + 1, 2 * set, shape);
            levels_.pass(place);
            fill(place + 1, 2 * set + 1, shape + layout_.shapes.stride(place));
            return;
        }
        const CountSpectrum<Weight>& counts = levels_[place].counts;
        const std::size_t n_sets = std::size_t{1} << n_left;
        const std::size_t first = set << n_left;
        double* const joint = values_.joint->data() + first;
        const double common = is_sized_ ? 0.0 : joint_sum(shape, counts);
        ++fill_;
        for (std::size_t k = 0; k < n_sets; ++k) {
            const std::size_t here = shape + layout_.tail_shape[k];
            if (filled_[here] != fill_) {
                filled_[here] = fill_;
                // Left out as elsewhere: a set that is not, above one that is, would win.
                fill_values_[here] =
                    is_excluded(here)
                        ? -std::numeric_limits<double>::infinity()
                        : (is_sized_ ? joint_sum(here, counts) : common) + constant(here);
            }
            joint[k] = fill_values_[here];
        }
        for (std::size_t a = 0; a < row_terms_.size(); ++a) {
            std::fill_n(values_.given[a]->data() + first, n_sets, row_sum(a, counts));
        }
    }

    double joint_sum(std::size_t shape, const CountSpectrum<Weight>& counts) {
        std::unique_ptr<CountTerms>& terms = joint_terms_[is_sized_ ? shape : 0];
        const auto compute = [&](double count) {
            return evaluator_->cell_term(count, layout_.n_cells[shape]);
        };
        if (!terms) terms = std::make_unique<CountTerms>(n_remembered_, compute);
        return terms->sum(counts, compute);
    }

    double row_sum(std::size_t a, const CountSpectrum<Weight>& counts) {
        return row_terms_[a].sum(counts, [&](double count) {
            return evaluator_->row_term(count, layout_.shapes.arities()[a]);
        });
    }

    double constant(std::size_t shape) {
        double& value = constants_[shape];
        if (std::isnan(value)) value = evaluator_->set_constant(layout_.n_cells[shape]);
        return value;
    }

    const SetLayout<Weight>& layout_;
    SetValues& values_;
    const StopFlag& stop_;
    std::unique_ptr<Evaluator> evaluator_;
    const bool is_sized_;
    std::vector<std::uint8_t> excluded_;  // by shape; empty where all sets are counted
    RowLevels<Weight> levels_;
    std::vector<double> constants_;
    std::vector<std::uint64_t> filled_;  // the fill that last worked out each shape
    std::vector<double> fill_values_;
    std::uint64_t fill_ = 0;
    std::size_t n_remembered_ = 0;
    std::vector<std::unique_ptr<CountTerms>> joint_terms_;  // by shape, or one for all
    std::vector<CountTerms> row_terms_;                     // by arity
    std::array<CountSpectrum<Weight>, 4> ends_;             // of the sets that end a walk
};

}  // namespace bestdag
