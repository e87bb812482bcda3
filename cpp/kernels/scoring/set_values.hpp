// Values of sets of columns, from their joint counts, by whatever form the score has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "scores/kernel.hpp"

namespace bestdag {

// Terms of counts, worked out when they are first met.
class CountTermTable {
public:
    explicit CountTermTable(double largest_count)
        : terms_(static_cast<std::size_t>(std::min(largest_count, kMaxEntries - 1.0)) + 1,
                 std::numeric_limits<double>::quiet_NaN()) {}

    template <class Compute>
    double sum(std::span<const std::uint32_t> counts, const Compute& compute) {
        double sum = 0.0;
        for (const std::uint32_t count : counts) {
            if (count >= terms_.size()) {
                sum += compute(static_cast<double>(count));
                continue;
            }
            double& term = terms_[count];
            if (std::isnan(term)) term = compute(static_cast<double>(count));
            sum += term;
        }
        return sum;
    }

    // Terms by count, some of them not a number yet; and whether all counts have a place there.
    const double* data() const noexcept { return terms_.data(); }
    bool holds(double count) const noexcept { return count < static_cast<double>(terms_.size()); }

private:
    static constexpr double kMaxEntries = 1u << 18;  // 2 MiB
    std::vector<double> terms_;
};

// For one thread: g of sets, and h_r for every arity that a column has (see SetForm).
class SetValueTerms {
public:
    SetValueTerms(Evaluator& evaluator, const Table& table)
        : evaluator_(evaluator),
          total_(table.total_weight()),
          is_sized_(evaluator.has_sized_terms()),
          most_tables_(std::max<std::size_t>(
              8, kMaxTerms / static_cast<std::size_t>(std::min(total_ + 1.0, double{kMaxTerms})))) {
        if (evaluator.set_form() != SetForm::by_arity) return;
        for (std::size_t c = 0; c < table.n_columns(); ++c) {
            arities_.push_back(table.column(c).arity);
        }
        std::sort(arities_.begin(), arities_.end());
        arities_.erase(std::unique(arities_.begin(), arities_.end()), arities_.end());
        for (std::size_t a = 0; a < arities_.size(); ++a) row_terms_.emplace_back(total_);
    }

    // Values that a set has for families in which it is the parents: by arity of the child, or one
    // for all, which is g.
    std::size_t n_of_parents() const noexcept { return std::max<std::size_t>(1, arities_.size()); }
    std::size_t number_of_arity(std::size_t arity) const {
        if (arities_.empty()) return 0;
        return static_cast<std::size_t>(
            std::lower_bound(arities_.begin(), arities_.end(), arity) - arities_.begin());
    }
    bool is_by_arity() const noexcept { return !arities_.empty(); }

    // What belongs to sets with so many cells, seen or not. Valid until the next call.
    struct Sized {
        double constant;
        CountTermTable* terms;
        double n_cells;
    };
    Sized of_size(double n_cells) {
        auto entry = sized_.find(n_cells);
        if (entry == sized_.end()) {
            if (sized_.size() >= kMaxSizes || joint_terms_.size() >= most_tables_) {
                sized_.clear();
                joint_terms_.clear();
            }
            const double key = is_sized_ ? n_cells : 0.0;
            CountTermTable* const terms = &joint_terms_.try_emplace(key, total_).first->second;
            entry = sized_.emplace(n_cells, Sized{evaluator_.set_constant(n_cells), terms, n_cells})
                        .first;
        }
        return entry->second;
    }

    double joint(const Sized& sized, std::span<const std::uint32_t> cells) {
        return sized.terms->sum(
            cells, [&](double count) { return evaluator_.cell_term(count, sized.n_cells); });
    }
    double of_rows(std::size_t arity_number, std::span<const std::uint32_t> cells) {
        const std::size_t arity = arities_[arity_number];
        return row_terms_[arity_number].sum(
            cells, [&](double count) { return evaluator_.row_term(count, arity); });
    }
    const CountTermTable& row_terms(std::size_t arity_number) const {
        return row_terms_[arity_number];
    }

private:
    static constexpr std::size_t kMaxSizes = 4096;
    static constexpr std::size_t kMaxTerms = 1u << 22;  // 32 MiB

    Evaluator& evaluator_;
    const double total_;
    const bool is_sized_;
    const std::size_t most_tables_;
    std::vector<std::size_t> arities_;  // distinct; none where g serves for parents too
    std::map<double, Sized> sized_;
    std::map<double, CountTermTable> joint_terms_;
    std::vector<CountTermTable> row_terms_;
};

}  // namespace bestdag
