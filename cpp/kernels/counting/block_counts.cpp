#include "counting/block_counts.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "base/transpose.hpp"
#include "counting/joint_counts.hpp"
#include "counting/observed_sums.hpp"
#include "counting/set_groups.hpp"

namespace bestdag {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kNanosecondsPerCode = 0.7;
constexpr double kLongNanoseconds = 3e6;
constexpr std::size_t kSetsForBitmaps = 8;  // fewer: bitmaps are not worth making
constexpr auto kPollInterval = std::chrono::milliseconds(20);

// Sums of counts have 64 bits.
using Sum = std::int64_t;

// Some rows as a table whose weights are whole.
class Block {
public:
    Block(const RowArrays& rows, std::size_t first, std::size_t count, double scale)
        : weights_(whole(rows.weights, first, count, scale)),
          table(made(rows, first, count, weights_)) {}

private:
    static std::vector<std::int64_t> whole(const Weights& weights, std::size_t first,
                                           std::size_t count, double scale) {
        std::vector<std::int64_t> scaled;
        if (!weights.real) return scaled;
        scaled.reserve(count);
        for (std::size_t i = first; i < first + count; ++i) {
            scaled.push_back(std::llround(weights.real[i] * scale));
        }
        return scaled;
    }

    static Table made(const RowArrays& rows, std::size_t first, std::size_t count,
                      const std::vector<std::int64_t>& scaled) {
        if (scaled.empty()) return rows.block(first, count);
        Table table = rows.block(first, count, {scaled.data(), nullptr});
        return table;
    }

    std::vector<std::int64_t> weights_;

public:
    const Table table;
};

// One pass over the rows: what is counted, and the sums so far of one thread, or of all.
template <class Count>
class Sums {
public:
    Sums(const SetGroups& groups, std::size_t n_sparse)
        : cells_(groups.n_cells(), Sum{0}), sparse_(n_sparse) {}

    void add(std::size_t first_cell, std::span<const Count> cells) {
        Sum* const sums = cells_.data() + first_cell;
        for (std::size_t i = 0; i < cells.size(); ++i) sums[i] += static_cast<Sum>(cells[i]);
    }

    void add(Sums&& other) {
        for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
        for (std::size_t i = 0; i < sparse_.size(); ++i)
            sparse_[i].add(std::move(other.sparse_[i]));
    }

    std::span<const Sum> cells(std::size_t first, std::size_t count) const {
        return {cells_.data() + first, count};
    }
    ObservedSums& sparse(std::size_t i) { return sparse_[i]; }

private:
    std::vector<Sum> cells_;
    std::vector<ObservedSums> sparse_;
};

template <class Count>
class Pass {
public:
    Pass(const RowArrays& rows, const TableShape& shape, const FamilyList& families,
         std::span<const std::size_t> members, const BlockSettings& settings,
         const Execution& execution)
        : rows_(rows),
          shape_(shape),
          families_(families),
          settings_(settings),
          execution_(execution) {
        std::vector<std::size_t> dense;
        for (const std::size_t i : members) {
            (is_dense_family(i) ? dense : sparse_).push_back(i);
        }
        groups_.build(shape, families, dense);
        const double touched = static_cast<double>(groups_.n_columns_touched());
        use_bitmaps_ = groups_.n_sets() >= kSetsForBitmaps;
        double codes = touched;
        for (const std::size_t i : sparse_) {
            codes += 8.0 * static_cast<double>(families[i].parents.size() + 1);
        }
        expected_ = kNanosecondsPerCode * static_cast<double>(rows.n_rows) * codes;
    }

    void run(std::vector<ObservedCounts>& results) {
        const std::size_t n_tasks = groups_.tasks().size() + sparse_.size();
        const auto n_threads = static_cast<std::size_t>(std::max(1, execution_.threads));
        const std::size_t n_blocks =
            (rows_.n_rows + settings_.block_rows - 1) / settings_.block_rows;
        const bool fits = static_cast<double>(n_threads) * bytes() <= settings_.max_bytes;
        if (n_tasks < 2 * n_threads && n_blocks > 1 && n_threads > 1 && fits &&
            expected_ >= kLongNanoseconds) {
            share_blocks(std::min(n_threads, n_blocks), n_blocks, results);
        } else {
            share_tasks(n_tasks, n_threads, n_blocks, results);
        }
    }

private:
    bool is_dense_family(std::size_t i) const {
        const Family family = families_[i];
        double cells = shape_.arity(family.child);
        for (const std::int32_t p : family.parents)
            cells *= shape_.arity(static_cast<std::size_t>(p));
        return is_dense(settings_.block_rows, cells);
    }

