#include "kernels/all_families.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <numeric>

#include "kernels/count_type.hpp"
#include "kernels/joint_counts.hpp"
#include "kernels/subsets.hpp"
#include "kernels/transpose.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerSet = 500.0;  // enough to decide whether threads are worth it

// g(parents and child) - g(parents); minus infinity where either is.
double difference(double of_set, double of_parents) noexcept {
    return of_parents > -std::numeric_limits<double>::infinity() ? of_set - of_parents : of_parents;
}

// Where the score of (child | set without child) goes.
class Layout {
public:
    Layout(std::size_t n_columns, std::size_t max_parents, std::span<double> scores)
        : others_(n_columns - 1, max_parents),
          n_sets_(others_.n_up_to(max_parents)),
          scores_(scores) {}

    double& at(std::span<const std::int32_t> set, std::size_t child_position) {
        const std::int32_t child = set[child_position];
        parents_.clear();
        for (const std::int32_t column : set) {
            if (column != child) parents_.push_back(column - (column > child));
        }
        return scores_[static_cast<std::size_t>(child) * n_sets_ + others_.offset(parents_.size()) +
                       others_.rank(parents_)];
    }

private:
    Subsets others_;
    std::size_t n_sets_;
    std::span<double> scores_;
    std::vector<std::int32_t> parents_;
};

// Transpositions that bring each member of a set last, planned once per sequence of arities.
class Transpositions {
public:
    const Transposition& bring_last(std::span<const std::uint32_t> sizes, std::size_t position) {
        key_.assign(sizes.begin(), sizes.end());
        key_.push_back(static_cast<std::uint32_t>(position));
        const auto [found, is_new] = plans_.try_emplace(key_);
        if (is_new) {
            std::vector<std::uint32_t> order(sizes.size());
            std::iota(order.begin(), order.end(), 0u);
            std::rotate(order.begin() + static_cast<std::ptrdiff_t>(position),
                        order.begin() + static_cast<std::ptrdiff_t>(position) + 1, order.end());
            found->second.plan(sizes, order);
        }
        return found->second;
    }

private:
    std::map<std::vector<std::uint32_t>, Transposition> plans_;
    std::vector<std::uint32_t> key_;
};

// One thread's work on the sets of one size.
template <class Count>
class SetWorker {
public:
    SetWorker(const Table& table, const Kernel& kernel, std::size_t max_parents,
              std::span<double> scores, const StopFlag& stop)
        : table_(table),
          evaluator_(kernel.evaluator(table, stop)),
          joint_(table, true),
          counter_(table, true),
          layout_(table.n_columns(), max_parents, scores) {}

    // All sets that add one larger column to the prefix.
    template <class Use>
    void visit_sets(std::span<const std::int32_t> prefix, const StopFlag& stop, const Use& use) {
        const std::size_t first = prefix.empty() ? 0 : static_cast<std::size_t>(prefix.back()) + 1;
        candidates_.resize(table_.n_columns() - first);
        std::iota(candidates_.begin(), candidates_.end(), static_cast<std::int32_t>(first));
        set_.assign(prefix.begin(), prefix.end());
        set_.push_back(0);
        joint_.visit(prefix, candidates_, stop, [&](std::size_t i, std::span<const Count> cells) {
            set_.back() = candidates_[i];
            use(set_, cells);
        });
    }

    double set_value(std::span<const std::int32_t> set, std::span<const Count> cells,
                     const StopFlag& stop) {
        double n_cells = 1.0;
        for (const std::int32_t column : set) n_cells *= arity(column);
        const SetShape shape{table_, set, n_cells};
        double value = evaluator_->set_constant(n_cells);
        if (!cells.empty()) {
            return value + evaluator_->set_cells({cells, arity(set.back())}, shape);
        }
        const Family family{static_cast<std::size_t>(set.back()), set.first(set.size() - 1)};
        counter_.visit(family, stop, [&](const CountRows<Count>& rows) {
            value += evaluator_->set_cells(rows, shape);
        });
        return value;
    }

    // The value of no variables at all: one cell that holds every row.
    double empty_set_value() {
        const Count total = static_cast<Count>(table_.total_weight());
        return evaluator_->set_constant(1.0) +
               evaluator_->set_cells(CountRows<Count>{{&total, 1}, 1}, {table_, {}, 1.0});
    }

