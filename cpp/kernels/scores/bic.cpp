#include "scores/bic.hpp"

#include <cmath>
#include <limits>

#include "scores/row_likelihood.hpp"

namespace bestdag {

namespace {

class Bic final : public SetEvaluatorOf<Bic> {
public:
    explicit Bic(const Table& table)
        : likelihood_(table), half_log_n_(0.5 * std::log(table.total_weight())) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return likelihood_.rows(counts.cells, counts.arity);
    }

    double constant(const FamilyShape& shape) override {
        return -half_log_n_ * (shape.n_configurations * static_cast<double>(shape.arity - 1));
    }

    // q (r - 1) = q r - q: the penalty, too, is a difference.
    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        return likelihood_.cells(cells);
    }

    double set_constant(double n_cells) override { return -half_log_n_ * n_cells; }

    // No log-likelihood is above 0, and one more parent multiplies the penalty.
    double bound_constant(const FamilyShape& shape, double growth) override {
        if (half_log_n_ < 0.0) return std::numeric_limits<double>::infinity();  // weights, N < 1
        return constant(shape) * growth;
    }

    double most(const FamilyShape& shape) override {
        return half_log_n_ < 0.0 ? std::numeric_limits<double>::infinity() : constant(shape);
    }
    double likelihood_weight() const noexcept override { return 1.0; }

    bool is_regular() const noexcept override { return half_log_n_ >= 0.0; }

    double least_saving(const FamilyShape& shape, double arity) override {
        return -constant(shape) * (1.0 - 1.0 / arity);
    }

private:
    RowLikelihood likelihood_;
    double half_log_n_;
};

}  // namespace

Kernel make_bic() {
    return Kernel([](const Table& table) { return std::make_unique<Bic>(table); });
}

}  // namespace bestdag
