// Groups of missing cells, for the sanitizers: distinct rows, expected counts, completed rows, the
// posterior and scores of it, narrow and wide columns, groups as one table and as a tree, many
// threads, and calls that are interrupted. Exits 0 when all is well.
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "missing/completion.hpp"
#include "missing/distinct_rows.hpp"
#include "missing/expected_counts.hpp"
#include "missing/expected_families.hpp"
#include "scores/list.hpp"
#include "tests/checks.hpp"

namespace {

constexpr std::uint32_t kWide = 300;

// A chain 0 -> 1 -> ... with a wide first variable; the arrays are on the heap at their exact size.
struct Example {
    std::size_t n_rows;
    std::vector<std::uint32_t> arities;
    std::vector<std::vector<std::uint32_t>> members;
    std::vector<std::uint16_t> wide;
    std::vector<std::vector<std::uint8_t>> narrow;
    std::vector<double> weights;
    std::vector<double> values;

    Example(std::size_t rows, std::size_t n_variables, double share) : n_rows(rows), wide(rows) {
        std::mt19937 random(static_cast<unsigned>(rows + n_variables));
        std::uniform_real_distribution<double> uniform;
        for (std::uint32_t v = 0; v < n_variables; ++v) {
            arities.push_back(v == 0 ? kWide : 2 + v % 2);
            if (v == 0) {
                members.push_back({0});
            } else {
                members.push_back({v - 1, v});
            }
        }
        const auto code = [&](std::uint32_t arity) {
            return uniform(random) < share ? arity : static_cast<std::uint32_t>(random() % arity);
        };
        for (auto& cell : wide) cell = static_cast<std::uint16_t>(code(kWide));
        narrow.resize(n_variables - 1, std::vector<std::uint8_t>(rows));
        for (std::size_t v = 1; v < n_variables; ++v) {
            for (auto& cell : narrow[v - 1]) cell = static_cast<std::uint8_t>(code(arities[v]));
        }
        for (std::size_t i = 0; i < rows; ++i) weights.push_back(0.5 + uniform(random));
        const bestdag::FamilyTables layout = tables();
        values.resize(layout.n_cells());
        for (std::size_t v = 0; v < n_variables; ++v) {
            for (std::size_t c = layout.first_cells[v]; c < layout.first_cells[v + 1];
                 c += arities[v]) {
                double sum = 0.0;
                for (std::size_t k = 0; k < arities[v]; ++k) {
                    sum += values[c + k] = 0.05 + uniform(random);
                }
                for (std::size_t k = 0; k < arities[v]; ++k) values[c + k] /= sum;
            }
        }
    }

    bestdag::FamilyTables tables() const { return {arities, members}; }

    bestdag::Table rows() const {
        std::vector<bestdag::Column> columns(arities.size());
        columns[0].wide = wide.data();
        for (std::size_t v = 0; v < arities.size(); ++v) {
            columns[v].arity = arities[v];
            if (v > 0) columns[v].narrow = narrow[v - 1].data();
        }
        return {n_rows, columns, {nullptr, weights.data()}};
    }

    std::uint32_t code(std::size_t row, std::size_t v) const {
        return v == 0 ? wide[row] : narrow[v - 1][row];
    }

