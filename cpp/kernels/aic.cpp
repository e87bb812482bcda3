#include "kernels/aic.hpp"

#include "kernels/log_likelihood.hpp"

namespace bestdag {

namespace {

class Aic final : public EvaluatorOf<Aic> {
public:
    explicit Aic(const Table& table) : n_log_n_(table.total_weight()) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return log_likelihood(counts, n_log_n_);
    }

    double constant(const FamilyShape& shape) override {
        if (shape.arity == 1) return 0.0;  // q may be infinite
        return -(shape.n_configurations * static_cast<double>(shape.arity - 1));
    }

private:
    NLogN n_log_n_;
};

}  // namespace

Kernel make_aic() {
    return Kernel([](const Table& table) { return std::make_unique<Aic>(table); });
}

}  // namespace bestdag
