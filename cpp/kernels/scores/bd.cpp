// Native twin of scores/bd.py.
#include "scores/list.hpp"
#include "special/lookup.hpp"

namespace bestdag {

namespace {

class Bd final : public PureBoundOf<Bd, EvaluatorOf> {
public:
    explicit Bd(double pseudo_count) : cell_prior_(pseudo_count), cell_term_(pseudo_count) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        LogRising& row_term = row_terms_[cell_prior_ * static_cast<double>(shape.arity)];  // a_j
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            Count row_total{0};  // N_j
            for (const Count count : counts.cells.subspan(row, counts.arity)) {
                row_total += count;
                score += cell_term_(count);  // N_jk
            }
            score -= row_term(row_total);
        }
        return score;
    }

    double constant(const FamilyShape&) override { return 0.0; }

    SetForm set_form() const noexcept override { return SetForm::by_arity; }
    double cell_term(double count, double) override { return cell_term_(count); }
    double row_term(double count, std::size_t arity) override {
        return row_terms_[cell_prior_ * static_cast<double>(arity)](count);
    }

    bool is_regular() const noexcept override { return true; }

    template <class Count>
    double sum_pure(const CountRows<Count>& counts, const FamilyShape& shape) {
        LogRising& row_term = row_terms_[cell_prior_ * static_cast<double>(shape.arity)];
        double score = 0.0;
        for (const Count count : counts.cells) score += cell_term_(count) - row_term(count);
        return score;
    }

private:
    double cell_prior_;  // a_jk
    LogRising cell_term_;
    LogRisings row_terms_;
};

}  // namespace

// Requires pseudo_count > 0; with 1, the native twin of scores/k2.py.
Kernel make_bd(double pseudo_count) {
    return Kernel([pseudo_count](const TableShape&) { return std::make_unique<Bd>(pseudo_count); });
}

}  // namespace bestdag
