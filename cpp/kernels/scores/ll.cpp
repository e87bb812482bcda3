#include "scores/ll.hpp"

#include "scores/row_likelihood.hpp"

namespace bestdag {

namespace {

class Ll final : public SetEvaluatorOf<Ll> {
public:
    explicit Ll(const Table& table) : likelihood_(table) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return likelihood_.rows(counts.cells, counts.arity);
    }

    double constant(const FamilyShape&) override { return 0.0; }

    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        return likelihood_.cells(cells);
    }

    double bound_constant(const FamilyShape&, double) override { return 0.0; }
    double likelihood_weight() const noexcept override { return 1.0; }

    bool is_regular() const noexcept override { return true; }

private:
    RowLikelihood likelihood_;
};

}  // namespace

Kernel make_ll() {
    return Kernel([](const Table& table) { return std::make_unique<Ll>(table); });
}

}  // namespace bestdag
