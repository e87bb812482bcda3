#include "missing/completion.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "missing/group_work.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kCasesPerTask = 256;

// The distinct rows that have each case.
struct RowsOfCases {
    explicit RowsOfCases(const RowGroups& groups)
        : starts(groups.n_cases() + 1, 0), rows(groups.case_of_row.size()) {
        for (const std::uint32_t number : groups.case_of_row) ++starts[number + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t row = 0; row + 1 < groups.first_of_row.size(); ++row) {
            for (std::size_t i = groups.first_of_row[row]; i < groups.first_of_row[row + 1]; ++i) {
                rows[next[groups.case_of_row[i]]++] = static_cast<std::uint32_t>(row);
            }
        }
    }
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> rows;
};

void write(const OpenColumn& column, std::size_t row, std::uint16_t code) noexcept {
    if (column.narrow) {
        column.narrow[row] = static_cast<std::uint8_t>(code);
    } else {
        column.wide[row] = code;
    }
}

void lower_to(std::atomic<std::uint64_t>& least, std::uint64_t value) noexcept {
    std::uint64_t now = least.load();
    while (value < now && !least.compare_exchange_weak(now, value)) {
    }
}

}  // namespace

std::uint64_t complete_rows(const RowGroups& groups, const FamilyTables& tables,
                            std::span<const double> values, const RowsByKind& rows,
                            const PhiloxKey* key, std::span<const OpenColumn> columns,
                            const Execution& execution) {
    const RowsOfCases holders(groups);
    std::atomic<std::uint64_t> impossible = kNoRow;
    const std::size_t n_tasks = (groups.n_cases() + kCasesPerTask - 1) / kCasesPerTask;
    const double expected = 1000.0 * static_cast<double>(groups.n_cases()) +
                            100.0 * static_cast<double>(rows.rows.size());
    parallel_for(n_tasks, expected, execution, [&](std::size_t task, const StopFlag& stop) {
        GroupWork work(tables, values.data());
        std::vector<std::uint16_t> states;
        const std::size_t last = std::min(groups.n_cases(), (task + 1) * kCasesPerTask);
        for (std::size_t i = task * kCasesPerTask, k = groups.kind_of(i); i < last; ++k) {
            const GroupKind& kind = groups.kinds[k];
            const std::size_t end = std::min(last, groups.first_case[k + 1]);
            if (i < end) work.take(kind);
            states.resize(kind.variables.size());
            for (; i < end; ++i) {
                check(stop);
                const double found =
                    work.collect(groups.codes_of(k, i), key ? Collect::kSum : Collect::kMax);
                const bool is_possible = found > -std::numeric_limits<double>::infinity();
                if (is_possible && !key) work.best(states);
                for (std::size_t h = holders.starts[i]; h < holders.starts[i + 1]; ++h) {
                    const std::uint32_t distinct = holders.rows[h];
                    for (std::size_t r = rows.starts[distinct]; r < rows.starts[distinct + 1];
                         ++r) {
                        const std::uint64_t row = rows.rows[r];
                        if (!is_possible) {
                            lower_to(impossible, row);
                            continue;
                        }
                        if (key) {
                            if ((r & 0xfff) == 0) check(stop);
                            const auto uniform = [&](std::uint32_t variable) {
                                const std::uint64_t counter = row * tables.size() + variable + 1;
                                return static_cast<double>(philox4x64(*key, counter)[0] >> 11) *
                                       0x1p-53;
                            };
                            work.draw(uniform, states);
                        }
                        for (std::size_t v = 0; v < states.size(); ++v) {
                            write(columns[kind.variables[v]], row, states[v]);
                        }
                    }
                }
            }
        }
    });
    return impossible.load();
}

}  // namespace bestdag
