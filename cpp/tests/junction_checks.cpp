// Junction trees against sums over every configuration, under the sanitizers: random factors,
// zeros, evidence, the best configurations, many rows on many threads, and a stop in between.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "factors/elimination.hpp"
#include "factors/junction_tree.hpp"
#include "tests/checks.hpp"

using bestdag::Axis;

namespace {

struct Model {
    std::vector<std::uint32_t> lengths;
    std::vector<std::vector<Axis>> scopes;
    std::vector<std::vector<double>> values;

    explicit Model(std::uint32_t seed) {
        std::mt19937 rng(seed);
        const std::size_t n = 2 + rng() % 6;
        for (std::size_t i = 0; i < n; ++i) lengths.push_back(1 + rng() % 3);
        for (Axis child = 0; child < n; ++child) {
            std::vector<Axis> scope;
            for (Axis other = 0; other < child; ++other) {
                if (rng() % 3 == 0) scope.push_back(other);
            }
            scope.push_back(child);
            std::size_t n_cells = 1;
            for (const Axis axis : scope) n_cells *= lengths[axis];
            std::vector<double> table;
            for (std::size_t i = 0; i < n_cells; ++i) {
                const bool is_zero = rng() % 5 < (seed % 3 == 0 ? 4u : 1u);  // many, or some
                table.push_back(is_zero ? 0.0 : 0.01 * static_cast<double>(rng() % 100));
            }
            scopes.push_back(scope);
            values.push_back(table);
        }
    }

    std::vector<bestdag::TreeFactor> factors() const {
        std::vector<bestdag::TreeFactor> found;
        for (std::size_t i = 0; i < scopes.size(); ++i) found.push_back({scopes[i], values[i]});
        return found;
    }

