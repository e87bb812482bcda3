// Sums over row tables, for the sanitizers: narrow and wide columns, missing cells, many and few
// states, many threads, and a call that is interrupted. Exits 0 when all is well.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "factors/row_tables.hpp"
#include "tests/checks.hpp"

namespace {

constexpr std::uint32_t kNarrow = 3;
constexpr std::uint32_t kWide = 300;

// One column of each width and two tables over them, on the heap at their exact sizes.
struct Example {
    std::size_t n_rows;
    std::size_t n_states;
    std::vector<std::uint8_t> narrow;
    std::vector<std::uint16_t> wide;
    std::vector<double> both, one;
    std::vector<std::uint32_t> both_columns{0, 1}, one_column{1};
    std::vector<std::uint64_t> both_strides, one_stride;

    Example(std::size_t rows, std::size_t states, bool with_missing)
        : n_rows(rows), n_states(states), narrow(rows), wide(rows) {
        std::mt19937 random(static_cast<unsigned>(rows + states));
        const std::uint32_t extra = with_missing ? 1 : 0;
        for (auto& code : narrow) code = static_cast<std::uint8_t>(random() % (kNarrow + extra));
        for (auto& code : wide) code = static_cast<std::uint16_t>(random() % (kWide + extra));
        both.resize(kNarrow * kWide * states);
        one.resize(kWide * states);
        for (double& value : both) value = -static_cast<double>(random() % 1000) / 100.0;
        for (double& value : one) value = -static_cast<double>(random() % 1000) / 100.0;
        both_strides = {kWide * states, states};
        one_stride = {states};
    }

    double expected(std::size_t row, std::size_t state) const {
        double sum = 0.0;
        if (wide[row] == kWide) return sum;
        if (narrow[row] < kNarrow) {
            sum += both[narrow[row] * both_strides[0] + wide[row] * both_strides[1] + state];
        }
        return sum + one[wide[row] * states_stride() + state];
    }

    std::size_t states_stride() const { return one_stride[0]; }

    std::vector<double> run(bestdag::RowResult result, const bestdag::Execution& execution) const {
        bestdag::Column first, second;
        first.narrow = narrow.data();
        first.arity = kNarrow;
        second.wide = wide.data();
        second.arity = kWide;
        const bestdag::Table data(n_rows, {first, second}, {});
        const std::vector<bestdag::RowTable> tables{{both, both_columns, both_strides},
                                                    {one, one_column, one_stride}};
        const std::vector<std::uint8_t> has_missing{1, 1};
        std::vector<double> out(n_rows * n_states, 0.0);
        bestdag::sum_row_tables(data, tables, has_missing, n_states, result, out, execution);
        return out;
    }
};

void check_example(const Example& example) {
    const bestdag::Execution execution{4, [] { return false; }};
    const auto sums = example.run(bestdag::RowResult::kSum, execution);
    const auto logs = example.run(bestdag::RowResult::kLogShare, execution);
    const auto shares = example.run(bestdag::RowResult::kShare, execution);
    for (std::size_t i = 0; i < example.n_rows; ++i) {
        double total = 0.0;
        for (std::size_t k = 0; k < example.n_states; ++k) {
            const std::size_t cell = i * example.n_states + k;
            check(sums[cell] == example.expected(i, k), "a sum has the tables of its row");
            check(std::abs(std::exp(logs[cell]) - shares[cell]) < 1e-12, "shares and logarithms");
            total += shares[cell];
        }
        check(std::abs(total - 1.0) < 1e-12, "shares sum to one");
    }
}

void check_impossible() {
    Example example(5, 4, false);
    for (double& value : example.one) value = -std::numeric_limits<double>::infinity();
    for (const double share : example.run(bestdag::RowResult::kShare, {1, {}})) {
        check(std::isnan(share), "an impossible row has no shares");
    }
}

void check_interruption() {
    bool stopped = false;
    try {
        Example(3'000'000, 1, false).run(bestdag::RowResult::kSum, {1, [] { return true; }});
    } catch (const bestdag::Interrupted&) {
        stopped = true;
    }
    check(stopped, "long work can be interrupted");
}

}  // namespace

int main() {
    for (const std::size_t n_rows : {1u, 2047u, 2048u, 20'000u}) {
        for (const std::size_t n_states : {1u, 2u, 12u, 13u}) {
            check_example(Example(n_rows, n_states, false));
            check_example(Example(n_rows, n_states, true));
        }
    }
    check_example(Example(40, 20'000, true));
    check_impossible();
    check_interruption();
    return report();
}
