#include "scoring/score_counts.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "special/log_gamma.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerCell = 10.0;

// What the counts of a family say of its columns.
template <class Count>
class FamilyMarginals final : public Marginals {
public:
    FamilyMarginals(const TableShape& table, const Family& family, const CountRows<Count>& counts)
        : table_(table), family_(family), counts_(counts) {}

    double marginal_n_log_n(std::size_t) const override {
        std::vector<Count> totals(counts_.arity, Count{0});
        for (std::size_t i = 0; i < counts_.cells.size(); ++i) {
            totals[i % counts_.arity] += counts_.cells[i];
        }
        double sum = 0.0;
        for (const Count n : totals) sum += n_log_n(static_cast<double>(n));
        return sum;
    }

    double weight_without_last(std::span<const std::int32_t> columns) const override {
        const std::size_t n_parents = family_.parents.size();
        const auto is_asked = [&](std::size_t column) {
            return std::find(columns.begin(), columns.end(), static_cast<std::int32_t>(column)) !=
                   columns.end();
        };
        const std::size_t n_states = counts_.arity - is_asked(family_.child);
        Count sum{0};
        for (std::size_t row = 0; row * counts_.arity < counts_.cells.size(); ++row) {
            bool is_left_out = false;
            for (std::size_t k = 0; k < n_parents; ++k) {
                const auto parent = static_cast<std::size_t>(family_.parents[k]);
                is_left_out |= is_asked(parent) &&
                               counts_.codes[row * n_parents + k] + 1u == table_.arities[parent];
            }
            if (is_left_out) continue;
            for (std::size_t k = 0; k < n_states; ++k)
                sum += counts_.cells[row * counts_.arity + k];
        }
        return static_cast<double>(sum);
    }

private:
    const TableShape& table_;
    const Family& family_;
    const CountRows<Count>& counts_;
};

template <class Count>
double bound_of(Evaluator& evaluator, const FamilyShape& shape, const CountRows<Count>& counts,
                double growth) {
    double bound = evaluator.bound_constant(shape, growth);
    if (bound < std::numeric_limits<double>::infinity())
        bound += evaluator.bound_rows(counts, shape);
    if (evaluator.is_capped_by_likelihood()) {
        bound = std::min(bound, evaluator.cap_rows(counts, shape));
    }
    return bound;
}

}  // namespace

void score_counts(const TableShape& table, const Kernel& kernel, const FamilyList& families,
                  std::span<const CountsView> counts, std::span<double> scores,
                  const BoundsWanted& wanted, const Execution& execution) {
    double n_cells = 0.0;
    for (const CountsView& view : counts) {
        n_cells += static_cast<double>(view.whole.size() + view.real.size());
    }
    const auto n_workers =
        std::min(families.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
    std::atomic<std::size_t> next = 0;
    parallel_for(n_workers, kernel.expected(kNanosecondsPerCell * n_cells), execution,
                 [&](std::size_t, const StopFlag& stop) {
                     const auto evaluator = kernel.evaluator(table, stop);
                     const auto score = [&](std::size_t i, const auto& rows) {
                         const Family family = families[i];
                         const FamilyMarginals marginals(table, family, rows);
                         const FamilyShape shape = shape_of(table, marginals, family);
                         scores[i] = score_of(*evaluator, shape, rows);
                         if (!wanted.bounds.empty()) {
                             wanted.bounds[i] = bound_of(*evaluator, shape, rows, wanted.growth[i]);
                         }
                     };
                     for (std::size_t i; !stop && (i = next++) < families.size();) {
                         const CountsView& view = counts[i];
                         const std::size_t arity = table.arities[families[i].child];
                         if (table.has_real_weights) {
                             score(i, CountRows<double>{view.real, arity, view.configurations});
                         } else {
                             score(i,
                                   CountRows<std::int64_t>{view.whole, arity, view.configurations});
                         }
                     }
                 });
}

}  // namespace bestdag
