#include "scoring/pair_scores.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "counting/count_type.hpp"
#include "scoring/set_scorer.hpp"

namespace bestdag {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kNanosecondsPerPair = 1000.0;  // enough to decide whether threads are worth it
constexpr double kNanosecondsPerRow = 0.5;
constexpr std::size_t kPairsPerTask = 32;  // they share a prefix

template <class Count>
class PairScorer {
public:
    PairScorer(const Table& table, const Kernel& kernel, std::span<const std::int32_t> given,
               std::span<const std::int32_t> columns, std::span<double> scores,
               const StopFlag& stop)
        : scorer_(table, kernel, stop), given_(given), columns_(columns), scores_(scores) {}

    bool has_set_function() const { return scorer_.has_set_function(); }

    // The columns without another parent. With a set function, singles[j] = g(given, j).
    void score_singles(std::span<double> singles, const StopFlag& stop) {
        const double base = has_set_function() ? given_value(stop) : 0.0;
        std::size_t j = 0;
        scorer_.visit_sets(given_, columns_, stop, [&](const auto& set, auto cells) {
            if (has_set_function()) {
                singles[j] = scorer_.set_value(set, cells, stop);
                at(j, j) = set_difference(singles[j], base);
            } else {
                at(j, j) = scorer_.member_score(set, given_.size(), cells, stop);
            }
            ++j;
        });
    }

    // Column i with each of the columns first .. last - 1, in both directions.
    void score_row(std::size_t i, std::size_t first, std::size_t last,
                   std::span<const double> singles, const StopFlag& stop) {
        prefix_.assign(given_.begin(), given_.end());
        const auto place = std::lower_bound(prefix_.begin(), prefix_.end(), columns_[i]);
        const auto position = static_cast<std::size_t>(place - prefix_.begin());
        prefix_.insert(place, columns_[i]);
        std::size_t j = first;
        scorer_.visit_sets(
            prefix_, columns_.subspan(first, last - first), stop, [&](const auto& set, auto cells) {
                if (has_set_function()) {
                    const double value = scorer_.set_value(set, cells, stop);
                    at(i, j) = set_difference(value, singles[i]);
                    at(j, i) = set_difference(value, singles[j]);
                } else {
                    at(i, j) = scorer_.member_score(set, prefix_.size(), cells, stop);
                    at(j, i) = scorer_.member_score(set, position, cells, stop);
                }
                ++j;
            });
    }

private:
    double& at(std::size_t parent, std::size_t child) {
        return scores_[parent * columns_.size() + child];
    }

    double given_value(const StopFlag& stop) {
        if (given_.empty()) return scorer_.empty_set_value();
        double value = 0.0;
        scorer_.visit_sets(
            given_.first(given_.size() - 1), given_.last(1), stop,
            [&](const auto& set, auto cells) { value = scorer_.set_value(set, cells, stop); });
        return value;
    }

    SetScorer<Count> scorer_;
    std::span<const std::int32_t> given_, columns_;
    std::span<double> scores_;
    std::vector<std::int32_t> prefix_;
};

struct Task {
    std::size_t row, first, last;
};

std::vector<Task> tasks_of(std::size_t n_columns) {
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < n_columns; ++i) {
        for (std::size_t first = i + 1; first < n_columns; first += kPairsPerTask) {
            tasks.push_back({i, first, std::min(first + kPairsPerTask, n_columns)});
        }
    }
    return tasks;
}

}  // namespace

bool score_pairs(const Table& table, const Kernel& kernel, std::span<const std::int32_t> given,
                 std::span<const std::int32_t> columns, double seconds, std::span<double> scores,
                 const Execution& execution) {
    const auto start = Clock::now();
    const auto is_late = [&] {
        return std::chrono::duration<double>(Clock::now() - start).count() >= seconds;
    };
    const auto n_columns = static_cast<double>(columns.size());
    const double per_set =
        kNanosecondsPerPair + kNanosecondsPerRow * static_cast<double>(table.n_rows());
    const std::vector<Task> tasks = tasks_of(columns.size());
    const auto n_workers =
        std::min(tasks.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
    std::vector<double> singles(columns.size(), 0.0);
    std::atomic<std::size_t> next = 0, n_done = 0;
    std::atomic<bool> late = is_late();
    if (late || columns.empty()) return !late;
    with_count_type(table, [&](auto zero) {
        using Scorer = PairScorer<decltype(zero)>;
        parallel_for(
            1, kernel.expected(n_columns * per_set), execution,
            [&](std::size_t, const StopFlag& stop) {
                Scorer(table, kernel, given, columns, scores, stop).score_singles(singles, stop);
            });
        parallel_for(n_workers,
                     kernel.expected(static_cast<double>(tasks.size() * kPairsPerTask) * per_set),
                     execution, [&](std::size_t, const StopFlag& stop) {
                         Scorer scorer(table, kernel, given, columns, scores, stop);
                         for (std::size_t k; !stop && !late && (k = next++) < tasks.size();) {
                             const Task& task = tasks[k];
                             scorer.score_row(task.row, task.first, task.last, singles, stop);
                             ++n_done;
                             if (is_late()) late = true;
                         }
                     });
    });
    return n_done == tasks.size();
}

}  // namespace bestdag
