// Native twin of scores/bdq.py.
#include <cmath>
#include <limits>

#include "scores/list.hpp"
#include "special/log_gamma.hpp"
#include "special/lookup.hpp"

namespace bestdag {

namespace {

// Above a q = n times this, the penalty is n ln r to the last bit (and q may be infinite).
constexpr double kManyCases = 1e18;

class Bdq final : public SetEvaluatorOf<Bdq> {
public:
    Bdq(const TableShape& table, double pseudo_count)
        : prior_(pseudo_count), total_(table.total_weight), term_(pseudo_count) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            Count row_total{0};  // N_j
            double cells = 0.0;
            for (const Count count : counts.cells.subspan(row, counts.arity)) {
                row_total += count;
                cells += term_(count);  // N_jk
            }
            score += cells - term_(row_total);
        }
        return score;
    }

    double constant(const FamilyShape& shape) override {
        return -penalty(shape, shape.n_configurations);
    }

    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        double sum = 0.0;
        for (const Count count : cells) sum += term_(count);
        return sum;
    }

    double set_constant(double n_cells) override { return -log_rising(prior_ * n_cells, total_); }

    // No row scores above 0, and from N = 1 on the penalty grows with q.
    double bound_constant(const FamilyShape& shape, double growth) override {
        if (total_ < 1.0) return std::numeric_limits<double>::infinity();
        return -penalty(shape, shape.n_configurations * growth);
    }

    double most(const FamilyShape& shape) override { return bound_constant(shape, 1.0); }

    bool is_regular() const noexcept override { return total_ >= 1.0; }

private:
    // ln of the rising factorials of a q r over those of a q
    double penalty(const FamilyShape& shape, double q) const {
        const auto r = static_cast<double>(shape.arity);
        const double parents_prior = prior_ * q;
        if (parents_prior > kManyCases * total_) return total_ * std::log(r);
        return log_rising(parents_prior * r, total_) - log_rising(parents_prior, total_);
    }

    double prior_;  // a, of every cell
    double total_;  // N
    LogRising term_;
};

}  // namespace

// Requires pseudo_count > 0.
Kernel make_bdq(double pseudo_count) {
    return Kernel([pseudo_count](const TableShape& table) {
        return std::make_unique<Bdq>(table, pseudo_count);
    });
}

}  // namespace bestdag
