#include "kernels/min_bdeu.hpp"

#include <algorithm>
#include <limits>

#include "kernels/contaminated_prior.hpp"

namespace bestdag {

namespace {

class MinBdeu final : public PureBoundOf<MinBdeu, EvaluatorOf> {
public:
    MinBdeu(double ess, double epsilon) : priors_(ess, epsilon) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        bool forgot = false;
        PriorLookup& prior = priors_.of(shape, forgot);
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            Count row_total{0};  // N_j
            Count fewest = std::numeric_limits<Count>::max();
            double cells = 0.0;
            for (const Count n : counts.cells.subspan(row, counts.arity)) {  // N_jk
                fewest = std::min(fewest, n);
                if (n == Count{0}) continue;
                row_total += n;
                cells += prior.floor(n);
            }
            if (row_total == Count{0}) continue;
            // All the free mass goes where it helps least: to the state with the smallest count.
            if (fewest > Count{0}) cells += prior.top(fewest) - prior.floor(fewest);
            score += cells - prior.total(row_total);
        }
        return score;
    }

    double constant(const FamilyShape&) override { return 0.0; }

    // Never more than BDeu, whose prior is among those to choose from.
    template <class Count>
    double sum_pure(const CountRows<Count>& counts, const FamilyShape& shape) {
        return first_cases(counts, 1.0 / static_cast<double>(shape.arity));
    }

private:
    PriorLookups priors_;
};

}  // namespace

Kernel make_min_bdeu(double ess, double epsilon) {
    return Kernel([=](const Table&) { return std::make_unique<MinBdeu>(ess, epsilon); });
}

}  // namespace bestdag
