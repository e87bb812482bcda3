// Scores over the rows that show a family, for the sanitizers: dense and sorted counts, weights,
// many threads, families that no row shows. Values are checked against sums over rows.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "scores/node_average.hpp"
#include "scoring/candidate_sets.hpp"
#include "scoring/families.hpp"
#include "tests/checks.hpp"

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

struct Data {
    std::size_t n_rows;
    std::vector<std::uint32_t> arities;  // the last state of every odd column means missing
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<std::int64_t> whole;
    std::vector<double> real;

    Data(std::size_t n, std::vector<std::uint32_t> states, unsigned seed)
        : n_rows(n), arities(std::move(states)), codes(arities.size()) {
        std::mt19937 random(seed);
        for (std::size_t c = 0; c < arities.size(); ++c) {
            for (std::size_t r = 0; r < n; ++r) {
                codes[c].push_back(static_cast<std::uint8_t>(random() % arities[c]));
            }
        }
        for (std::size_t r = 0; r < n; ++r) {
            whole.push_back(static_cast<std::int64_t>(random() % 3));
            real.push_back(static_cast<double>(1 + random() % 100) / 7.0);
        }
    }

    bool is_missing(std::size_t column, std::size_t row) const {
        return column % 2 == 1 && codes[column][row] + 1u == arities[column];
    }

    std::vector<std::uint8_t> has_missing() const {
        std::vector<std::uint8_t> flags;
        for (std::size_t c = 0; c < arities.size(); ++c) flags.push_back(c % 2 == 1);
        return flags;
    }

    bestdag::Table table(bestdag::Weights weights) const {
        std::vector<bestdag::Column> columns;
        for (std::size_t c = 0; c < arities.size(); ++c) {
            columns.push_back({codes[c].data(), nullptr, arities[c]});
        }
        return {n_rows, columns, weights};
    }

    double expected(std::size_t child, const std::vector<std::int32_t>& parents,
                    const bestdag::Weights& weights, double penalty) const {
        std::map<std::vector<std::uint8_t>, double> given, joint;
        double total = 0.0;
        for (std::size_t row = 0; row < n_rows; ++row) {
            bool is_shown = !is_missing(child, row);
            std::vector<std::uint8_t> key;
            for (const std::int32_t p : parents) {
                is_shown = is_shown && !is_missing(static_cast<std::size_t>(p), row);
                key.push_back(codes[static_cast<std::size_t>(p)][row]);
            }
            const double weight = weights.whole  ? static_cast<double>(weights.whole[row])
                                  : weights.real ? weights.real[row]
                                                 : 1.0;
            if (!is_shown || weight == 0.0) continue;
            total += weight;
            given[key] += weight;
            key.push_back(codes[child][row]);
            joint[key] += weight;
        }
        if (total == 0.0) return -std::numeric_limits<double>::infinity();
        double sum = 0.0;
        for (const auto& [key, n] : joint) {
            sum += n * std::log(n / given[{key.begin(), key.end() - 1}]);
        }
        double n_parameters = static_cast<double>(arities[child] - child % 2) - 1.0;
        for (const std::int32_t p : parents) {
            n_parameters *= static_cast<double>(arities[static_cast<std::size_t>(p)] -
                                                static_cast<std::uint32_t>(p) % 2);
        }
        return sum / total - penalty * n_parameters;
    }
};

bool is_near(double a, double b) {
    return a == b || std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

void check_families(const Data& data, const bestdag::Weights& weights, int threads) {
    const double penalty = 0.01;
    const bestdag::Table table = data.table(weights);
    const bestdag::Kernel kernel = bestdag::make_node_average(penalty, data.has_missing());
    const auto n = static_cast<std::int32_t>(data.arities.size());
    std::vector<std::int32_t> children, parents;
    std::vector<std::int64_t> offsets{0};
    for (std::int32_t child = 0; child < n; ++child) {
        for (std::int32_t most = 0; most < n; ++most) {
            children.push_back(child);
            for (std::int32_t p = 0; p < most; ++p) {
                if (p != child) parents.push_back(p);
            }
            offsets.push_back(static_cast<std::int64_t>(parents.size()));
        }
    }
    std::vector<double> scores(children.size());
    bestdag::score_families(table, kernel, {children, offsets, parents}, scores, {threads, {}});
    bool holds = true;
    for (std::size_t i = 0; i < children.size(); ++i) {
        const std::vector<std::int32_t> given(parents.begin() + offsets[i],
                                              parents.begin() + offsets[i + 1]);
        const auto child = static_cast<std::size_t>(children[i]);
        holds = holds && is_near(scores[i], data.expected(child, given, weights, penalty));
    }
    check(holds, "scores over the rows that show a family");

    std::vector<std::vector<std::int32_t>> others(data.arities.size());
    std::vector<std::vector<double>> bonuses(data.arities.size());
    std::vector<bestdag::ParentLimits> limits;
    for (std::size_t child = 0; child < data.arities.size(); ++child) {
        for (std::int32_t p = 0; p < n; ++p) {
            if (static_cast<std::size_t>(p) != child) others[child].push_back(p);
        }
        bonuses[child].assign(others[child].size(), 0.0);
        limits.push_back({{}, others[child], others[child].size(), 0.0, bonuses[child]});
    }
    const auto sets =
        bestdag::candidate_sets(table, kernel, limits, {true, kForever, kForever}, {threads, {}});
    check(sets.n_scored.size() == data.arities.size(), "sets of every child are listed");
}

}  // namespace

int main() {
    for (const int threads : {1, 4}) {
        for (const Data& data : {Data(70, {3, 4, 2, 3}, 1), Data(9, {2, 200, 90, 150, 60}, 2),
                                 Data(1, {1, 2, 2, 2}, 3)}) {
            check_families(data, {}, threads);
            check_families(data, {data.whole.data(), nullptr}, threads);
            check_families(data, {nullptr, data.real.data()}, threads);
        }
    }
    return report();
}
