// Checks of the values of all sets of columns and of the best network made from them: against
// counting each family, against every order, for any number of threads, and when stopped.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/philox.hpp"
#include "exact/every_set_dp.hpp"
#include "scores/list.hpp"
#include "special/log_gamma.hpp"
#include "tests/checks.hpp"

namespace {

struct Data {
    std::vector<std::vector<std::uint8_t>> columns;
    std::vector<std::int64_t> weights;
    std::vector<std::uint32_t> arities;

    bestdag::Table table(bool weighted) const {
        std::vector<bestdag::Column> views;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            views.push_back({columns[c].data(), nullptr, arities[c]});
        }
        return {weights.size(), views, {weighted ? weights.data() : nullptr, nullptr}};
    }
};

// Each column copies the one before it, or is drawn at random.
Data random_data(std::size_t n, std::size_t n_rows, std::uint64_t seed) {
    Data data;
    for (std::size_t c = 0; c < n; ++c) {
        data.arities.push_back(static_cast<std::uint32_t>(2 + (c + seed) % 3));
        data.columns.emplace_back(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const auto drawn = bestdag::philox4x64({seed, c}, row);
            const bool copies = c > 0 && drawn[0] % 4 != 0;
            const std::uint64_t value = copies ? data.columns[c - 1][row] : drawn[1];
            data.columns[c][row] = static_cast<std::uint8_t>(value % data.arities[c]);
        }
    }
    for (std::size_t row = 0; row < n_rows; ++row) {
        data.weights.push_back(static_cast<std::int64_t>(row % 4));
    }
    return data;
}

std::vector<bestdag::ParentRules> free_rules(std::size_t n) {
    return std::vector<bestdag::ParentRules>(n, {0, (std::uint64_t{1} << n) - 1, n - 1, 0.0, {}});
}

double counted(const bestdag::Table& table, const bestdag::Kernel& kernel, std::size_t child,
               std::uint64_t set) {
    std::vector<std::int32_t> parents;
    for (std::size_t p = 0; p < table.n_columns(); ++p) {
        if (set >> p & 1u) parents.push_back(static_cast<std::int32_t>(p));
    }
    const bestdag::StopFlag stop = false;
    const bestdag::Family family{child, parents};
    const bestdag::FamilyShape shape = bestdag::shape_of(table, family);
    const auto evaluator = kernel.evaluator(table, stop);
    double score = evaluator->constant(shape);
    const auto count = [&](auto zero) {
        bestdag::FamilyCounter<decltype(zero)> counter(table, true);
        counter.visit(family, stop,
                      [&](const auto& rows) { score += evaluator->rows(rows, shape); });
    };
    table.is_weighted() ? count(std::int64_t{}) : count(std::uint32_t{});
    return score;
}

