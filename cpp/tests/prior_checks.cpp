// Runs the kernels of scores whose settings name variables, for the sanitizers: small products
// against enumeration, rows against whole tables, refusals and interruption on many threads.
// Exits 0 when all is well.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "scores/bd_tables.hpp"
#include "scores/bde.hpp"
#include "scores/list.hpp"
#include "scoring/all_families.hpp"
#include "scoring/candidate_sets.hpp"
#include "scoring/families.hpp"
#include "tests/checks.hpp"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

// A network whose node i has the two nodes before it as parents, turned about.
struct Network {
    std::vector<std::int32_t> arities, axes, nodes;
    std::vector<std::int64_t> ends{0};
    std::vector<double> values;

    explicit Network(std::vector<std::int32_t> arities_, unsigned seed)
        : arities(std::move(arities_)) {
        std::mt19937 random(seed);
        for (std::size_t i = 0; i < arities.size(); ++i) {
            std::size_t n_rows = 1;
            for (std::size_t back = 1; back <= std::min<std::size_t>(i, 2); ++back) {
                axes.push_back(static_cast<std::int32_t>(i - back));
                n_rows *= static_cast<std::size_t>(arities[i - back]);
            }
            axes.push_back(static_cast<std::int32_t>(i));
            ends.push_back(static_cast<std::int64_t>(axes.size()));
            nodes.push_back(static_cast<std::int32_t>(i));
            for (std::size_t row = 0; row < n_rows; ++row) {
                std::vector<double> shares;
                double sum = 0.0;
                for (std::int32_t k = 0; k < arities[i]; ++k) {
                    shares.push_back(static_cast<double>(1 + random() % 100));
                    sum += shares.back();
                }
                for (const double share : shares) values.push_back(share / sum);
            }
        }
    }

    bestdag::NetworkArrays arrays() const { return {arities, ends, axes, values, nodes}; }

    // P of a whole configuration.
    double probability(const std::vector<std::uint32_t>& codes) const {
        double p = 1.0;
        std::size_t first = 0;
        for (std::size_t i = 0; i < arities.size(); ++i) {
            std::size_t cell = 0;
            std::size_t n_cells = 1;
            for (auto k = static_cast<std::size_t>(ends[i]);
                 k < static_cast<std::size_t>(ends[i + 1]); ++k) {
                const auto axis = static_cast<std::size_t>(axes[k]);
                cell = cell * static_cast<std::size_t>(arities[axis]) + codes[axis];
                n_cells *= static_cast<std::size_t>(arities[axis]);
            }
            p *= values[first + cell];
            first += n_cells;
        }
        return p;
    }

    // P of some nodes' codes: the sum over all configurations that have them.
    double probability(const std::vector<std::size_t>& of, const std::vector<std::uint32_t>& is) {
        std::vector<std::uint32_t> codes(arities.size(), 0);
        double sum = 0.0;
        for (;;) {
            bool agrees = true;
            for (std::size_t i = 0; i < of.size(); ++i) agrees &= codes[of[i]] == is[i];
            if (agrees) sum += probability(codes);
            std::size_t i = 0;
            while (i < codes.size() && ++codes[i] == static_cast<std::uint32_t>(arities[i])) {
                codes[i++] = 0;
            }
            if (i == codes.size()) return sum;
        }
    }
};

void check_marginals() {
    Network network({2, 3, 1, 4, 2, 3}, 1);
    const bestdag::PriorMarginals marginals(network.arrays(), kInfinity);
    const bestdag::StopFlag stop = false;
    const std::vector<std::int32_t> parents{0, 2, 5};
    const bestdag::Family family{3, parents};
    const auto joint = marginals.joint(family, stop);
    std::vector<std::uint32_t> codes;
    for (std::uint32_t a = 0; a < 2; ++a) {
        for (std::uint32_t f = 0; f < 3; ++f) codes.insert(codes.end(), {a, 0, f});
    }
    std::vector<double> rows(6 * 4);
    marginals.rows(family, codes, 6, rows, stop);
    for (std::uint32_t a = 0; a < 2; ++a) {
        for (std::uint32_t f = 0; f < 3; ++f) {
            for (std::uint32_t d = 0; d < 4; ++d) {
                const double expected = network.probability({0, 3, 5}, {a, d, f});
                check(is_near(joint->values[(a * 4 + d) * 3 + f], expected), "a joint table");
                check(is_near(rows[(a * 3 + f) * 4 + d], expected), "a joint table by rows");
            }
        }
    }
}