    double bytes() const { return 8.0 * static_cast<double>(groups_.n_cells()); }

    Block block(std::size_t number) const {
        const std::size_t first = number * settings_.block_rows;
        return {rows_, first, std::min(settings_.block_rows, rows_.n_rows - first),
                settings_.weight_scale};
    }

    // One thread's counters over one block.
    struct Counters {
        Counters(const Pass& pass, const Table& block)
            : joint(block, pass.use_bitmaps_, pass.settings_.block_rows), family(block, false) {}
        JointCounter<Count> joint;
        FamilyCounter<Count> family;
    };

    void count_task(std::size_t task, Counters& counters, Sums<Count>& sums, const StopFlag& stop) {
        const auto tasks = groups_.tasks();
        if (task < tasks.size()) {
            const SetGroups::Task& at = tasks[task];
            counters.joint.visit(groups_.prefix(at), groups_.candidates(at), stop,
                                 [&](std::size_t i, std::span<const Count> cells) {
                                     sums.add(groups_.first_cell(at, i), cells);
                                 });
            return;
        }
        const std::size_t number = task - tasks.size();
        const Family family = families_[sparse_[number]];
        ObservedCounts found;
        Collector<Count> collect(shape_, family, std::numeric_limits<double>::infinity(), found);
        counters.family.visit(family, stop, std::ref(collect));
        sums.sparse(number).add(std::move(found), family.parents.size(),
                                shape_.arities[family.child], settings_.max_cells);
    }

    // The threads share the sets of each block: sums are made in the order of the blocks.
    void share_tasks(std::size_t n_tasks, std::size_t n_threads, std::size_t n_blocks,
                     std::vector<ObservedCounts>& results) {
        Sums<Count> sums(groups_, sparse_.size());
        const double expected = expected_ >= kLongNanoseconds ? expected_ : 0.0;
        Clock::time_point polled = Clock::now();
        for (std::size_t b = 0; b < n_blocks; ++b) {
            const Block rows = block(b);
            std::atomic<std::size_t> next = 0;
            parallel_for(std::min(n_tasks, n_threads), expected, execution_,
                         [&](std::size_t, const StopFlag& stop) {
                             Counters counters(*this, rows.table);
                             for (std::size_t at; !stop && (at = next++) < n_tasks;) {
                                 count_task(at, counters, sums, stop);
                             }
                         });
            if (expected > 0.0 && Clock::now() - polled > kPollInterval) {
                if (execution_.should_stop && execution_.should_stop()) throw Interrupted();
                polled = Clock::now();
            }
        }
        collect_all(sums, results);
    }

    // Few sets: the threads share the blocks, and their sums are added at the end.
    void share_blocks(std::size_t n_workers, std::size_t n_blocks,
                      std::vector<ObservedCounts>& results) {
        std::vector<std::unique_ptr<Sums<Count>>> sums(n_workers);
        const std::size_t n_tasks = groups_.tasks().size() + sparse_.size();
        std::atomic<std::size_t> next = 0;
        parallel_for(n_workers, expected_, execution_, [&](std::size_t w, const StopFlag& stop) {
            sums[w] = std::make_unique<Sums<Count>>(groups_, sparse_.size());
            for (std::size_t b; !stop && (b = next++) < n_blocks;) {
                const Block rows = block(b);
                Counters counters(*this, rows.table);
                for (std::size_t at = 0; at < n_tasks; ++at) {
                    count_task(at, counters, *sums[w], stop);
                }
            }
        });
        for (std::size_t w = 1; w < n_workers; ++w) {
            if (sums[w]) sums[0]->add(std::move(*sums[w]));
            sums[w].reset();
        }
        collect_all(*sums[0], results);
    }

    void collect_all(Sums<Count>& sums, std::vector<ObservedCounts>& results) {
        for (std::size_t k = 0; k < sparse_.size(); ++k) {
            const Family family = families_[sparse_[k]];
            results[sparse_[k]] = sums.sparse(k).take(
                family.parents.size(), shape_.arities[family.child], settings_.max_cells);
        }
        const auto places = groups_.places();
        const auto n_workers = static_cast<std::size_t>(std::max(1, execution_.threads));
        std::atomic<std::size_t> next = 0;
        const double expected = 500.0 * static_cast<double>(places.size()) +
                                5.0 * static_cast<double>(groups_.n_cells());
        parallel_for(n_workers, expected, execution_, [&](std::size_t, const StopFlag& stop) {
            std::vector<Sum> turned;
            for (std::size_t i; (i = next++) < places.size();) {
                check(stop);
                collect_one(places[i], sums, turned, results[places[i].family]);
            }
        });
    }

