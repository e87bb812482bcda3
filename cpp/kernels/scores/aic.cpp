#include "scores/aic.hpp"

#include "scores/row_likelihood.hpp"

namespace bestdag {

namespace {

class Aic final : public SetEvaluatorOf<Aic> {
public:
    explicit Aic(const Table& table) : likelihood_(table) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return likelihood_.rows(counts.cells, counts.arity);
    }

    double constant(const FamilyShape& shape) override {
        return -(shape.n_configurations * static_cast<double>(shape.arity - 1));
    }

    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        return likelihood_.cells(cells);
    }

    // q (r - 1) = q r - q: the penalty, too, is a difference.
    double set_constant(double n_cells) override { return -n_cells; }

    // No log-likelihood is above 0, and one more parent multiplies the penalty.
    double bound_constant(const FamilyShape& shape, double growth) override {
        return constant(shape) * growth;
    }

    double most(const FamilyShape& shape) override { return constant(shape); }
    double likelihood_weight() const noexcept override { return 1.0; }

    bool is_regular() const noexcept override { return true; }

    double least_saving(const FamilyShape& shape, double arity) override {
        return -constant(shape) * (1.0 - 1.0 / arity);
    }

private:
    RowLikelihood likelihood_;
};

}  // namespace

Kernel make_aic() {
    return Kernel([](const Table& table) { return std::make_unique<Aic>(table); });
}

}  // namespace bestdag
