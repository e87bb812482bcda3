#include "graphs/width.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace bestdag {
namespace {

using Words = std::vector<std::uint64_t>;

// A graph that loses its nodes, and which are left.
struct Rest {
    BitGraph graph;
    Words left;
    std::size_t n_left;
};

bool is_left(const Rest& rest, std::size_t v) { return rest.left[v / 64] >> v % 64 & 1; }

std::vector<std::size_t> neighbours(const Rest& rest, std::size_t v) {
    std::vector<std::size_t> found;
    rest.graph.each(v, [&](std::size_t u) { found.push_back(u); });
    return found;
}

void eliminate(Rest& rest, std::size_t v) {
    const std::vector<std::size_t> around = neighbours(rest, v);
    for (const std::size_t a : around) {
        for (std::size_t w = 0; w < rest.graph.n_words(); ++w) {
            rest.graph.row(a)[w] |= rest.graph.row(v)[w];
        }
        rest.graph.unset(a, a);
        rest.graph.unset(a, v);
    }
    for (std::size_t w = 0; w < rest.graph.n_words(); ++w) rest.graph.row(v)[w] = 0;
    rest.left[v / 64] &= ~(std::uint64_t{1} << v % 64);
    --rest.n_left;
}

// How many pairs of neighbours of v are not joined.
std::size_t n_missing(const Rest& rest, const std::vector<std::size_t>& around) {
    std::size_t missing = 0;
    for (std::size_t a = 0; a < around.size(); ++a) {
        for (std::size_t b = a + 1; b < around.size(); ++b) {
            missing += !rest.graph.has(around[a], around[b]);
        }
    }
    return missing;
}

// Whether the neighbours of v are joined to each other, but for one of them.
bool is_almost_simplicial(const Rest& rest, const std::vector<std::size_t>& around) {
    const std::size_t missing = n_missing(rest, around);
    if (missing == 0) return true;
    if (missing >= around.size()) return false;
    for (const std::size_t one : around) {
        std::size_t of_one = 0;
        for (const std::size_t other : around) {
            of_one += other != one && !rest.graph.has(one, other);
        }
        if (of_one == missing) return true;
    }
    return false;
}

class Decider {
public:
    Decider(std::size_t width, std::size_t max_states) : width_(width), max_states_(max_states) {}

    Width decide(Rest rest) {
        if (!reduce(rest)) return Width::kWide;
        if (rest.n_left <= width_ + 1) return Width::kNarrow;
        if (!seen_.insert(rest.left).second) return Width::kWide;
        if (seen_.size() > max_states_) return Width::kUndecided;
        std::vector<std::pair<std::size_t, std::size_t>> next;  // (pairs to join, node)
        for (std::size_t v = 0; v < rest.graph.size(); ++v) {
            if (!is_left(rest, v)) continue;
            const std::vector<std::size_t> around = neighbours(rest, v);
            if (around.size() <= width_) next.emplace_back(n_missing(rest, around), v);
        }
        std::sort(next.begin(), next.end());
        for (const auto& [missing, v] : next) {
            Rest smaller = rest;
            eliminate(smaller, v);
            const Width found = decide(std::move(smaller));
            if (found != Width::kWide) return found;
        }
        return Width::kWide;
    }

private:
    // Eliminate what can be at no cost; false where a clique is too large.
    bool reduce(Rest& rest) const {
        for (bool again = true; again;) {
            again = false;
            for (std::size_t v = 0; v < rest.graph.size(); ++v) {
                if (!is_left(rest, v)) continue;
                const std::vector<std::size_t> around = neighbours(rest, v);
                if (around.size() > width_) {
                    if (n_missing(rest, around) == 0) return false;
                } else if (is_almost_simplicial(rest, around)) {
                    eliminate(rest, v);
                    again = true;
                }
            }
        }
        return true;
    }

    const std::size_t width_, max_states_;
    std::set<Words> seen_;
};

}  // namespace

Width bounded_width(BitGraph graph, std::size_t width, std::size_t max_states) {
    const std::size_t n = graph.size();
    Words left(graph.n_words(), 0);
    for (std::size_t v = 0; v < n; ++v) left[v / 64] |= std::uint64_t{1} << v % 64;
    return Decider(width, max_states).decide({std::move(graph), std::move(left), n});
}

}  // namespace bestdag
