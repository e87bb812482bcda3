#include "scores/support.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace bestdag {

namespace {

template <class Count>
std::size_t n_occupied(std::span<const Count> cells) noexcept {
    std::size_t n = 0;
    for (const Count count : cells) n += count > Count{0};
    return n;
}

// Passes everything on, and counts occupied cells on the way. `constant` and `set_constant` begin
// a family or a set; its rows and cells follow.
class WithinSupport final : public Evaluator {
public:
    WithinSupport(std::unique_ptr<Evaluator> score, double max_cells,
                  const std::vector<ExemptFamily>& exempt)
        : score_(std::move(score)), max_cells_(max_cells), exempt_(exempt) {}

    double constant(const FamilyShape& shape) override {
        n_cells_ = 0;
        is_limited_ = !shape.family.parents.empty() && !is_exempt(shape.family);
        return score_->constant(shape);
    }
    double rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) override {
        return rows_of(counts, shape);
    }
    double rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) override {
        return rows_of(counts, shape);
    }
    double rows(const CountRows<double>& counts, const FamilyShape& shape) override {
        return rows_of(counts, shape);
    }
    bool lacks_support() const noexcept override { return is_limited_ && is_beyond(); }

    bool has_set_function() const noexcept override {
        return exempt_.empty() && score_->has_set_function();
    }
    double set_constant(double n_cells) override {
        n_cells_ = 0;
        return score_->set_constant(n_cells);
    }
    double set_cells(const CountRows<std::uint32_t>& counts, const SetShape& shape) override {
        return cells_of(counts, shape);
    }
    double set_cells(const CountRows<std::int64_t>& counts, const SetShape& shape) override {
        return cells_of(counts, shape);
    }
    double set_cells(const CountRows<double>& counts, const SetShape& shape) override {
        return cells_of(counts, shape);
    }
    SetForm set_form() const noexcept override {
        return exempt_.empty() ? score_->set_form() : SetForm::none;
    }
    double max_cells() const noexcept override { return max_cells_; }

    double cell_term(double count, double n_cells) override {
        return score_->cell_term(count, n_cells);
    }
    bool has_sized_terms() const noexcept override { return score_->has_sized_terms(); }
    double row_term(double count, std::size_t arity) override {
        return score_->row_term(count, arity);
    }
    double most(const FamilyShape& shape) override { return score_->most(shape); }
    bool has_beside() const noexcept override { return score_->has_beside(); }
    double beside_sets(const FamilyShape& shape) override { return score_->beside_sets(shape); }

    double bound_constant(const FamilyShape& shape, double growth) override {
        return score_->bound_constant(shape, growth);
    }
    double bound_rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) override {
        return score_->bound_rows(counts, shape);
    }
    double bound_rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) override {
        return score_->bound_rows(counts, shape);
    }
    double bound_rows(const CountRows<double>& counts, const FamilyShape& shape) override {
        return score_->bound_rows(counts, shape);
    }
    double likelihood_weight() const noexcept override { return score_->likelihood_weight(); }
    bool is_capped_by_likelihood() const noexcept override {
        return score_->is_capped_by_likelihood();
    }
    double cap_rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) override {
        return score_->cap_rows(counts, shape);
    }
    double cap_rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) override {
        return score_->cap_rows(counts, shape);
    }
    double cap_rows(const CountRows<double>& counts, const FamilyShape& shape) override {
        return score_->cap_rows(counts, shape);
    }
    // With exempt families a smaller family may be out where a larger one is not.
    bool is_regular() const noexcept override { return exempt_.empty() && score_->is_regular(); }
    bool is_blind_to_single_states() const noexcept override {
        return score_->is_blind_to_single_states();
    }
    double least_saving(const FamilyShape& shape, double arity) override {
        return exempt_.empty() ? score_->least_saving(shape, arity) : -kInfinity;
    }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    bool is_beyond() const noexcept { return static_cast<double>(n_cells_) > max_cells_; }

    bool is_exempt(const Family& family) const noexcept {
        return std::any_of(exempt_.begin(), exempt_.end(), [&](const ExemptFamily& one) {
            return one.child == family.child && std::ranges::equal(one.parents, family.parents);
        });
    }

    template <class Count>
    double rows_of(const CountRows<Count>& counts, const FamilyShape& shape) {
        n_cells_ += n_occupied(counts.cells);
        return lacks_support() ? -kInfinity : score_->rows(counts, shape);
    }

    template <class Count>
    double cells_of(const CountRows<Count>& counts, const SetShape& shape) {
        n_cells_ += n_occupied(counts.cells);
        if (shape.columns.size() > 1 && is_beyond()) return -kInfinity;
        return score_->set_cells(counts, shape);
    }

    std::unique_ptr<Evaluator> score_;
    const double max_cells_;
    const std::vector<ExemptFamily>& exempt_;
    std::size_t n_cells_ = 0;  // of the family or set at hand, so far
    bool is_limited_ = false;
};

}  // namespace

Kernel within_support(const Kernel& kernel, double max_cells, std::vector<ExemptFamily> exempt) {
    const auto kept = std::make_shared<const std::vector<ExemptFamily>>(std::move(exempt));
    return Kernel(
        [kernel, max_cells, kept](const TableShape& table, const StopFlag& stop) {
            return std::make_unique<WithinSupport>(kernel.evaluator(table, stop), max_cells, *kept);
        },
        kernel.traits());
}

}  // namespace bestdag
