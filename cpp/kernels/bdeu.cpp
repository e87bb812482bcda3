#include "kernels/bdeu.hpp"

#include "kernels/log_gamma.hpp"

namespace bestdag {

namespace {

class Bdeu final : public EvaluatorOf<Bdeu> {
public:
    explicit Bdeu(double ess) : ess_(ess) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        const double row_prior = ess_ / shape.n_configurations;                  // a_j
        const double cell_prior = row_prior / static_cast<double>(shape.arity);  // a_jk
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            double row_total = 0.0;  // N_j
            for (const Count count : counts.cells.subspan(row, counts.arity)) {
                if (count == Count{0}) continue;
                const auto n = static_cast<double>(count);  // N_jk
                row_total += n;
                score += log_rising(cell_prior, n);
            }
            score -= log_rising(row_prior, row_total);
        }
        return score;
    }

    double constant(const FamilyShape&) override { return 0.0; }

private:
    double ess_;
};

}  // namespace

Kernel make_bdeu(double ess) {
    return Kernel([ess](const Table&) { return std::make_unique<Bdeu>(ess); });
}

}  // namespace bestdag
