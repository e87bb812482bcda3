// Scores from the joint counts of sets of columns, each set counted once for all its members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "base/transpose.hpp"
#include "counting/joint_counts.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// Transpositions, planned once per sequence of sizes and order.
class Transpositions {
public:
    const Transposition& find(std::span<const std::uint32_t> sizes,
                              std::span<const std::uint32_t> order) {
        key_.assign(sizes.begin(), sizes.end());
        key_.insert(key_.end(), order.begin(), order.end());
        const auto [found, is_new] = plans_.try_emplace(key_);
        if (is_new) found->second.plan(sizes, order);
        return found->second;
    }

private:
    std::map<std::vector<std::uint32_t>, Transposition> plans_;
    std::vector<std::uint32_t> key_;
};

// g(parents and child) - g(parents); minus infinity where either is.
inline double set_difference(double of_set, double of_parents) noexcept {
    return of_parents > -std::numeric_limits<double>::infinity() ? of_set - of_parents : of_parents;
}

// One thread's work.
template <class Count>
class SetScorer {
public:
    SetScorer(const Table& table, const Kernel& kernel, const StopFlag& stop)
        : table_(table),
          evaluator_(kernel.evaluator(table, stop)),
          joint_(table, true),
          counter_(table, true) {}

    // use(set, cells) for every candidate: the set is the prefix with the candidate behind it, the
    // cells are its joint counts in that order, or none when there would be too many.
    template <class Use>
    void visit_sets(std::span<const std::int32_t> prefix, std::span<const std::int32_t> candidates,
                    const StopFlag& stop, const Use& use) {
        set_.assign(prefix.begin(), prefix.end());
        set_.push_back(0);
        joint_.visit(prefix, candidates, stop, [&](std::size_t i, std::span<const Count> cells) {
            set_.back() = candidates[i];
            use(set_, cells);
        });
    }

    bool has_set_function() const { return evaluator_->has_set_function(); }

    // g of a set; requires a set function.
    double set_value(std::span<const std::int32_t> set, std::span<const Count> cells,
                     const StopFlag& stop) {
        double n_cells = 1.0;
        for (const std::int32_t column : set) n_cells *= arity(column);
        double value = evaluator_->set_constant(n_cells);
        if (!cells.empty()) {
            const SetShape shape{table_.shape(), set, n_cells};
            in_pieces(
                CountRows<Count>{cells, arity(set.back())}, set.size() - 1,
                [&](const CountRows<Count>& rows) { value += evaluator_->set_cells(rows, shape); });
            return value;
        }
        sorted_.assign(set.begin(), set.end());
        std::sort(sorted_.begin(), sorted_.end());
        const Family family{static_cast<std::size_t>(sorted_.back()),
                            std::span(sorted_).first(sorted_.size() - 1)};
        const SetShape shape{table_.shape(), sorted_, n_cells};
        counter_.visit(family, stop, [&](const CountRows<Count>& rows) {
            value += evaluator_->set_cells(rows, shape);
        });
        return value;
    }

    // The value of no variables at all: one cell that holds every row.
    double empty_set_value() {
        const Count total = static_cast<Count>(table_.total_weight());
        return evaluator_->set_constant(1.0) +
               evaluator_->set_cells(CountRows<Count>{{&total, 1}, 1}, {table_.shape(), {}, 1.0});
    }

    // The score of one member of the set given the others.
    double member_score(std::span<const std::int32_t> set, std::size_t position,
                        std::span<const Count> cells, const StopFlag& stop) {
        // The parents in ascending order, then the child.
        order_.resize(set.size());
        std::iota(order_.begin(), order_.end(), 0u);
        order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(position));
        std::sort(order_.begin(), order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return set[a] < set[b]; });
        sorted_.clear();
        for (const std::uint32_t place : order_) sorted_.push_back(set[place]);
        order_.push_back(static_cast<std::uint32_t>(position));
        const Family family{static_cast<std::size_t>(set[position]), sorted_};
        const FamilyShape shape = shape_of(table_, family);
        if (cells.empty()) {
            double score = evaluator_->constant(shape);
            counter_.visit(family, stop, [&](const CountRows<Count>& rows) {
                score += evaluator_->rows(rows, shape);
            });
            return score;
        }
        if (!std::is_sorted(order_.begin(), order_.end())) {
            sizes_.clear();
            for (const std::int32_t column : set) sizes_.push_back(arity(column));
            transpositions_.find(sizes_, order_).apply(cells, turned_);
            cells = turned_;
        }
        return score_of(*evaluator_, shape, CountRows<Count>{cells, shape.arity});
    }

private:
    std::uint32_t arity(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }

    const Table& table_;
    std::unique_ptr<Evaluator> evaluator_;
    JointCounter<Count> joint_;
    FamilyCounter<Count> counter_;
    Transpositions transpositions_;
    std::vector<std::int32_t> set_, sorted_;
    std::vector<std::uint32_t> sizes_, order_;
    std::vector<Count> turned_;
};

}  // namespace bestdag
