// Native twin of scores/mit.py.
#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

#include "scores/list.hpp"
#include "scores/row_likelihood.hpp"
#include "special/chi_square.hpp"

namespace bestdag {

namespace {

class Mit final : public EvaluatorOf<Mit> {
public:
    Mit(const TableShape& table, double confidence) : confidence_(confidence), likelihood_(table) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        return shape.family.parents.empty() ? 0.0
                                            : 2.0 * likelihood_.rows(counts.cells, counts.arity);
    }

    double constant(const FamilyShape& shape) override {
        return shape.family.parents.empty() ? 0.0 : beside_sets(shape);
    }

    SetForm set_form() const noexcept override { return SetForm::difference; }
    double cell_term(double count, double) override { return 2.0 * n_log_n(count); }
    bool has_beside() const noexcept override { return true; }
    double beside_sets(const FamilyShape& shape) override {
        return -2.0 * alone(shape) - penalty(shape, 1.0);
    }

    // No log-likelihood is above 0, and the penalty grows with each parent and with its arity.
    double bound_constant(const FamilyShape& shape, double growth) override {
        return -2.0 * alone(shape) - penalty(shape, growth);
    }

    double likelihood_weight() const noexcept override { return 2.0; }

    bool is_regular() const noexcept override { return true; }

private:
    // The log-likelihood of the child without parents.
    static double alone(const FamilyShape& shape) {
        return shape.marginals.marginal_n_log_n(shape.family.child) - n_log_n(shape.total_weight);
    }

    // Parents by decreasing arity, each tested given those before it; and one more of arity `more`.
    double penalty(const FamilyShape& shape, double more) {
        if (shape.arity == 1) return 0.0;
        arities_.clear();
        for (const std::int32_t parent : shape.family.parents) {
            arities_.push_back(shape.table.arity(static_cast<std::size_t>(parent)));
        }
        arities_.push_back(more);  // with one state it costs nothing
        std::sort(arities_.begin(), arities_.end(), std::greater<>());
        double before = static_cast<double>(shape.arity - 1);
        double sum = 0.0;
        for (const double arity : arities_) {
            if (arity == 1.0) break;  // nor have those after it a degree of freedom
            sum += quantile(before * (arity - 1.0));
            before *= arity;
        }
        return sum;
    }

    double quantile(double df) {
        if (quantiles_.size() > kMaxQuantiles) quantiles_.clear();
        const auto [entry, is_new] = quantiles_.try_emplace(df, 0.0);
        if (is_new) entry->second = chi_square_quantile(df, confidence_);
        return entry->second;
    }

    static constexpr std::size_t kMaxQuantiles = 1u << 16;
    double confidence_;
    RowLikelihood likelihood_;
    std::vector<double> arities_;
    std::unordered_map<double, double> quantiles_;
};

}  // namespace

// Requires 0 < confidence < 1.
Kernel make_mit(double confidence) {
    return Kernel(
        [confidence](const TableShape& table) { return std::make_unique<Mit>(table, confidence); });
}

}  // namespace bestdag
