#include "missing/expected_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "missing/group_work.hpp"

namespace bestdag {

namespace {

// Each chunk of cases has counts of its own, which are added up in order: how many chunks there are
// must not depend on the threads. Together they take at most so many numbers (64 MiB).
constexpr std::size_t kMostChunks = 64;
constexpr double kStepsPerChunk = 1u << 18;
constexpr std::size_t kMostNumbers = 1u << 23;

double steps_of(const GroupKind& kind) noexcept {
    return 20.0 + kind.n_cells * (1.0 + static_cast<double>(kind.families.size()));
}

// Where chunks of about equal work begin, and the end.
std::vector<std::size_t> chunk_starts(const RowGroups& groups, std::size_t n_cells) {
    double total = 0.0;
    for (std::size_t k = 0; k < groups.kinds.size(); ++k) {
        total += steps_of(groups.kinds[k]) *
                 static_cast<double>(groups.first_case[k + 1] - groups.first_case[k]);
    }
    const auto by_work = static_cast<std::size_t>(std::min(total / kStepsPerChunk, 1e6)) + 1;
    const std::size_t by_memory = std::max<std::size_t>(1, kMostNumbers / n_cells);
    const std::size_t n_chunks = std::min({kMostChunks, by_work, by_memory});
    std::vector<std::size_t> starts{0};
    double done = 0.0;
    for (std::size_t k = 0; k < groups.kinds.size(); ++k) {
        const double each = steps_of(groups.kinds[k]);
        for (std::size_t i = groups.first_case[k]; i < groups.first_case[k + 1]; ++i) {
            done += each;
            if (done * static_cast<double>(n_chunks) >=
                    total * static_cast<double>(starts.size()) &&
                starts.size() < n_chunks) {
                starts.push_back(i + 1);
            }
        }
    }
    starts.push_back(groups.n_cases());
    return starts;
}

// Expected counts of the cases first ... last - 1; what they sum to, as a logarithm.
double add_cases(const RowGroups& groups, const FamilyTables& tables, const double* values,
                 std::size_t first, std::size_t last, double* counts, const StopFlag& stop) {
    GroupWork work(tables, values);
    double log_sum = 0.0;
    for (std::size_t i = first, k = groups.kind_of(first); i < last; ++k) {
        const std::size_t end = std::min(last, groups.first_case[k + 1]);
        if (i < end) work.take(groups.kinds[k]);
        for (; i < end; ++i) {
            check(stop);
            const double found = work.collect(groups.codes_of(k, i));
            if (found == -std::numeric_limits<double>::infinity()) return found;
            log_sum += groups.weights[i] * found;
            work.distribute();
            work.add_counts(groups.weights[i], counts);
        }
    }
    return log_sum;
}

}  // namespace

double expected_counts(const RowGroups& groups, const FamilyTables& tables,
                       std::span<const double> values, std::span<double> counts,
                       const Execution& execution) {
    double log_sum = 0.0;
    std::copy(groups.complete.begin(), groups.complete.end(), counts.begin());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0.0) log_sum += counts[i] * std::log(values[i]);
    }
    if (groups.n_cases() == 0) return log_sum;
    const std::vector<std::size_t> starts = chunk_starts(groups, counts.size());
    const std::size_t n_chunks = starts.size() - 1;
    std::vector<std::vector<double>> parts(n_chunks);
    std::vector<double> logs(n_chunks, 0.0);
    const double expected = 1000.0 * static_cast<double>(groups.n_cases());
    parallel_for(n_chunks, expected, execution, [&](std::size_t c, const StopFlag& stop) {
        if (starts[c] == starts[c + 1]) return;
        parts[c].assign(counts.size(), 0.0);
        logs[c] = add_cases(groups, tables, values.data(), starts[c], starts[c + 1],
                            parts[c].data(), stop);
    });
    for (std::size_t c = 0; c < n_chunks; ++c) {
        log_sum += logs[c];
        for (std::size_t i = 0; i < parts[c].size(); ++i) counts[i] += parts[c][i];
    }
    return log_sum;
}

}  // namespace bestdag
