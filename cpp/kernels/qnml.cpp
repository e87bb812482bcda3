#include "kernels/qnml.hpp"

#include <cmath>
#include <limits>
#include <unordered_map>

#include "kernels/regret.hpp"
#include "kernels/row_likelihood.hpp"

namespace bestdag {

namespace {

// Above q = n times this, reg(n, q r) - reg(n, q) is n ln r to the last bit (and q may be infinite).
constexpr double kManyConfigurations = 1e18;
constexpr std::size_t kMaxRemembered = 1u << 16;

class Qnml final : public EvaluatorOf<Qnml> {
public:
    explicit Qnml(bool is_exact) : is_exact_(is_exact) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            double n;  // N_j
            score += likelihood_(counts.cells.subspan(row, counts.arity), n);
        }
        return score;
    }

    double constant(const FamilyShape& shape) override {
        const double n = shape.total_weight;
        const double q = shape.n_configurations;
        const auto r = static_cast<double>(shape.arity);
        if (n != std::floor(n)) return std::numeric_limits<double>::quiet_NaN();
        if (q > kManyConfigurations * n) return -n * std::log(r);
        return regret_of(n, q) - regret_of(n, q * r);
    }

private:
    double regret_of(double n, double n_states) {
        const auto found = regrets_.find(n_states);
        if (found != regrets_.end()) return found->second;
        if (regrets_.size() >= kMaxRemembered) regrets_.clear();
        const double value = is_exact_ ? regret(n, n_states) : szpankowski_regret(n, n_states);
        regrets_.emplace(n_states, value);
        return value;
    }

    bool is_exact_;
    RowLikelihood likelihood_;
    std::unordered_map<double, double> regrets_;  // of the table's N, by number of states
};

}  // namespace

Kernel make_qnml(bool is_exact) {
    return Kernel([is_exact](const Table&) { return std::make_unique<Qnml>(is_exact); });
}

}  // namespace bestdag
