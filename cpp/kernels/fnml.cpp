#include "kernels/fnml.hpp"

#include <unordered_map>

#include "kernels/count_memory.hpp"
#include "kernels/regret.hpp"
#include "kernels/row_likelihood.hpp"

namespace bestdag {

namespace {

// Of so many arities the regrets are remembered, half a megabyte each at most.
constexpr std::size_t kMaxArities = 64;

class Fnml final : public EvaluatorOf<Fnml> {
public:
    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        const auto r = static_cast<double>(shape.arity);
        CountMemory& regrets = regrets_of(shape.arity);
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            double n;  // N_j
            const double fit = likelihood_(counts.cells.subspan(row, counts.arity), n);
            if (n != n) return n;
            score += fit - regrets.get(n, [r](double total) { return regret(total, r); });
        }
        return score;
    }

    double constant(const FamilyShape&) override { return 0.0; }

private:
    CountMemory& regrets_of(std::size_t arity) {
        if (regrets_.size() >= kMaxArities && !regrets_.contains(arity)) regrets_.clear();
        return regrets_[arity];
    }

    RowLikelihood likelihood_;
    std::unordered_map<std::size_t, CountMemory> regrets_;  // ln C(r, n), by r
};

}  // namespace

Kernel make_fnml() {
    return Kernel([](const Table&) { return std::make_unique<Fnml>(); });
}

}  // namespace bestdag