    // The probability of what a row shows, along the chain: forward sums.
    double probability(std::size_t row) const {
        const bestdag::FamilyTables layout = tables();
        std::vector<double> before{1.0};
        for (std::size_t v = 0; v < arities.size(); ++v) {
            std::vector<double> next(arities[v], 0.0);
            for (std::size_t j = 0; j < before.size(); ++j) {
                for (std::size_t k = 0; k < arities[v]; ++k) {
                    if (code(row, v) != arities[v] && code(row, v) != k) continue;
                    next[k] += before[j] * values[layout.first_cells[v] + j * arities[v] + k];
                }
            }
            before = next;
        }
        double sum = 0.0;
        for (const double p : before) sum += p;
        return sum;
    }
};

void check_counts(const Example& example) {
    const bestdag::FamilyTables tables = example.tables();
    const bestdag::Table rows = example.rows();
    double expected = 0.0, total = 0.0;
    for (std::size_t i = 0; i < example.n_rows; ++i) {
        expected += example.weights[i] * std::log(example.probability(i));
        total += example.weights[i];
    }
    std::vector<std::vector<double>> found;
    for (const int threads : {1, 4}) {
        const bestdag::Execution execution{threads, [] { return false; }};
        const bestdag::RowGroups groups = bestdag::find_row_groups(
            rows, tables, bestdag::GroupScope::kAncestral, false, execution);
        std::vector<double> counts(tables.n_cells());
        const double log_sum =
            bestdag::expected_counts(groups, tables, example.values, counts, execution);
        check(std::abs(log_sum - expected) < 1e-9 * (1.0 + std::abs(expected)),
              "the log-likelihood");
        found.push_back(counts);
    }
    check(found[0] == found[1], "counts do not depend on threads");

    const bestdag::Execution execution{4, [] { return false; }};
    const bestdag::RowGroups groups =
        bestdag::find_row_groups(rows, tables, bestdag::GroupScope::kWhole, true, execution);
    for (const double max_cells : {1.0, 4096.0}) {
        const bestdag::Posterior posterior(groups, tables, example.values, {max_cells, 20}, {1, 2},
                                           execution);
        check(posterior.is_possible(), "rows are possible");
        const std::vector<std::int32_t> children{0, 1, 2, 2}, parents{0, 0, 1};
        const std::vector<std::int64_t> offsets{0, 0, 1, 1, 3};
        const bestdag::FamilyList families{children, offsets, parents};
        for (const auto& cells : bestdag::count_expected(rows, posterior, families, execution)) {
            double sum = 0.0;
            for (const double count : cells.counts) sum += count;
            check(std::abs(sum - total) < 1e-9 * total, "expected counts add up to the rows");
        }
        std::vector<double> scores(4);
        bestdag::score_expected(rows, posterior, rows, bestdag::make_bic(), families,
                                bestdag::Wanted::kScore, 1.0, scores, execution);
        for (const double score : scores) check(score < 0.0, "a score is a number");
    }
}

void check_completion(Example example) {
    const bestdag::FamilyTables tables = example.tables();
    const bestdag::Execution execution{4, [] { return false; }};
    const bestdag::DistinctRows distinct = bestdag::distinct_rows(example.rows(), execution);
    std::map<std::vector<std::uint32_t>, double> kinds;
    for (std::size_t i = 0; i < example.n_rows; ++i) {
        std::vector<std::uint32_t> codes;
        for (std::size_t v = 0; v < example.arities.size(); ++v)
            codes.push_back(example.code(i, v));
        kinds[codes] += example.weights[i];
    }
    check(kinds.size() == distinct.rows.size(), "equal rows are one");
    const bestdag::RowGroups groups = bestdag::find_row_groups(
        example.rows(), tables, bestdag::GroupScope::kWhole, true, execution);
    std::vector<std::uint64_t> starts;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < example.n_rows; ++i) {
        starts.push_back(i);
        rows.push_back(i);
    }
    starts.push_back(example.n_rows);
    std::vector<bestdag::OpenColumn> open(example.arities.size());
    open[0].wide = example.wide.data();
    for (std::size_t v = 1; v < open.size(); ++v) open[v].narrow = example.narrow[v - 1].data();
    const Example before = example;
    const bestdag::PhiloxKey key{3, 4};
    for (const bestdag::PhiloxKey* drawn :
         {static_cast<const bestdag::PhiloxKey*>(nullptr), &key}) {
        const std::uint64_t wrong = bestdag::complete_rows(groups, tables, example.values,
                                                           {starts, rows}, drawn, open, execution);
        check(wrong == bestdag::kNoRow, "every row is possible");
        for (std::size_t i = 0; i < example.n_rows; ++i) {
            for (std::size_t v = 0; v < open.size(); ++v) {
                check(example.code(i, v) < example.arities[v], "no cell is missing");
                if (before.code(i, v) < example.arities[v]) {
                    check(example.code(i, v) == before.code(i, v), "known cells stay");
                }
            }
        }
    }
}

void check_interruption() {
    const Example example(200'000, 6, 0.3);
    bool stopped = false;
    try {
        const bestdag::Execution execution{2, [] { return true; }};
        bestdag::find_row_groups(example.rows(), example.tables(), bestdag::GroupScope::kWhole,
                                 true, execution);
    } catch (const bestdag::Interrupted&) {
        stopped = true;
    }
    check(stopped, "long work can be interrupted");
}

}  // namespace

int main() {
    for (const double share : {0.0, 0.1, 0.5, 1.0}) {
        check_counts(Example(500, 5, share));
        check_completion(Example(500, 5, share));
    }
    check_counts(Example(60, 14, 0.9));  // groups of many states: trees
    check_completion(Example(60, 14, 0.9));
    check_interruption();
    return report();
}
