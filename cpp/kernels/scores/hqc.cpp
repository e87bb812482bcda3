#include "scores/hqc.hpp"

#include <cmath>

#include "scores/row_likelihood.hpp"

namespace bestdag {

namespace {

// ln ln N, and 0 up to N = e: no parameter is paid for having it.
double price_of(double n) noexcept {
    const double log_n = std::log(n);
    return log_n > 1.0 ? std::log(log_n) : 0.0;
}

class Hqc final : public SetEvaluatorOf<Hqc> {
public:
    explicit Hqc(const Table& table) : likelihood_(table), price_(price_of(table.total_weight())) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return likelihood_.rows(counts.cells, counts.arity);
    }

    double constant(const FamilyShape& shape) override {
        return -cost(shape.n_configurations * static_cast<double>(shape.arity - 1));
    }

    // q (r - 1) = q r - q: the penalty, too, is a difference.
    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        return likelihood_.cells(cells);
    }

    double set_constant(double n_cells) override { return -cost(n_cells); }

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
    // What is free stays free when there is more of it than numbers can say.
    double cost(double n_parameters) const noexcept {
        return price_ > 0.0 ? price_ * n_parameters : 0.0;
    }

    RowLikelihood likelihood_;
    double price_;  // of one parameter
};

}  // namespace

Kernel make_hqc() {
    return Kernel([](const Table& table) { return std::make_unique<Hqc>(table); });
}

}  // namespace bestdag
