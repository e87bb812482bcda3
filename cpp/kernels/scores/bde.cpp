#include "scores/bde.hpp"

#include <limits>

#include "counting/configurations.hpp"
#include "special/log_gamma.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kCellsTogether = 1u << 14;  // worked out before they are summed up
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Bde final : public Evaluator {
public:
    Bde(double ess, std::shared_ptr<const PriorMarginals> prior, const StopFlag& stop)
        : ess_(ess), prior_(std::move(prior)), stop_(stop) {}

    double rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) override {
        return sum(counts, shape.table, shape.family, true);
    }
    double rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) override {
        return sum(counts, shape.table, shape.family, true);
    }
    double rows(const CountRows<double>& counts, const FamilyShape& shape) override {
        return sum(counts, shape.table, shape.family, true);
    }

    double constant(const FamilyShape&) override { return 0.0; }

    bool is_capped_by_likelihood() const noexcept override { return true; }

    // The pseudo-counts of a set's cells do not depend on which of them is the child.
    bool has_set_function() const noexcept override { return true; }
    double set_cells(const CountRows<std::uint32_t>& counts, const SetShape& shape) override {
        return sum_set(counts, shape);
    }
    double set_cells(const CountRows<std::int64_t>& counts, const SetShape& shape) override {
        return sum_set(counts, shape);
    }
    double set_cells(const CountRows<double>& counts, const SetShape& shape) override {
        return sum_set(counts, shape);
    }

private:
    template <class Count>
    double sum_set(const CountRows<Count>& counts, const SetShape& shape) {
        if (shape.columns.empty()) return log_rising(ess_, static_cast<double>(counts.cells[0]));
        const Family family{static_cast<std::size_t>(shape.columns.back()),
                            shape.columns.first(shape.columns.size() - 1)};
        return sum(counts, shape.table, family, false);
    }

    template <class Count>
    double sum(const CountRows<Count>& counts, const TableShape& table, const Family& family,
               bool minus_totals) {
        const PriorMarginals::Joint joint = prior_->joint(family, stop_);
        return joint ? sum_whole(counts, table, family, *joint, minus_totals)
                     : sum_by_row(counts, table, family, minus_totals);
    }

    // From the joint table, where parents come before and after the child.
    template <class Count>
    double sum_whole(const CountRows<Count>& counts, const TableShape& table, const Family& family,
                     const Factor& joint, bool minus_totals) {
        steps_.assign(family.parents.size(), 0);
        std::size_t child_step = 0;
        std::size_t step = 1;
        bool is_passed = false;
        const auto pass_child = [&] {
            child_step = step;
            step *= table.arities[family.child];
            is_passed = true;
        };
        for (std::size_t i = family.parents.size(); i-- > 0;) {
            const auto parent = static_cast<std::size_t>(family.parents[i]);
            if (!is_passed && parent < family.child) pass_child();
            steps_[i] = step;
            step *= table.arities[parent];
        }
        if (!is_passed) pass_child();
        double score = 0.0;
        configurations_.visit(table, family, counts, [&](std::span<const Count> cells, auto codes) {
            const double* at = joint.values;
            for (std::size_t i = 0; i < codes.size(); ++i) at += codes[i] * steps_[i];
            add_row(cells, at, child_step, minus_totals, score);
        });
        return score;
    }

    // Many rows at a time.
    template <class Count>
    double sum_by_row(const CountRows<Count>& counts, const TableShape& table, const Family& family,
                      bool minus_totals) {
        double score = 0.0;
        std::vector<std::span<const Count>> waiting;
        std::vector<std::uint32_t> all_codes;
        const auto work_off = [&] {
            shares_.resize(waiting.size() * counts.arity);
            prior_->rows(family, all_codes, waiting.size(), shares_, stop_);
            for (std::size_t i = 0; i < waiting.size(); ++i) {
                add_row(waiting[i], shares_.data() + i * counts.arity, 1, minus_totals, score);
            }
            waiting.clear();
            all_codes.clear();
        };
        configurations_.visit(table, family, counts, [&](std::span<const Count> cells, auto codes) {
            waiting.push_back(cells);
            all_codes.insert(all_codes.end(), codes.begin(), codes.end());
            if (waiting.size() * counts.arity >= kCellsTogether) work_off();
        });
        if (!waiting.empty()) work_off();
        return score;
    }

    // One configuration; shares[k * step] = P(child = k, parents). Cell after cell, so that the
    // sum over a set does not depend on which columns make up a row.
    template <class Count>
    void add_row(std::span<const Count> cells, const double* shares, std::size_t step,
                 bool minus_totals, double& score) const {
        double row_prior = 0.0;  // a_j
        Count row_total{0};      // N_j
        for (std::size_t k = 0; k < cells.size(); ++k) {
            const double prior = ess_ * shares[k * step];  // a_jk
            row_prior += prior;
            row_total += cells[k];
            if (cells[k] == Count{0}) continue;
            // Minus infinity where the prior network calls it impossible.
            score += prior > 0.0 ? log_rising(prior, static_cast<double>(cells[k])) : -kInfinity;
        }
        if (minus_totals && row_prior > 0.0) {
            score -= log_rising(row_prior, static_cast<double>(row_total));
        }
    }

    double ess_;
    std::shared_ptr<const PriorMarginals> prior_;
    const StopFlag& stop_;
    Configurations configurations_;
    std::vector<std::size_t> steps_;
    std::vector<double> shares_;
};

}  // namespace

Kernel make_bde(double ess, const NetworkArrays& network, double max_bytes) {
    const auto prior = std::make_shared<const PriorMarginals>(network, max_bytes);
    return Kernel(
        [ess, prior](const TableShape&, const StopFlag& stop) {
            return std::make_unique<Bde>(ess, prior, stop);
        },
        {.nanoseconds_per_family = prior->nanoseconds(), .may_refuse = false});
}

}  // namespace bestdag