// Columns of the data at random, and every family with at most four parents among the first ones.
struct Data {
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<bestdag::Column> columns;
    std::vector<double> weights;
    std::vector<std::int32_t> children, parents;
    std::vector<std::int64_t> offsets{0};

    Data(std::size_t n_rows, const std::vector<std::int32_t>& arities, unsigned seed)
        : codes(arities.size()) {
        std::mt19937 random(seed);
        for (std::size_t i = 0; i < arities.size(); ++i) {
            const auto arity = static_cast<std::uint32_t>(arities[i]);
            for (std::size_t row = 0; row < n_rows; ++row) {
                codes[i].push_back(static_cast<std::uint8_t>(random() % arity));
            }
            columns.push_back({codes[i].data(), nullptr, arity});
            for (std::size_t k = 0; k <= std::min<std::size_t>(4, arities.size() - 1); ++k) {
                children.push_back(static_cast<std::int32_t>(i));
                for (std::size_t p = 0, n = 0; n < k; ++p) {
                    if (p == i) continue;
                    parents.push_back(static_cast<std::int32_t>(p));
                    ++n;
                }
                offsets.push_back(static_cast<std::int64_t>(parents.size()));
            }
        }
        for (std::size_t row = 0; row < n_rows; ++row) {
            weights.push_back(static_cast<double>(random() % 100) / 8.0);
        }
    }
    bestdag::FamilyList families() const { return {children, offsets, parents}; }
};

// A network without arcs whose states are equally likely makes BDe BDeu, and tables of one number
// make BD that with one pseudo-count, on every road.
void check_scores(std::size_t n_rows, const std::vector<std::int32_t>& arities,
                  const bestdag::Execution& execution) {
    const Data data(n_rows, arities, 3);
    std::vector<std::int64_t> ends{0};
    std::vector<std::int32_t> axes;
    std::vector<double> uniform;
    for (std::size_t i = 0; i < arities.size(); ++i) {
        axes.push_back(static_cast<std::int32_t>(i));
        ends.push_back(static_cast<std::int64_t>(axes.size()));
        uniform.insert(uniform.end(), static_cast<std::size_t>(arities[i]), 1.0 / arities[i]);
    }
    const bestdag::FamilyList families = data.families();
    std::vector<std::int64_t> first_values;
    std::vector<double> halves;
    const bestdag::Table plain(n_rows, data.columns, {});
    for (std::size_t i = 0; i < families.size(); ++i) {
        first_values.push_back(static_cast<std::int64_t>(halves.size()));
        const bestdag::FamilyShape shape = bestdag::shape_of(plain, families[i]);
        const double n_cells = shape.n_configurations * static_cast<double>(shape.arity);
        if (n_cells < 1e6) halves.resize(halves.size() + static_cast<std::size_t>(n_cells), 0.5);
    }
    const bestdag::Kernel twins[][2] = {
        {bestdag::make_bde(2.0, {arities, ends, axes, uniform, axes}, 1e12),
         bestdag::make_bdeu(2.0)},
        {bestdag::make_bd_tables(families, first_values, halves), bestdag::make_bd(0.5)}};
    const bool has_tables = halves.size() < 1'000'000;
    for (const bestdag::Weights& weights :
         {bestdag::Weights{}, bestdag::Weights{nullptr, data.weights.data()}}) {
        const bestdag::Table table(n_rows, data.columns, weights);
        for (std::size_t t = 0; t < (has_tables ? 2u : 1u); ++t) {
            std::vector<double> got(families.size()), expected(families.size());
            bestdag::score_families(table, twins[t][0], families, got, execution);
            bestdag::score_families(table, twins[t][1], families, expected, execution);
            for (std::size_t i = 0; i < got.size(); ++i) {
                check(is_near(got[i], expected[i]), "a score whose settings name variables");
            }
        }
        std::vector<double> got(arities.size() * 64), expected(got.size());
        bestdag::score_all_families(table, twins[0][0], 2, got, execution);
        bestdag::score_all_families(table, twins[0][1], 2, expected, execution);
        for (std::size_t i = 0; i < got.size(); ++i) {
            check(is_near(got[i], expected[i]), "BDe as a difference of a set function");
        }
    }
}

