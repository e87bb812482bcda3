// Native twin of scores/qnml.py.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "scores/list.hpp"
#include "scores/row_likelihood.hpp"
#include "special/regret.hpp"

namespace bestdag {

namespace {

// Above q = n times this, reg(n, q r) - reg(n, q) is n ln r to the last bit (and q may be
// infinite).
constexpr double kManyConfigurations = 1e18;
constexpr std::size_t kMaxRemembered = 1u << 16;

class Qnml final : public SetEvaluatorOf<Qnml> {
public:
    Qnml(const TableShape& table, bool is_exact)
        : is_exact_(is_exact), total_(table.total_weight), likelihood_(table) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return likelihood_.rows(counts.cells, counts.arity);
    }

    double constant(const FamilyShape& shape) override {
        return only_whole_counts(shape.table) - penalty(shape, shape.n_configurations);
    }

    // No log-likelihood is above 0, and the exact penalty grows with q.
    double bound_constant(const FamilyShape& shape, double growth) override {
        if (!is_exact_) return std::numeric_limits<double>::infinity();
        return -penalty(shape, shape.n_configurations * growth);
    }

    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        return likelihood_.cells(cells);
    }

    double set_constant(double n_cells) override { return -regret_of(total_, n_cells); }

    double most(const FamilyShape& shape) override {
        return is_exact_ ? constant(shape) : std::numeric_limits<double>::infinity();
    }
    double likelihood_weight() const noexcept override { return 1.0; }

    bool is_regular() const noexcept override { return is_exact_; }

private:
    // reg(n, q r) - reg(n, q)
    double penalty(const FamilyShape& shape, double q) {
        const double n = shape.total_weight;
        const auto r = static_cast<double>(shape.arity);
        if (q > kManyConfigurations * n) return n * std::log(r);
        return regret_of(n, q * r) - regret_of(n, q);
    }

    double regret_of(double n, double n_states) {
        const auto found = regrets_.find(n_states);
        if (found != regrets_.end()) return found->second;
        if (regrets_.size() >= kMaxRemembered) regrets_.clear();
        const double value = is_exact_ ? regret(n, n_states) : szpankowski_regret(n, n_states);
        regrets_.emplace(n_states, value);
        return value;
    }

    bool is_exact_;
    double total_;  // N
    RowLikelihood likelihood_;
    std::unordered_map<double, double> regrets_;  // of the table's N, by number of states
};

}  // namespace

// The regret is exact, or Szpankowski and Weinberger's approximation. Not a number for counts that
// are not whole.
Kernel make_qnml(bool is_exact) {
    return Kernel(
        [is_exact](const TableShape& table) { return std::make_unique<Qnml>(table, is_exact); });
}

}  // namespace bestdag