// Over all orders, each column with the best set of those before it.
double best_by_orders(const bestdag::EverySetProgram& program, std::size_t n) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    double best = -std::numeric_limits<double>::infinity();
    do {
        double total = 0.0;
        std::uint64_t before = 0;
        for (const std::size_t v : order) {
            double own = program.score(v, before);
            for (std::uint64_t set = before; set != 0;) {
                set = (set - 1) & before;
                own = std::max(own, program.score(v, set));
            }
            total += own;
            before |= std::uint64_t{1} << v;
        }
        best = std::max(best, total);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

double solved(const bestdag::EverySetProgram& program, std::size_t n, int threads) {
    const bestdag::Execution execution{threads, {}};
    const std::vector<double> best = program.best_scores(execution);
    double cost = 0.0;
    for (std::size_t v = 0; v < n; ++v) cost += best[v] - program.score(v, 0);
    const double unit = std::max(cost, 1e-9) / 1e15;
    const auto solution = program.solve(best, unit, 1e15 + 100.0, execution, {});
    check(solution.has_value(), "the empty network is below the limit");
    double total = 0.0;
    for (std::size_t v = 0; v < n; ++v) total += program.score(v, solution->parents[v]);
    return total;
}

void check_scores(const bestdag::Kernel& kernel, bool weighted, std::uint64_t seed) {
    constexpr std::size_t n = 6;
    const Data data = random_data(n, 90, seed);
    const bestdag::Table table = data.table(weighted);
    const bestdag::Execution execution{3, {}};
    const auto values = bestdag::every_set(table, kernel, false, execution, {});
    const bestdag::EverySetProgram program(table, kernel, values, free_rules(n));
    for (std::size_t child = 0; child < n; ++child) {
        for (std::uint64_t set = 0; set < 1u << n; ++set) {
            if (set >> child & 1u) continue;
            const double wanted = counted(table, kernel, child, set);
            check(std::abs(program.score(child, set) - wanted) < 1e-8 * (1.0 + std::abs(wanted)),
                  "a family's score is that of its counts");
        }
    }
    const double best = best_by_orders(program, n);
    check(std::abs(solved(program, n, 1) - best) < 1e-6, "the optimum is the best of all orders");
    const auto fewer = bestdag::every_set(table, kernel, true, execution, {});
    const bestdag::EverySetProgram part(table, kernel, fewer, free_rules(n));
    check(std::abs(solved(part, n, 3) - best) < 1e-6, "sets that are left out do not matter");
}

// Sixteen columns are divided into tasks.
void check_threads() {
    const Data data = random_data(16, 200, 5);
    const bestdag::Table table = data.table(false);
    const bestdag::Kernel kernel = bestdag::make_bdeu(1.0);
    double found[2];
    for (const int threads : {1, 3}) {
        const bestdag::Execution execution{threads, {}};
        const auto values = bestdag::every_set(table, kernel, false, execution, {});
        const bestdag::EverySetProgram program(table, kernel, values, free_rules(16));
        found[threads == 3] = solved(program, 16, threads);
    }
    check(found[0] == found[1], "threads change nothing");
}

// Counted once for several scores, some of which leave out more sets than others.
void check_several() {
    const std::vector<bestdag::Kernel> kernels{bestdag::make_bic(), bestdag::make_bdeu(1.0),
                                               bestdag::make_fnml(), bestdag::make_qnml(true)};
    for (const std::size_t n_rows : {12, 300}) {
        const Data data = random_data(12, n_rows, 7);
        const bestdag::Table table = data.table(false);
        for (const bool leave_out : {false, true}) {
            const bestdag::Execution execution{2, {}};
            const auto together = bestdag::every_set_by(table, kernels, leave_out, execution, {});
            for (std::size_t k = 0; k < kernels.size(); ++k) {
                const auto alone = bestdag::every_set(table, kernels[k], leave_out, execution, {});
                check(alone.given.size() == together[k].given.size(), "as many arrays");
                bool is_same = std::equal(alone.joint->data(), alone.joint->data() + alone.n_sets(),
                                          together[k].joint->data());
                for (std::size_t a = 0; a < alone.given.size(); ++a) {
                    const double* const own = alone.given[a]->data();
                    is_same = is_same &&
                              std::equal(own, own + alone.n_sets(), together[k].given[a]->data());
                }
                check(is_same, "a score's values do not depend on what it is counted with");
            }
        }
    }
}

void check_stopping() {
    const Data data = random_data(20, 400, 6);
    const bestdag::Table table = data.table(false);
    bool was_stopped = false;
    try {
        bestdag::every_set(table, bestdag::make_fnml(), false, {2, [] { return true; }}, {});
    } catch (const bestdag::Interrupted&) {
        was_stopped = true;
    }
    check(was_stopped, "long work stops when it is told to");
}

}  // namespace

int main() {
    for (const bool weighted : {false, true}) {
        check_scores(bestdag::make_bic(), weighted, 1);
        check_scores(bestdag::make_bdeu(2.0), weighted, 2);
        check_scores(bestdag::make_fnml(), weighted, 3);
        check_scores(bestdag::make_mit(0.95), weighted, 4);
        check_scores(bestdag::make_bd(1.0), weighted, 5);
    }
    check_threads();
    check_several();
    check_stopping();
    return report();
}
