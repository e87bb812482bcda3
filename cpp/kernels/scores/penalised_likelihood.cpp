#include "scores/penalised_likelihood.hpp"

#include <limits>
#include <memory>

#include "scores/row_likelihood.hpp"

namespace bestdag {

namespace {

class PenalisedLikelihood final : public SetEvaluatorOf<PenalisedLikelihood> {
public:
    PenalisedLikelihood(const TableShape& table, double weight, double penalty)
        : likelihood_(table), weight_(weight), penalty_(penalty) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return weight_ * likelihood_.rows(counts.cells, counts.arity);
    }

    double constant(const FamilyShape& shape) override {
        return -penalty(shape.n_configurations * static_cast<double>(shape.arity - 1));
    }

    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        return weight_ * likelihood_.cells(cells);
    }

    // q (r - 1) = q r - q: the penalty, too, is a difference.
    double set_constant(double n_cells) override { return -penalty(n_cells); }

    // No log-likelihood is above 0, and one more parent multiplies the penalty.
    double bound_constant(const FamilyShape& shape, double growth) override {
        return is_reward() ? kInfinity : constant(shape) * growth;
    }

    double most(const FamilyShape& shape) override {
        return is_reward() ? kInfinity : constant(shape);
    }

    double likelihood_weight() const noexcept override { return weight_; }

    bool is_regular() const noexcept override { return !is_reward(); }

    double least_saving(const FamilyShape& shape, double arity) override {
        return weight_ == 1.0 ? -constant(shape) * (1.0 - 1.0 / arity) : -kInfinity;
    }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    // Real weights may add up to less than 1; then ln N is negative.
    bool is_reward() const noexcept { return penalty_ < 0.0; }

    // Without a penalty there is none for infinitely many parameters either.
    double penalty(double n_parameters) const noexcept {
        return penalty_ != 0.0 ? penalty_ * n_parameters : 0.0;
    }

    RowLikelihood likelihood_;
    double weight_;   // of the log-likelihood
    double penalty_;  // of one parameter
};

}  // namespace

Kernel penalised_likelihood(PenaltyPerParameter penalty) {
    return Kernel([penalty](const TableShape& table) {
        return std::make_unique<PenalisedLikelihood>(table, 1.0, penalty(table.total_weight));
    });
}

Kernel penalised_mean_likelihood(PenaltyPerParameter penalty) {
    return Kernel([penalty](const TableShape& table) {
        const double n = table.total_weight;
        return std::make_unique<PenalisedLikelihood>(table, 1.0 / n, penalty(n));
    });
}

}  // namespace bestdag