    // Call use(codes, product) for every configuration.
    template <class Use>
    void for_each(const Use& use) const {
        std::vector<std::int32_t> codes(lengths.size(), 0);
        while (true) {
            double product = 1.0;
            for (std::size_t f = 0; f < scopes.size(); ++f) {
                std::size_t place = 0;
                for (const Axis axis : scopes[f]) {
                    place = place * lengths[axis] + static_cast<std::size_t>(codes[axis]);
                }
                product *= values[f][place];
            }
            use(codes, product);
            std::size_t i = 0;
            while (i < codes.size() && ++codes[i] == static_cast<std::int32_t>(lengths[i])) {
                codes[i++] = 0;
            }
            if (i == codes.size()) return;
        }
    }
};

bool is_near(double a, double b) {
    return a == b || std::abs(a - b) <= 1e-10 * std::max(1.0, std::abs(b));
}

void check_model(std::uint32_t seed) {
    const Model model(seed);
    const std::size_t n = model.lengths.size();
    const bestdag::Execution execution{4, {}};
    bestdag::JunctionTree tree(bestdag::CliqueTree(model.lengths, model.scopes), model.factors(),
                               false, execution);
    std::mt19937 rng(seed + 1);
    std::vector<Axis> every;
    std::size_t n_states = 0;
    for (Axis axis = 0; axis < n; ++axis) {
        every.push_back(axis);
        n_states += model.lengths[axis];
    }
    std::vector<std::int32_t> rows;
    for (int question = 0; question < 6; ++question) {
        std::vector<std::int32_t> known(n, -1);
        for (std::size_t axis = 0; axis < n; ++axis) {
            if (rng() % 3 == 0)
                known[axis] = static_cast<std::int32_t>(rng() % model.lengths[axis]);
        }
        std::vector<double> expected(n_states, 0.0);
        std::vector<double> products;
        double total = 0.0;
        model.for_each([&](const std::vector<std::int32_t>& codes, double product) {
            std::size_t first = 0;
            for (std::size_t axis = 0; axis < n; ++axis) {
                if (known[axis] >= 0 && known[axis] != codes[axis]) return;
            }
            total += product;
            if (product > 0) products.push_back(product);
            for (std::size_t axis = 0; axis < n; ++axis) {
                expected[first + static_cast<std::size_t>(codes[axis])] += product;
                first += model.lengths[axis];
            }
        });
        std::vector<double> out(n_states);
        const double found = tree.marginals({known, {}, {}}, every, out, execution);
        check(is_near(std::exp(found), total), "the sum of all configurations");
        if (total > 0) {
            for (std::size_t i = 0; i < n_states; ++i) {
                check(is_near(out[i], expected[i] / total), "a marginal");
            }
        }
        const auto best = tree.most_probable({known, {}, {}}, 5, execution);
        std::sort(products.rbegin(), products.rend());
        check(best.size() == std::min<std::size_t>(5, products.size()), "how many are best");
        for (std::size_t i = 0; i < best.size(); ++i) {
            check(is_near(std::exp(best[i].log_probability), products[i]), "one of the best");
        }
        for (std::size_t axis = 0; axis < n; ++axis) {
            rows.push_back(known[axis] < 0 ? static_cast<std::int32_t>(model.lengths[axis])
                                           : known[axis]);
        }
    }
    // The same questions as rows, many times over, on threads.
    std::vector<std::int32_t> many;
    for (int i = 0; i < 100; ++i) many.insert(many.end(), rows.begin(), rows.end());
    std::vector<double> logs(600);
    std::vector<double> out(600 * n_states);
    tree.rows({600, many}, every, logs, out, execution);
    for (std::size_t i = 6; i < 600; ++i) check(logs[i] == logs[i % 6], "a row on any thread");

    // Elimination with everything kept is the product itself.
    std::vector<bestdag::Factor> factors;
    std::vector<double> bits;
    for (const std::uint32_t length : model.lengths) bits.push_back(std::log2(length));
    for (std::size_t i = 0; i < model.scopes.size(); ++i) {
        factors.push_back({model.scopes[i], model.values[i].data()});
    }
    const std::vector<Axis> keep{static_cast<Axis>(n - 1)};
    const bestdag::StopFlag stop = false;
    const auto plan = bestdag::plan_elimination(factors, keep, bits, bits);
    const auto sums = bestdag::sum_product(std::move(factors), plan, keep, model.lengths, stop);
    std::vector<double> expected(model.lengths[n - 1], 0.0);
    model.for_each([&](const std::vector<std::int32_t>& codes, double product) {
        expected[static_cast<std::size_t>(codes[n - 1])] += product;
    });
    for (std::size_t k = 0; k < expected.size(); ++k) {
        check(is_near(sums.values[k], expected[k]), "a sum by elimination");
    }
}

// A chain in which every state has one successor: all but a few cells are always zero.
void check_listed() {
    constexpr std::uint32_t kStates = 12;
    const std::vector<std::uint32_t> lengths(4, kStates);
    const std::vector<std::vector<Axis>> scopes{{0}, {0, 1}, {1, 2}, {0, 2, 3}};
    std::vector<std::vector<double>> values{std::vector<double>(kStates, 1.0 / kStates)};
    for (const std::size_t n_parents : {1u, 1u, 2u}) {
        std::vector<double> table(n_parents == 1 ? kStates * kStates : kStates * kStates * kStates);
        for (std::size_t row = 0; row < table.size() / kStates; ++row) {
            table[row * kStates + (row * 5 + 3) % kStates] = 1.0;
        }
        values.push_back(table);
    }
    std::vector<bestdag::TreeFactor> factors;
    for (std::size_t i = 0; i < scopes.size(); ++i) factors.push_back({scopes[i], values[i]});
    bestdag::CliqueTree structure(lengths, scopes);
    bestdag::JunctionTree tree(structure, factors, false, {1, {}});
    check(static_cast<double>(tree.held_cells()) <= structure.total_cells() / 4, "few cells");
    for (std::size_t start = 0; start < kStates; ++start) {
        std::vector<std::size_t> states{start, (start * 5 + 3) % kStates};
        states.push_back((states[1] * 5 + 3) % kStates);
        states.push_back(((start * kStates + states[2]) * 5 + 3) % kStates);
        const std::vector<std::int32_t> known{static_cast<std::int32_t>(start), -1, -1, -1};
        const std::vector<Axis> asked{0, 1, 2, 3};
        std::vector<double> out(4 * kStates);
        const double log = tree.marginals({known, {}, {}}, asked, out, {1, {}});
        check(is_near(std::exp(log), 1.0 / kStates), "the probability of a start");
        const auto best = tree.most_probable({known, {}, {}}, 2, {1, {}});
        check(best.size() == 1, "one way from a start");
        for (std::size_t axis = 0; axis < 4; ++axis) {
            check(out[axis * kStates + states[axis]] == 1.0, "the state that follows");
            check(best[0].codes[axis] == static_cast<std::int32_t>(states[axis]), "the best");
        }
        std::vector<double> pair(kStates * kStates);
        const std::vector<Axis> last{2, 3};
        tree.joint({known, {}, {}}, last, pair, {1, {}});
        check(pair[states[2] * kStates + states[3]] == 1.0, "a joint of listed cells");
    }
}

// A clique of 2^21 cells, asked again and again until somebody stops it.
void check_stop() {
    std::vector<std::uint32_t> lengths(22, 2);
    std::vector<Axis> scope;
    for (Axis axis = 0; axis < 22; ++axis) scope.push_back(axis);
    const std::vector<std::vector<Axis>> scopes{scope};
    const std::vector<double> ones(std::size_t{1} << 22, 1.0);
    bestdag::JunctionTree tree(bestdag::CliqueTree(lengths, scopes), {{scope, ones}}, false,
                               {2, {}});
    bool is_stopped = false;
    int n_asked = 0;
    const bestdag::Execution execution{2, [&] { return ++n_asked > 0; }};
    std::vector<std::int32_t> rows(200 * 22, 2);
    for (std::size_t i = 0; i < rows.size(); i += 7) rows[i] = 1;
    std::vector<double> logs(200);
    try {
        tree.rows({200, rows}, {}, logs, {}, execution);
    } catch (const bestdag::Interrupted&) {
        is_stopped = true;
    }
    check(is_stopped, "rows are stopped");

    const bestdag::StopFlag stop = true;
    is_stopped = false;
    try {
        const bestdag::CliqueTree other(lengths, scopes, &stop);
    } catch (const bestdag::Interrupted&) {
        is_stopped = true;
    }
    check(is_stopped, "planning is stopped");
}

}  // namespace

int main() {
    for (std::uint32_t seed = 0; seed < 60; ++seed) check_model(seed);
    check_listed();
    check_stop();
    return report();
}
