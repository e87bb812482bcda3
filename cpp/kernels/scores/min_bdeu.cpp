// Native twin of scores/min_bdeu.py.
#include <algorithm>
#include <cmath>
#include <limits>

#include "scores/contaminated_prior.hpp"
#include "scores/list.hpp"

namespace bestdag {

namespace {

class MinBdeu final : public PureBoundOf<MinBdeu, EvaluatorOf> {
public:
    MinBdeu(double ess, double epsilon) : epsilon_(epsilon), priors_(ess, epsilon) {}

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

    // The free mass helps one state of a row, the rarest, and only where all states occur: a first
    // case is no more likely than the geometric mean of the shares.
    template <class Count>
    double sum_pure(const CountRows<Count>& counts, const FamilyShape& shape) {
        const auto r = static_cast<double>(shape.arity);
        const double floor = (1.0 - epsilon_) / r;
        return first_cases(counts,
                           std::pow(floor, 1.0 - 1.0 / r) * std::pow(epsilon_ + floor, 1.0 / r));
    }

private:
    double epsilon_;
    PriorLookups priors_;
};

}  // namespace

// Requires ess > 0, 0 <= epsilon < 1.
Kernel make_min_bdeu(double ess, double epsilon) {
    return Kernel([=](const TableShape&) { return std::make_unique<MinBdeu>(ess, epsilon); });
}

}  // namespace bestdag