    // The score of every member of the set given the others.
    void score_members(std::span<const std::int32_t> set, std::span<const Count> cells,
                       const StopFlag& stop) {
        sizes_.clear();
        for (const std::int32_t column : set) sizes_.push_back(arity(column));
        for (std::size_t position = 0; position < set.size(); ++position) {
            parents_.assign(set.begin(), set.end());
            parents_.erase(parents_.begin() + static_cast<std::ptrdiff_t>(position));
            const Family family{static_cast<std::size_t>(set[position]), parents_};
            const FamilyShape shape = shape_of(table_, family);
            double score = evaluator_->constant(shape);
            if (cells.empty()) {
                counter_.visit(family, stop, [&](const CountRows<Count>& rows) {
                    score += evaluator_->rows(rows, shape);
                });
            } else if (position + 1 == set.size()) {
                score += evaluator_->rows(CountRows<Count>{cells, shape.arity}, shape);
            } else {
                transpositions_.bring_last(sizes_, position).apply(cells, turned_);
                score += evaluator_->rows(CountRows<Count>{turned_, shape.arity}, shape);
            }
            layout_.at(set, position) = score;
        }
    }

    Layout& layout() { return layout_; }
    bool has_set_function() const { return evaluator_->has_set_function(); }

private:
    std::uint32_t arity(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }

    const Table& table_;
    std::unique_ptr<Evaluator> evaluator_;
    JointCounter<Count> joint_;
    FamilyCounter<Count> counter_;
    Layout layout_;
    Transpositions transpositions_;
    std::vector<std::int32_t> candidates_, set_, parents_;
    std::vector<std::uint32_t> sizes_;
    std::vector<Count> turned_;
};

template <class Count>
void score_all(const Table& table, const Kernel& kernel, std::size_t max_parents,
               std::span<double> scores, const Execution& execution) {
    const Subsets sets(table.n_columns(), max_parents + 1);
    // values[i]: g of the i-th set, for sets that are somebody's parents.
    std::vector<double> values;
    for (std::size_t size = 1; size <= std::min(max_parents + 1, table.n_columns()); ++size) {
        std::atomic<std::size_t> next = 0;
        const std::size_t n_prefixes = sets.n_of_size(size - 1);
        if (size == 1) values.assign(sets.n_up_to(max_parents), 0.0);
        const auto n_workers =
            std::min(n_prefixes, static_cast<std::size_t>(std::max(1, execution.threads)));
        const auto work = [&](std::size_t, const StopFlag& stop) {
            SetWorker<Count> worker(table, kernel, max_parents, scores, stop);
            std::vector<std::int32_t> prefix(size - 1), parents;
            if (size == 1 && worker.has_set_function()) values[0] = worker.empty_set_value();
            for (std::size_t p; !stop && (p = next++) < n_prefixes;) {
                sets.unrank(p, prefix);
                worker.visit_sets(
                    prefix, stop,
                    [&](const std::vector<std::int32_t>& set, std::span<const Count> cells) {
                        if (!worker.has_set_function()) {
                            worker.score_members(set, cells, stop);
                            return;
                        }
                        const double value = worker.set_value(set, cells, stop);
                        if (size <= max_parents) values[sets.offset(size) + sets.rank(set)] = value;
                        for (std::size_t position = 0; position < size; ++position) {
                            parents = set;
                            parents.erase(parents.begin() + static_cast<std::ptrdiff_t>(position));
                            worker.layout().at(set, position) = difference(
                                value, values[sets.offset(size - 1) + sets.rank(parents)]);
                        }
                    });
            }
        };
        const double expected =
            kernel.expected(static_cast<double>(sets.n_of_size(size)) *
                            (kNanosecondsPerSet + static_cast<double>(table.n_rows()) * 0.5));
        parallel_for(n_workers, expected, execution, work);
    }
}

}  // namespace

void score_all_families(const Table& table, const Kernel& kernel, std::size_t max_parents,
                        std::span<double> scores, const Execution& execution) {
    max_parents = std::min(max_parents, table.n_columns() - 1);
    with_count_type(table, [&](auto zero) {
        score_all<decltype(zero)>(table, kernel, max_parents, scores, execution);
    });
}

}  // namespace bestdag
