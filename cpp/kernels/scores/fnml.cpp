// Native twin of scores/fnml.py.
#include <unordered_map>

#include "scores/count_memory.hpp"
#include "scores/list.hpp"
#include "scores/row_likelihood.hpp"
#include "special/regret.hpp"

namespace bestdag {

namespace {

// Of so many arities the regrets are remembered, half a megabyte each at most.
constexpr std::size_t kMaxArities = 64;

class Fnml final : public PureBoundOf<Fnml, EvaluatorOf> {
public:
    explicit Fnml(const TableShape& table) : likelihood_(table) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        const auto r = static_cast<double>(shape.arity);
        CountMemory& regrets = regrets_of(shape.arity);
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            Count total;  // N_j
            const double fit = likelihood_(counts.cells.subspan(row, counts.arity), total);
            score += fit - regrets.get(static_cast<double>(total),
                                       [r](double n) { return regret(n, r); });
        }
        return score;
    }

    double constant(const FamilyShape& shape) override { return only_whole_counts(shape.table); }

    SetForm set_form() const noexcept override { return SetForm::by_arity; }
    double cell_term(double count, double) override { return n_log_n(count); }
    double row_term(double count, std::size_t arity) override {
        const auto r = static_cast<double>(arity);
        return n_log_n(count) +
               regrets_of(arity).get(count, [r](double total) { return regret(total, r); });
    }

    bool is_regular() const noexcept override { return true; }

    // A row with one cell only has likelihood 1.
    template <class Count>
    double sum_pure(const CountRows<Count>& counts, const FamilyShape& shape) {
        const auto r = static_cast<double>(shape.arity);
        CountMemory& regrets = regrets_of(shape.arity);
        double score = 0.0;
        for (const Count count : counts.cells) {
            score -= regrets.get(static_cast<double>(count),
                                 [r](double total) { return regret(total, r); });
        }
        return score;
    }

    // The regret of a row is no more than that of its parts together.
    double cap_rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) override {
        return -sum_regrets(counts, shape);
    }
    double cap_rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) override {
        return -sum_regrets(counts, shape);
    }
    double cap_rows(const CountRows<double>& counts, const FamilyShape& shape) override {
        return -sum_regrets(counts, shape);
    }

private:
    template <class Count>
    double sum_regrets(const CountRows<Count>& counts, const FamilyShape& shape) {
        const auto r = static_cast<double>(shape.arity);
        CountMemory& regrets = regrets_of(shape.arity);
        double sum = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            double total = 0.0;  // N_j
            for (const Count count : counts.cells.subspan(row, counts.arity)) {
                total += static_cast<double>(count);
            }
            sum += regrets.get(total, [r](double n) { return regret(n, r); });
        }
        return sum;
    }

    CountMemory& regrets_of(std::size_t arity) {
        if (regrets_.size() >= kMaxArities && !regrets_.contains(arity)) regrets_.clear();
        return regrets_[arity];
    }

    RowLikelihood likelihood_;
    std::unordered_map<std::size_t, CountMemory> regrets_;  // ln C(r, n), by r
};

}  // namespace

// Not a number for counts that are not whole.
Kernel make_fnml() {
    return Kernel([](const TableShape& table) { return std::make_unique<Fnml>(table); });
}

}  // namespace bestdag
