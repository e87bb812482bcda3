// Random graphs and widths, for the sanitizers. Widths are checked against all orders of
// elimination, chains against their limits.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "graphs/graph_chain.hpp"
#include "graphs/width.hpp"
#include "tests/checks.hpp"

namespace {

using bestdag::BitGraph;
using bestdag::GraphChain;
using bestdag::GraphLimits;
using bestdag::Width;

std::size_t width_of(const BitGraph& graph) {
    std::vector<std::size_t> order(graph.size());
    std::iota(order.begin(), order.end(), 0);
    std::size_t best = graph.size();
    do {
        BitGraph left = graph;
        std::size_t width = 0;
        for (const std::size_t v : order) {
            std::vector<std::size_t> around;
            left.each(v, [&](std::size_t u) { around.push_back(u); });
            width = std::max(width, around.size());
            for (const std::size_t a : around) {
                for (const std::size_t b : around) {
                    if (a != b) left.join(a, b);
                }
                left.unset(a, v);
                left.unset(v, a);
            }
        }
        best = std::min(best, width);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

BitGraph random_graph(std::size_t n, double density, unsigned seed) {
    std::mt19937 random(seed);
    std::bernoulli_distribution is_joined(density);
    BitGraph graph(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (is_joined(random)) graph.join(i, j);
        }
    }
    return graph;
}

void check_widths() {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const BitGraph graph = random_graph(2 + seed % 6, 0.2 + 0.02 * seed, seed);
        const std::size_t width = width_of(graph);
        for (std::size_t limit = 0; limit < graph.size(); ++limit) {
            const Width found = bestdag::bounded_width(graph, limit);
            check(found == (width <= limit ? Width::kNarrow : Width::kWide), "a width");
        }
    }
    BitGraph grid(100);  // ten by ten: its width is 10
    for (std::size_t v = 0; v < 100; ++v) {
        if (v % 10 < 9) grid.join(v, v + 1);
        if (v < 90) grid.join(v, v + 10);
    }
    check(bestdag::bounded_width(grid, 2) == Width::kWide, "a grid is not narrow");
    check(bestdag::bounded_width(grid, 10) != Width::kWide, "nor wider than its side");
    check(bestdag::bounded_width(grid, 6, 50) != Width::kNarrow, "and it takes long to say");
}

void check_chain(std::size_t n, const GraphLimits& limits, std::uint64_t n_steps) {
    const bestdag::StopFlag stop = false;
    GraphChain chain(n, limits, {n, 7});
    chain.run(n_steps, stop);
    const std::vector<std::int32_t> arcs = chain.arcs();
    std::vector<std::size_t> degree(n, 0), parents(n, 0);
    for (std::size_t k = 0; k < arcs.size(); k += 2) {
        const auto parent = static_cast<std::size_t>(arcs[k]);
        const auto child = static_cast<std::size_t>(arcs[k + 1]);
        ++degree[parent];
        ++degree[child];
        ++parents[child];
    }
    check(arcs.size() / 2 + 1 >= n, "arcs enough to be connected");
    for (std::size_t v = 0; v < n; ++v) {
        check(degree[v] <= limits.degree && parents[v] <= limits.parents, "limits");
    }
}

void check_stop() {
    const bestdag::StopFlag stop = true;
    GraphChain chain(5, {}, {1, 2});
    bool is_stopped = false;
    try {
        chain.run(1000, stop);
    } catch (const bestdag::Interrupted&) {
        is_stopped = true;
    }
    check(is_stopped, "a chain stops when told to");
}

}  // namespace

int main() {
    check_widths();
    for (const std::size_t n : {1, 2, 3, 64, 65, 130}) {
        check_chain(n, {}, 3000);
        check_chain(n, {4, 2, GraphLimits::kNoLimit}, 20000);
        check_chain(n, {GraphLimits::kNoLimit, GraphLimits::kNoLimit, 3}, 1000);
    }
    check_stop();
    return report();
}
