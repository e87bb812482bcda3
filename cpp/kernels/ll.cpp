#include "kernels/ll.hpp"

#include "kernels/log_likelihood.hpp"

namespace bestdag {

namespace {

class Ll final : public SetEvaluatorOf<Ll> {
public:
    explicit Ll(const Table& table) : n_log_n_(table.total_weight()) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape&) {
        return log_likelihood(counts, n_log_n_);
    }

    double constant(const FamilyShape&) override { return 0.0; }

    template <class Count>
    double sum_cells(std::span<const Count> cells, double) {
        return sum_n_log_n(cells, n_log_n_);
    }

    double bound_constant(const FamilyShape&, double) override { return 0.0; }
    bool is_regular() const noexcept override { return true; }

private:
    NLogN n_log_n_;
};

}  // namespace

Kernel make_ll() {
    return Kernel([](const Table& table) { return std::make_unique<Ll>(table); });
}

}  // namespace bestdag
