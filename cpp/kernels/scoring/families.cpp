#include "scoring/families.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "counting/count_type.hpp"

namespace bestdag {

namespace {

// What one thread needs from family to family.
template <class Count>
struct Worker {
    FamilyCounter<Count> counter;
    std::unique_ptr<Evaluator> evaluator;  // when scoring
    const StopFlag& stop;
};

// Run work(i, worker) for every family; kernel may be nullptr.
template <class Count, class Work>
void for_each_family(const Table& table, const FamilyList& families, const Kernel* kernel,
                     const Execution& execution, const Work& work) {
    constexpr double kNanosecondsPerCode = 0.7;  // a histogram, measured
    const double counting = kNanosecondsPerCode * static_cast<double>(table.n_rows()) *
                            static_cast<double>(families.size() + families.parents.size());
    const double expected = kernel ? kernel->expected(counting) : counting;
    const bool use_bitmaps = families.size() >= 2 * table.n_columns();
    std::atomic<std::size_t> next = 0;
    const auto n_workers =
        std::min(families.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
    parallel_for(n_workers, expected, execution, [&](std::size_t, const StopFlag& stop) {
        Worker<Count> worker{
            {table, use_bitmaps}, kernel ? kernel->evaluator(table, stop) : nullptr, stop};
        for (std::size_t i; !stop && (i = next++) < families.size();) work(i, worker);
    });
}

constexpr std::size_t kSliceRows = 1u << 20;

// Few families over many rows: the threads share the rows instead of the families. Runs
// use(i, counts) for every family and returns true, or does nothing and returns false where that
// does not apply. Whole counts only: a sum of real numbers would depend on the slices.
template <class Count, class Use>
bool share_rows(const Table& table, const FamilyList& families, const Execution& execution,
                const Use& use) {
    if (std::is_same_v<Count, double> || table.n_rows() < 2 * kSliceRows ||
        families.size() >= static_cast<std::size_t>(execution.threads)) {
        return false;
    }
    for (std::size_t i = 0; i < families.size(); ++i) {
        const Family family = families[i];
        if (!is_dense(table, n_configurations(table, family) * table.column(family.child).arity)) {
            return false;
        }
    }
    const std::size_t n_slices = (table.n_rows() + kSliceRows - 1) / kSliceRows;
    const double expected = static_cast<double>(table.n_rows());
    for (std::size_t i = 0; i < families.size(); ++i) {
        const Family family = families[i];
        const auto child = static_cast<std::int32_t>(family.child);
        std::vector<std::vector<Count>> parts(n_slices);
        parallel_for(n_slices, expected, execution, [&](std::size_t k, const StopFlag& stop) {
            const std::size_t first = k * kSliceRows;
            const Table slice = table.slice(first, std::min(kSliceRows, table.n_rows() - first));
            JointCounter<Count>(slice, false)
                .visit(family.parents, {&child, 1}, stop,
                       [&](std::size_t, std::span<const Count> cells) {
                           parts[k].assign(cells.begin(), cells.end());
                       });
        });
        for (std::size_t k = 1; k < n_slices; ++k) {
            for (std::size_t c = 0; c < parts[0].size(); ++c) parts[0][c] += parts[k][c];
        }
        use(i, CountRows<Count>{parts[0], table.column(family.child).arity});
    }
    return true;
}

// Appends the configurations that occur to an ObservedCounts.
template <class Count>
class Collector {
public:
    Collector(const Table& table, const Family& family, double max_cells, ObservedCounts& out)
        : table_(table), family_(family), max_cells_(max_cells), out_(out) {}

    void operator()(const CountRows<Count>& rows) {
        for (std::size_t begin = 0; begin < rows.cells.size(); begin += rows.arity, ++seen_) {
            const auto cells = rows.cells.subspan(begin, rows.arity);
            if (std::all_of(cells.begin(), cells.end(), [](Count n) { return n == Count{0}; })) {
                continue;
            }
            append(cells);
            if (rows.data_rows) {
                append_codes_of_row(rows.data_rows[begin / rows.arity]);
            } else {
                append_codes_of_number(seen_);
            }
        }
    }

private:
    void append(std::span<const Count> cells) {
        ++out_.n_rows;
        const double n_cells = static_cast<double>(out_.n_rows) * static_cast<double>(cells.size());
        if (n_cells > max_cells_) throw TooManyCells("too many cells");
        if constexpr (std::is_same_v<Count, double>) {
            out_.real.insert(out_.real.end(), cells.begin(), cells.end());
        } else {
            for (const Count n : cells) out_.whole.push_back(static_cast<std::int64_t>(n));
        }
    }

    void append_codes_of_row(std::uint32_t row) {
        for (const std::int32_t parent : family_.parents) {
            const Column& column = table_.column(static_cast<std::size_t>(parent));
            out_.configurations.push_back(static_cast<std::uint16_t>(column[row]));
        }
    }

    // The last parent's code varies fastest.
    void append_codes_of_number(std::size_t number) {
        const std::size_t n_parents = family_.parents.size();
        out_.configurations.resize(out_.configurations.size() + n_parents);
        for (std::size_t back = 1; back <= n_parents; ++back) {
            const auto parent = static_cast<std::size_t>(family_.parents[n_parents - back]);
            const std::size_t arity = table_.column(parent).arity;
            out_.configurations[out_.configurations.size() - back] =
                static_cast<std::uint16_t>(number % arity);
            number /= arity;
        }
    }

    const Table& table_;
    const Family& family_;
    double max_cells_;
    ObservedCounts& out_;
    std::size_t seen_ = 0;
};

}  // namespace

FamilyShape shape_of(const Table& table, const Family& family) noexcept {
    return {table, family, n_configurations(table, family), table.column(family.child).arity,
            table.total_weight()};
}

std::vector<ObservedCounts> count_families(const Table& table, const FamilyList& families,
                                           double max_cells, const Execution& execution) {
    std::vector<ObservedCounts> results(families.size());
    with_count_type(table, [&](auto zero) {
        using Count = decltype(zero);
        if (share_rows<Count>(table, families, execution,
                              [&](std::size_t i, const CountRows<Count>& rows) {
                                  const Family family = families[i];
                                  Collector<Count>(table, family, max_cells, results[i])(rows);
                              })) {
            return;
        }
        for_each_family<Count>(table, families, nullptr, execution,
                               [&](std::size_t i, Worker<Count>& worker) {
                                   const Family family = families[i];
                                   Collector<Count> collect(table, family, max_cells, results[i]);
                                   worker.counter.visit(family, worker.stop, std::ref(collect));
                               });
    });
    return results;
}

void score_families(const Table& table, const Kernel& kernel, const FamilyList& families,
                    std::span<double> scores, const Execution& execution) {
    with_count_type(table, [&](auto zero) {
        using Count = decltype(zero);
        if (share_rows<Count>(table, families, execution,
                              [&](std::size_t i, const CountRows<Count>& rows) {
                                  const Family family = families[i];
                                  const FamilyShape shape = shape_of(table, family);
                                  const auto score = [&](std::size_t, const StopFlag& stop) {
                                      const auto evaluator = kernel.evaluator(table, stop);
                                      scores[i] = evaluator->constant(shape);
                                      scores[i] += evaluator->rows(rows, shape);
                                  };
                                  parallel_for(1, kernel.expected(0.0), execution, score);
                              })) {
            return;
        }
        for_each_family<Count>(
            table, families, &kernel, execution, [&](std::size_t i, Worker<Count>& worker) {
                const Family family = families[i];
                const FamilyShape shape = shape_of(table, family);
                double score = worker.evaluator->constant(shape);
                worker.counter.visit(family, worker.stop, [&](const CountRows<Count>& rows) {
                    score += worker.evaluator->rows(rows, shape);
                });
                scores[i] = score;
            });
    });
}

}  // namespace bestdag
