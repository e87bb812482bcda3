#include "kernels/bic.hpp"

#include <cmath>

#include "kernels/log_gamma.hpp"

namespace bestdag {

namespace {

class Bic final : public EvaluatorOf<Bic> {
public:
    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            double row_total = 0.0;  // N_j
            for (const Count count : counts.cells.subspan(row, counts.arity)) {
                const auto n = static_cast<double>(count);  // N_jk
                row_total += n;
                score += n_log_n(n);
            }
            score -= n_log_n(row_total);
        }
        return score;
    }

    double constant(const FamilyShape& shape) override {
        const double n_parameters = shape.n_configurations * static_cast<double>(shape.arity - 1);
        return -0.5 * std::log(shape.total_weight) * n_parameters;
    }
};

}  // namespace

Kernel make_bic() {
    return Kernel([](const Table&) { return std::make_unique<Bic>(); });
}

}  // namespace bestdag
