#include "scores/node_average.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "counting/configurations.hpp"
#include "scores/row_likelihood.hpp"

namespace bestdag {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Different families are scored over different rows, and those of a larger family are fewer: a
// family's log-likelihood says nothing about a larger one's but that it is at most 0.
class NodeAverage final : public EvaluatorOf<NodeAverage> {
public:
    NodeAverage(const TableShape& table, double penalty,
                const std::vector<std::uint8_t>& has_missing)
        : table_(table), has_missing_(has_missing), penalty_(penalty), likelihood_(table) {
        for (std::size_t c = 0; c < table.arities.size(); ++c) {
            least_arity_ = std::min(least_arity_, n_states(c));
        }
    }

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        const double n = n_complete(shape);
        if (!(n > 0.0)) return 0.0;  // the constant is minus infinity
        double sum = 0.0;
        Count total;
        const std::size_t states = static_cast<std::size_t>(n_states(shape.family.child));
        if (!has_incomplete_parent(shape.family)) {
            for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
                sum += likelihood_(counts.cells.subspan(row, states), total);
            }
            return sum / n;
        }
        configurations_.visit(
            table_, shape.family, counts,
            [&](std::span<const Count> cells, std::span<const std::uint32_t> codes) {
                if (is_complete(shape.family, codes))
                    sum += likelihood_(cells.first(states), total);
            });
        return sum / n;
    }

    double constant(const FamilyShape& shape) override {
        return n_complete(shape) > 0.0 ? -penalty(shape.family) : -kInfinity;
    }

    // The rows that show a larger family are among those that show this one.
    double bound_constant(const FamilyShape& shape, double) override {
        if (!(n_complete(shape) > 0.0)) return -kInfinity;
        return penalty_ < 0.0 ? kInfinity : -penalty(shape.family) * least_arity_;
    }

    // A parent with one state has missing cells all the same, and so may one of a child with one.
    bool is_blind_to_single_states() const noexcept override { return false; }

private:
    double n_states(std::size_t column) const noexcept {
        return static_cast<double>(table_.arities[column]) - has_missing_[column];
    }

    double penalty(const Family& family) const noexcept {
        if (penalty_ == 0.0) return 0.0;  // for infinitely many parameters too
        double n_parameters = n_states(family.child) - 1.0;
        for (const std::int32_t parent : family.parents) {
            n_parameters *= n_states(static_cast<std::size_t>(parent));
        }
        return penalty_ * n_parameters;
    }

    bool has_incomplete_parent(const Family& family) const noexcept {
        return std::any_of(family.parents.begin(), family.parents.end(), [&](std::int32_t p) {
            return has_missing_[static_cast<std::size_t>(p)] != 0;
        });
    }

    bool is_complete(const Family& family, std::span<const std::uint32_t> codes) const noexcept {
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const auto parent = static_cast<std::size_t>(family.parents[i]);
            if (has_missing_[parent] && codes[i] + 1 == table_.arities[parent]) return false;
        }
        return true;
    }

    // The weight of the rows that show the whole family. Asked for again and again for one family.
    double n_complete(const FamilyShape& shape) {
        const Family& family = shape.family;
        incomplete_.clear();
        for (const std::int32_t parent : family.parents) {
            if (has_missing_[static_cast<std::size_t>(parent)]) incomplete_.push_back(parent);
        }
        if (has_missing_[family.child]) {
            incomplete_.push_back(static_cast<std::int32_t>(family.child));
        }
        if (incomplete_.empty()) return table_.total_weight;
        if (incomplete_ != counted_) {
            n_counted_ = shape.marginals.weight_without_last(incomplete_);
            counted_ = incomplete_;
        }
        return n_counted_;
    }

    const TableShape& table_;
    std::vector<std::uint8_t> has_missing_;  // by column
    double penalty_;                         // of one parameter
    double least_arity_ = kInfinity;         // one more parent multiplies the penalty by so much
    RowLikelihood likelihood_;
    Configurations configurations_;
    std::vector<std::int32_t> incomplete_, counted_;  // columns of the family at hand, and before
    double n_counted_ = 0.0;
};

}  // namespace

Kernel make_node_average(double penalty, std::vector<std::uint8_t> has_missing) {
    return Kernel([penalty, has_missing = std::move(has_missing)](const TableShape& table) {
        return std::make_unique<NodeAverage>(table, penalty, has_missing);
    });
}

}  // namespace bestdag
