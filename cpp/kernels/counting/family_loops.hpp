// Loops over the counts of many families: the threads share the families, or the rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "counting/family_counts.hpp"
#include "counting/family_list.hpp"
#include "counting/joint_counts.hpp"
#include "counting/table.hpp"

namespace bestdag {

// How long the counting takes, roughly.
inline double counting_nanoseconds(const Table& table, const FamilyList& families) {
    constexpr double kNanosecondsPerCode = 0.7;  // a histogram, measured
    return kNanosecondsPerCode * static_cast<double>(table.n_rows()) *
           static_cast<double>(families.size() + families.parents.size());
}

// Each thread calls start(counter, stop) once and what that returns with the number of each family
// it takes.
template <class Count, class Start>
void for_each_family(const Table& table, const FamilyList& families, double expected_nanoseconds,
                     const Execution& execution, const Start& start) {
    const bool use_bitmaps = families.size() >= 2 * table.n_columns();
    std::atomic<std::size_t> next = 0;
    const auto n_workers =
        std::min(families.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
    parallel_for(n_workers, expected_nanoseconds, execution,
                 [&](std::size_t, const StopFlag& stop) {
                     FamilyCounter<Count> counter(table, use_bitmaps);
                     auto work = start(counter, stop);
                     for (std::size_t i; !stop && (i = next++) < families.size();) work(i);
                 });
}

inline constexpr std::size_t kSliceRows = 1u << 20;

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

}  // namespace bestdag
