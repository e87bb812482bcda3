#include "scoring/every_set.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "scoring/arity_shapes.hpp"
#include "scoring/set_layout.hpp"
#include "scoring/set_walk.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kTaskColumns = 8;  // decided by the number of a task
constexpr double kMaxShapes = 1u << 20;  // each has a constant
constexpr double kMaxSizedShapes = 1u << 14;
constexpr int kPaths = 64;  // walked through to estimate the work

// Call use(Weight{}): whole numbers of 32 bits where counts fit, else double.
template <class Use>
void with_weight_type(const Table& table, const Use& use) {
    if (!table.weights().real && table.total_weight() < 4294967295.0) {
        use(std::uint32_t{});
    } else {
        use(double{});
    }
}

// Run on another thread, so that the calling one can watch for a request to stop.
void run_on_worker(const Table& table, const Execution& execution,
                   const std::function<void(const StopFlag&)>& work) {
    const double expected = 50.0 * static_cast<double>(table.n_rows() * table.n_columns());
    parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) { work(stop); });
}

std::vector<std::size_t> arities_of(const Table& table) {
    std::vector<std::size_t> arities;
    for (std::size_t c = 0; c < table.n_columns(); ++c) arities.push_back(table.column(c).arity);
    return arities;
}

std::size_t n_arrays(const SetValues& values) { return 1 + values.given.size(); }

// Everything but the values.
template <class Weight>
SetValues outline(const SetLayout<Weight>& layout, bool by_arity) {
    SetValues values;
    values.by_arity = by_arity;
    for (std::size_t bit = 0; bit < layout.n; ++bit) {
        const std::size_t place = layout.n - 1 - bit;
        values.column_of_bit.push_back(layout.column[place]);
        values.arity_of_bit.push_back(layout.arity(place));
        const auto at = std::lower_bound(layout.shapes.arities().begin(),
                                         layout.shapes.arities().end(), layout.arity(place));
        values.given_of_bit.push_back(
            static_cast<std::size_t>(at - layout.shapes.arities().begin()));
    }
    if (by_arity) values.given.resize(layout.shapes.arities().size());
    return values;
}

bool is_by_arity(const Table& table, const Kernel& kernel) {
    const StopFlag stop = false;
    return kernel.evaluator(table, stop)->set_form() == SetForm::by_arity;
}

}  // namespace

bool has_set_form(const Table& table, const Kernel& kernel) {
    const std::size_t n = table.n_columns();
    if (n < 1 || n > kMaxEverySetColumns || kernel.traits().may_refuse) return false;
    const StopFlag stop = false;
    const auto evaluator = kernel.evaluator(table, stop);
    const double most = evaluator->has_sized_terms() ? kMaxSizedShapes : kMaxShapes;
    return evaluator->set_form() != SetForm::none && ArityShapes::count(arities_of(table)) <= most;
}

EverySetForecast forecast_every_set(const Table& table, const Kernel& kernel, bool leave_out,
                                    const Execution& execution) {
    EverySetForecast forecast;
    if (!has_set_form(table, kernel)) return forecast;
    forecast.is_possible = true;
    with_weight_type(table, [&](auto zero) {
        using Weight = decltype(zero);
        run_on_worker(table, execution, [&](const StopFlag& stop) {
            const SetLayout<Weight> layout(table, stop);
            SetValues values = outline(layout, is_by_arity(table, kernel));
            SetWalk<Weight> walk(layout, {&kernel, 1}, {&values, 1}, leave_out, stop);
            for (int path = 0; path < kPaths && !stop; ++path) {
                forecast.row_steps +=
                    walk.random_path({2006, 445}, static_cast<std::uint64_t>(path)) / kPaths;
            }
            const auto n = static_cast<double>(layout.n);
            const double rows =
                n * static_cast<double>(layout.rows.size() * sizeof(DistinctRow<Weight>));
            const double counts = static_cast<double>(kSmallCounts) + table.total_weight();
            const double terms = static_cast<double>(sizeof(double) * (1 + values.given.size())) *
                                 std::min(static_cast<double>(kMaxRememberedTerms),
                                          static_cast<double>(layout.shapes.size()) * counts);
            forecast.bytes = static_cast<double>(n_arrays(values)) * std::exp2(n) * sizeof(double) +
                             execution.threads * (rows + terms);
        });
    });
    return forecast;
}

std::vector<SetValues> every_set_by(const Table& table, std::span<const Kernel> kernels,
                                    bool leave_out, const Execution& execution,
                                    const std::function<bool(double)>& progress) {
    if (kernels.empty() || kernels.size() > kMaxScoresAtOnce) {
        throw std::invalid_argument("every set: too few or too many scores");
    }
    std::vector<SetValues> all;
    with_weight_type(table, [&](auto zero) {
        using Weight = decltype(zero);
        std::optional<SetLayout<Weight>> made;
        run_on_worker(table, execution, [&](const StopFlag& stop) { made.emplace(table, stop); });
        const SetLayout<Weight>& layout = *made;
        for (const Kernel& kernel : kernels) {
            SetValues& values = all.emplace_back(outline(layout, is_by_arity(table, kernel)));
            const std::size_t n_sets = values.n_sets();
            values.joint = std::make_unique<Cells<double>>(n_sets);
            for (auto& given : values.given) given = std::make_unique<Cells<double>>(n_sets);
        }
        const std::size_t n_fixed = std::min(layout.n - 1, kTaskColumns);
        const std::size_t n_tasks = std::size_t{1} << n_fixed;
        std::atomic<std::size_t> next = 0;
        const Execution watched{
            execution.threads, [&] {
                const double done = static_cast<double>(std::min<std::size_t>(next, n_tasks));
                return (progress && progress(done / static_cast<double>(n_tasks))) ||
                       (execution.should_stop && execution.should_stop());
            }};
        const double expected = 20.0 * std::exp2(static_cast<double>(layout.n)) *
                                std::min(100.0, static_cast<double>(layout.rows.size()));
        const auto n_workers =
            std::min(n_tasks, static_cast<std::size_t>(std::max(1, execution.threads)));
        parallel_for(n_workers, expected, watched, [&](std::size_t, const StopFlag& stop) {
            SetWalk<Weight> walk(layout, kernels, all, leave_out, stop);
            for (std::size_t task; !stop && (task = next++) < n_tasks;) walk.run(task, n_fixed);
        });
    });
    return all;
}

SetValues every_set(const Table& table, const Kernel& kernel, bool leave_out,
                    const Execution& execution, const std::function<bool(double)>& progress) {
    return std::move(every_set_by(table, {&kernel, 1}, leave_out, execution, progress).front());
}

}  // namespace bestdag
