// Native twin of scores/bdeu.py.
#include "scores/list.hpp"
#include "special/lookup.hpp"

namespace bestdag {

namespace {

class Bdeu final : public PureBoundOf<Bdeu, SetEvaluatorOf> {
public:
    explicit Bdeu(double ess) : ess_(ess) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        const double row_prior = ess_ / shape.n_configurations;                  // a_j
        const double cell_prior = row_prior / static_cast<double>(shape.arity);  // a_jk
        auto [row_term, cell_term] = tables_.pair(row_prior, cell_prior);
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            Count row_total{0};  // N_j
            for (const Count count : counts.cells.subspan(row, counts.arity)) {
                row_total += count;
                score += cell_term(count);  // N_jk
            }
            score -= row_term(row_total);
        }
        return score;
    }

    double constant(const FamilyShape&) override { return 0.0; }

    template <class Count>
    double sum_cells(std::span<const Count> cells, double n_cells) {
        LogRising& term = tables_[ess_ / n_cells];
        double sum = 0.0;
        for (const Count count : cells) sum += term(count);
        return sum;
    }

    bool has_sized_terms() const noexcept override { return true; }

    // A row with one cell only: its first case has probability 1/r, whatever the prior's weight.
    template <class Count>
    double sum_pure(const CountRows<Count>& counts, const FamilyShape& shape) {
        return first_cases(counts, 1.0 / static_cast<double>(shape.arity));
    }

private:
    double ess_;
    LogRisings tables_;
};

}  // namespace

// Requires ess > 0.
Kernel make_bdeu(double ess) {
    return Kernel([ess](const TableShape&) { return std::make_unique<Bdeu>(ess); });
}

}  // namespace bestdag
