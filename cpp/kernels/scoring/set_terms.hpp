// One score's values of all sets, made of the counts that a walk over the sets brings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "scores/kernel.hpp"
#include "scoring/count_spectrum.hpp"
#include "scoring/every_set.hpp"
#include "scoring/set_layout.hpp"

namespace bestdag {

// Doubles, for the terms of larger counts.
inline constexpr std::size_t kMaxRememberedTerms = std::size_t{1} << 22;

// Used by one thread.
template <class Weight>
class SetTerms {
public:
    SetTerms(const SetLayout<Weight>& layout, const Kernel& kernel, SetValues& values,
             bool leave_out, const StopFlag& stop)
        : layout_(layout),
          values_(values),
          evaluator_(kernel.evaluator(layout.table, stop)),
          max_cells_(evaluator_->max_cells()),
          is_sized_(evaluator_->has_sized_terms()),
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

    // Whether sets of this shape are left out, and all that contain them.
    bool is_excluded(std::size_t shape) const { return !excluded_.empty() && excluded_[shape]; }

    void leave_out(std::size_t first, std::size_t n_sets) {
        std::fill_n(values_.joint->data() + first, n_sets, -kInfinity);
        for (auto& given : values_.given) std::fill_n(given->data() + first, n_sets, 0.0);
    }

    bool has_limit() const noexcept { return max_cells_ < kInfinity; }
    bool is_beyond(std::size_t n_cells) const noexcept {
        return static_cast<double>(n_cells) > max_cells_;
    }

    void put(std::size_t set, std::size_t shape, const CountSpectrum<Weight>& counts) {
        const bool is_out = has_limit() && has_several(set) && is_beyond(counts.n_cells());
        values_.joint->data()[set] =
            is_out ? -kInfinity : joint_sum(shape, counts) + constant(shape);
        for (std::size_t a = 0; a < row_terms_.size(); ++a) {
            values_.given[a]->data()[set] = row_sum(a, counts);
        }
    }

    // The sets that the last places make of one that has no cell left to split: they change the
    // number of cells only.
    void fill_tail(std::size_t first, std::size_t n_sets, std::size_t shape,
                   const CountSpectrum<Weight>& counts) {
        double* const joint = values_.joint->data() + first;
        const double common = is_sized_ ? 0.0 : joint_sum(shape, counts);
        const bool is_out = has_limit() && is_beyond(counts.n_cells());
        ++fill_;
        for (std::size_t k = 0; k < n_sets; ++k) {
            const std::size_t here = shape + layout_.tail_shape[k];
            if (filled_[here] != fill_) {
                filled_[here] = fill_;
                // Left out as elsewhere: a set that is not, above one that is, would win.
                fill_values_[here] =
                    is_excluded(here)
                        ? -kInfinity
                        : (is_sized_ ? joint_sum(here, counts) : common) + constant(here);
            }
            joint[k] = is_out && has_several(first + k) ? -kInfinity : fill_values_[here];
        }
        for (std::size_t a = 0; a < row_terms_.size(); ++a) {
            std::fill_n(values_.given[a]->data() + first, n_sets, row_sum(a, counts));
        }
    }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kSlack = 1e-9;  // what rounding may do to a score, of its size

    static bool has_several(std::size_t set) noexcept { return (set & (set - 1)) != 0; }

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
                const FamilyShape of{layout_.table.shape(),
                                     family,
                                     layout_.n_cells[shape] / static_cast<double>(arity),
                                     arity,
                                     layout_.table.total_weight(),
                                     layout_.table};
                may_win = !(evaluator_->most(of) < alone[place] - kSlack * std::abs(alone[place]));
            }
            excluded_[shape] = !may_win;
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
    std::unique_ptr<Evaluator> evaluator_;
    double max_cells_;  // sets with more are out, but for single columns
    bool is_sized_;
    std::vector<std::uint8_t> excluded_;  // by shape; empty where all sets are counted
    std::vector<double> constants_;
    std::vector<std::uint64_t> filled_;  // the fill that last worked out each shape
    std::vector<double> fill_values_;
    std::uint64_t fill_ = 0;
    std::size_t n_remembered_ = 0;
    std::vector<std::unique_ptr<CountTerms>> joint_terms_;  // by shape, or one for all
    std::vector<CountTerms> row_terms_;                     // by arity
};

}  // namespace bestdag