void check_refusals(const bestdag::Execution& execution) {
    Network network({2, 3, 2, 2, 3}, 2);
    const Data data(50'000, network.arities, 4);
    const bestdag::Table table(50'000, data.columns, {});
    const bestdag::FamilyList families = data.families();
    std::vector<double> scores(families.size());
    const auto is_refused = [&](const bestdag::Kernel& kernel, bool by_memory) {
        try {
            bestdag::score_families(table, kernel, families, scores, execution);
        } catch (const bestdag::RefusedFamily& error) {
            return (error.n_bytes > 0.0) == by_memory;
        }
        return false;
    };
    check(is_refused(bestdag::make_bde(1.0, network.arrays(), 20.0), true), "no room");
    network.nodes[3] = -1;
    check(is_refused(bestdag::make_bde(1.0, network.arrays(), 1e9), false), "an unknown node");
    check(is_refused(bestdag::make_bd_tables({{}, data.offsets, {}}, {}, {}), false), "no table");
}

void check_interruption() {
    // Eliminating 24 roots that meet in one chain takes seconds.
    Network network({2}, 0);
    network = Network(std::vector<std::int32_t>(24, 2), 0);
    network.axes.clear();
    network.ends = {0};
    network.values.clear();
    for (std::int32_t i = 0; i < 24; ++i) {
        network.axes.push_back(i);
        network.ends.push_back(i + 1);
        network.values.insert(network.values.end(), {0.5, 0.5});
    }
    std::int32_t last = -1;
    for (std::int32_t i = 0; i < 24; ++i) {
        for (std::int32_t j = 0; j < i; ++j) {
            if (last >= 0) network.axes.push_back(last);
            const std::size_t n_rows = last >= 0 ? 8 : 4;
            last = static_cast<std::int32_t>(network.arities.size());
            network.arities.push_back(2);
            network.axes.insert(network.axes.end(), {i, j, last});
            network.ends.push_back(static_cast<std::int64_t>(network.axes.size()));
            for (std::size_t row = 0; row < n_rows; ++row) {
                network.values.insert(network.values.end(), {0.25, 0.75});
            }
        }
    }
    network.nodes = {last};
    const Data data(3, {2}, 5);
    const bestdag::Table table(3, data.columns, {});
    const bestdag::Execution execution{2, [] { return true; }};
    const bestdag::Kernel kernel = bestdag::make_bde(1.0, network.arrays(), 1e12);
    double score;
    try {
        bestdag::score_families(table, kernel, data.families(), {&score, 1}, execution);
        check(false, "a large product is interrupted");
    } catch (const bestdag::Interrupted&) {
    }
}

}  // namespace

int main() {
    const bestdag::Execution execution{4, [] { return false; }};
    check_marginals();
    for (const std::size_t n_rows : {1u, 65u, 5000u}) {
        check_scores(n_rows, {2, 3, 2, 4, 1}, execution);
        check_scores(n_rows, {30, 20, 2, 200, 3}, execution);  // sorted rows, row by row
    }
    check_refusals(execution);
    check_interruption();
    return report();
}
