#include "scoring/all_families.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/subsets.hpp"
#include "counting/count_type.hpp"
#include "scoring/set_scorer.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerSet = 500.0;  // enough to decide whether threads are worth it

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

template <class Count>
void score_all(const Table& table, const Kernel& kernel, std::size_t max_parents,
               std::span<double> scores, const Execution& execution) {
    const Subsets sets(table.n_columns(), max_parents + 1);
    // values[i]: g of the i-th set, for sets that are parents in some family.
    std::vector<double> values;
    for (std::size_t size = 1; size <= std::min(max_parents + 1, table.n_columns()); ++size) {
        std::atomic<std::size_t> next = 0;
        const std::size_t n_prefixes = sets.n_of_size(size - 1);
        if (size == 1) values.assign(sets.n_up_to(max_parents), 0.0);
        const auto n_workers =
            std::min(n_prefixes, static_cast<std::size_t>(std::max(1, execution.threads)));
        const auto work = [&](std::size_t, const StopFlag& stop) {
            SetScorer<Count> scorer(table, kernel, stop);
            Layout layout(table.n_columns(), max_parents, scores);
            std::vector<std::int32_t> prefix(size - 1), larger, parents;
            if (size == 1 && scorer.has_set_function()) values[0] = scorer.empty_set_value();
            for (std::size_t p; !stop && (p = next++) < n_prefixes;) {
                sets.unrank(p, prefix);
                // All sets that add one larger column to the prefix.
                const std::int32_t first = prefix.empty() ? 0 : prefix.back() + 1;
                larger.resize(table.n_columns() - static_cast<std::size_t>(first));
                std::iota(larger.begin(), larger.end(), first);
                scorer.visit_sets(
                    prefix, larger, stop,
                    [&](const std::vector<std::int32_t>& set, std::span<const Count> cells) {
                        if (!scorer.has_set_function()) {
                            for (std::size_t position = 0; position < size; ++position) {
                                layout.at(set, position) =
                                    scorer.member_score(set, position, cells, stop);
                            }
                            return;
                        }
                        const double value = scorer.set_value(set, cells, stop);
                        if (size <= max_parents) values[sets.offset(size) + sets.rank(set)] = value;
                        for (std::size_t position = 0; position < size; ++position) {
                            parents = set;
                            parents.erase(parents.begin() + static_cast<std::ptrdiff_t>(position));
                            layout.at(set, position) = set_difference(
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