    // From the order of the set's columns to (parents ascending, child).
    void collect_one(const SetGroups::Place& place, const Sums<Count>& sums,
                     std::vector<Sum>& turned, ObservedCounts& out) const {
        const Family family = families_[place.family];
        const auto columns = groups_.columns(place);
        std::vector<std::uint32_t> sizes, order;
        for (const std::int32_t c : columns) {
            sizes.push_back(shape_.arities[static_cast<std::size_t>(c)]);
        }
        const auto add = [&](std::int32_t column) {
            const auto at = std::find(columns.begin(), columns.end(), column);
            order.push_back(static_cast<std::uint32_t>(at - columns.begin()));
        };
        for (const std::int32_t parent : family.parents) add(parent);
        add(static_cast<std::int32_t>(family.child));
        auto cells = sums.cells(place.first_cell, place.n_cells);
        if (!std::is_sorted(order.begin(), order.end())) {
            Transposition turn;
            turn.plan(sizes, order);
            turn.apply(cells, turned);
            cells = turned;
        }
        const CountRows<Sum> rows{cells, shape_.arities[family.child]};
        Collector<Sum>(shape_, family, settings_.max_cells, out)(rows);
    }

    const RowArrays& rows_;
    const TableShape& shape_;
    const FamilyList& families_;
    const BlockSettings& settings_;
    const Execution& execution_;
    SetGroups groups_;
    std::vector<std::size_t> sparse_;  // families
    bool use_bitmaps_ = false;
    double expected_ = 0.0;
};

// The families of each pass: as many as fit, at least one.
std::vector<std::vector<std::size_t>> passes_of(const TableShape& shape, const FamilyList& families,
                                                const RowArrays& rows,
                                                const BlockSettings& settings) {
    std::vector<std::vector<std::size_t>> passes;
    double taken = 0.0;
    for (std::size_t i = 0; i < families.size(); ++i) {
        const Family family = families[i];
        double q = 1.0;
        for (const std::int32_t p : family.parents) q *= shape.arity(static_cast<std::size_t>(p));
        const double n_seen = std::min(q, static_cast<double>(rows.n_rows));
        const double each =
            16.0 * shape.arity(family.child) + 2.0 * static_cast<double>(family.parents.size());
        const double bytes = n_seen * each;
        if (passes.empty() || taken + bytes > settings.max_bytes) {
            passes.emplace_back();
            taken = 0.0;
        }
        passes.back().push_back(i);
        taken += bytes;
    }
    return passes;
}

}  // namespace

Table RowArrays::block(std::size_t first, std::size_t count) const {
    Weights part = weights;
    if (part.whole) part.whole += first;
    if (part.real) part.real += first;
    return block(first, count, part);
}

Table RowArrays::block(std::size_t first, std::size_t count, const Weights& own) const {
    std::vector<Column> some = columns;
    for (Column& column : some) {
        if (column.narrow) column.narrow += first;
        if (column.wide) column.wide += first;
    }
    return Table(count, std::move(some), own);
}

BlockCounts count_in_blocks(const RowArrays& rows, const FamilyList& families,
                            const BlockSettings& settings, const Execution& execution) {
    BlockCounts result;
    result.counts.resize(families.size());
    TableShape shape{{}, 0.0, rows.weights.real != nullptr};
    for (const Column& column : rows.columns) shape.arities.push_back(column.arity);
    for (const auto& members : passes_of(shape, families, rows, settings)) {
        if (rows.weights.whole || rows.weights.real) {
            Pass<std::int64_t>(rows, shape, families, members, settings, execution)
                .run(result.counts);
        } else {
            Pass<std::uint32_t>(rows, shape, families, members, settings, execution)
                .run(result.counts);
        }
        ++result.n_passes;
    }
    if (rows.weights.real) {
        for (ObservedCounts& counts : result.counts) {
            for (const std::int64_t n : counts.whole) {
                counts.real.push_back(static_cast<double>(n) / settings.weight_scale);
            }
            counts.whole.clear();
            counts.whole.shrink_to_fit();
        }
    }
    return result;
}

}  // namespace bestdag
