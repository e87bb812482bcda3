// Trees of greatest weight and pair scores, for the sanitizers. Branchings are checked against all
// choices of parents, pair scores against scores of single families.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "scores/list.hpp"
#include "scoring/families.hpp"
#include "scoring/pair_scores.hpp"
#include "search/branching.hpp"
#include "tests/checks.hpp"

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

using Parents = std::vector<std::int32_t>;

bool is_acyclic(const Parents& parents) {
    for (std::size_t start = 0; start < parents.size(); ++start) {
        auto node = static_cast<std::int32_t>(start);
        for (std::size_t k = 0; k <= parents.size() && node >= 0; ++k) {
            node = parents[static_cast<std::size_t>(node)];
        }
        if (node >= 0) return false;
    }
    return true;
}

double total(const std::vector<double>& weights, const Parents& parents) {
    double sum = 0.0;
    for (std::size_t c = 0; c < parents.size(); ++c) {
        if (parents[c] >= 0)
            sum += weights[static_cast<std::size_t>(parents[c]) * parents.size() + c];
    }
    return sum;
}

// The greatest weight over all forests, by counting through all choices of parents.
double best_of_all(const std::vector<double>& weights, std::size_t n) {
    double best = kNone;
    Parents parents(n, -1);
    for (bool more = true; more;) {
        bool is_choice = is_acyclic(parents);
        for (std::size_t c = 0; c < n; ++c) is_choice &= parents[c] != static_cast<std::int32_t>(c);
        if (is_choice) best = std::max(best, total(weights, parents));
        more = false;
        for (std::size_t c = 0; c < n && !more; ++c) {
            more = ++parents[c] < static_cast<std::int32_t>(n);
            if (!more) parents[c] = -1;
        }
    }
    return best;
}

void check_branchings() {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> weight(-4, 6);
    const bestdag::StopFlag stop = false;
    for (std::size_t n = 1; n <= 5; ++n) {
        for (int k = 0; k < 60; ++k) {
            std::vector<double> weights(n * n);
            for (double& w : weights) w = k % 3 == 0 && weight(random) > 3 ? kNone : weight(random);
            Parents parents(n);
            const std::vector<double> roots(n, 0.0);
            check(bestdag::maximum_branching(weights, roots, false, parents, stop), "a branching");
            check(is_acyclic(parents), "acyclic");
            check(total(weights, parents) == best_of_all(weights, n), "the best branching");
            check(bestdag::maximum_branching(weights, roots, true, parents, stop), "a tree");
            check(is_acyclic(parents), "acyclic tree");
        }
    }
    const std::size_t n = 300;
    std::vector<double> weights(n * n);
    for (double& w : weights) w = weight(random);
    Parents parents(n);
    const std::vector<double> roots(n, 0.0);
    check(bestdag::maximum_branching(weights, roots, true, parents, stop), "a large tree");
    check(is_acyclic(parents), "acyclic large tree");
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) weights[i * n + j] = weights[j * n + i];
    }
    Parents undirected(n);
    bestdag::maximum_spanning_tree(weights, 7, undirected, stop);
    check(is_acyclic(undirected) && undirected[7] == -1, "a spanning tree");
    bestdag::maximum_branching(weights, roots, true, parents, stop);
    check(total(weights, undirected) == total(weights, parents), "Prim as good as Edmonds");
}

void check_pair_scores(std::size_t n_rows, const std::vector<std::uint32_t>& arities) {
    std::mt19937 random(2);
    std::vector<std::vector<std::uint16_t>> codes(arities.size());
    std::vector<bestdag::Column> table_columns;
    for (std::size_t c = 0; c < arities.size(); ++c) {
        std::uniform_int_distribution<std::uint32_t> state(0, arities[c] - 1);
        for (std::size_t i = 0; i < n_rows; ++i) {
            codes[c].push_back(static_cast<std::uint16_t>(state(random)));
        }
        table_columns.push_back({nullptr, codes[c].data(), arities[c]});
    }
    const bestdag::Table table(n_rows, table_columns, {});
    const bestdag::Execution execution{4, [] { return false; }};
    const std::vector<std::int32_t> given{2};
    std::vector<std::int32_t> columns;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(arities.size()); ++c) {
        if (c != 2) columns.push_back(c);
    }
    const std::size_t m = columns.size();
    for (const auto& kernel : {bestdag::make_bdeu(1.0), bestdag::make_fnml()}) {
        std::vector<double> scores(m * m, NAN);
        check(!bestdag::score_pairs(table, kernel, given, columns, 0.0, scores, execution),
              "no time, not all pairs");
        check(bestdag::score_pairs(table, kernel, given, columns, 1e9, scores, execution),
              "all pairs");
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < m; ++j) {
                std::vector<std::int32_t> parents{2};
                if (i != j) parents.insert(parents.begin() + (columns[i] > 2), columns[i]);
                const std::vector<std::int64_t> offsets{0,
                                                        static_cast<std::int64_t>(parents.size())};
                double expected = 0.0;
                bestdag::score_families(table, kernel, {{&columns[j], 1}, offsets, parents},
                                        {&expected, 1}, execution);
                check(std::abs(scores[i * m + j] - expected) <= 1e-9 * std::max(1.0, -expected),
                      "the score of a pair");
            }
        }
    }
}

}  // namespace

int main() {
    check_branchings();
    check_pair_scores(1, {2, 3, 2, 1});
    check_pair_scores(1000, {2, 3, 2, 4, 1, 5});
    check_pair_scores(20'000, {2, 3, 26, 4, 16, 16, 2, 2, 30});
    check_pair_scores(300, {60, 50, 40, 300});
    return report();
}
