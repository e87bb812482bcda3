#include "posterior/dag_draws.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "independence/random_tables.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerDraw = 1e5, kNanosecondsPerCount = 1e5;

std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }

// Draw the last variable of an order of `set`.
std::size_t draw_last(const OrderSums& sums, std::uint64_t set, double choice) {
    const double total = sums.log_prefixes(set);
    double sum = 0.0;
    std::size_t found = 0;
    for (std::uint64_t left = set; left != 0 && sum < choice; left &= left - 1) {
        const auto v = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t before = set & ~bit(v);
        const double term = sums.log_inside(v, before) + sums.log_prefixes(before);
        if (term == kLogZero) continue;
        sum += std::exp(term - total);
        found = v;
    }
    return found;
}

// Variables that are linked to each other, over any number of arcs.
std::vector<std::uint64_t> components(const std::uint64_t* parents, std::size_t n) {
    std::vector<std::uint64_t> found;
    for (std::size_t v = 0; v < n; ++v) {
        std::uint64_t joined = parents[v] | bit(v);
        std::vector<std::uint64_t> apart;
        for (const std::uint64_t other : found) {
            if (other & joined) {
                joined |= other;
            } else {
                apart.push_back(other);
            }
        }
        apart.push_back(joined);
        found = std::move(apart);
    }
    return found;
}

// Orders of one component: the sum over ways to grow it, a variable after its parents.
double n_orders(const std::uint64_t* parents, std::uint64_t members, const StopFlag& stop) {
    std::unordered_map<std::uint64_t, double> reached{{0, 1.0}};
    for (int size = std::popcount(members); size > 0; --size) {
        std::unordered_map<std::uint64_t, double> next;
        for (const auto& [set, count] : reached) {
            check(stop);
            for (std::uint64_t left = members & ~set; left != 0; left &= left - 1) {
                const auto v = static_cast<std::size_t>(std::countr_zero(left));
                if ((parents[v] & ~set) == 0) next[set | bit(v)] += count;
            }
        }
        reached = std::move(next);
    }
    return reached.at(members);
}

}  // namespace

void draw_dags(const OrderSums& sums, const ParentWeights& weights, std::uint64_t seed,
               const Execution& execution, std::span<std::uint64_t> out,
               std::span<double> log_weights) {
    const std::size_t n = sums.n();
    parallel_for(log_weights.size(), kNanosecondsPerDraw * static_cast<double>(log_weights.size()),
                 execution, [&](std::size_t i, const StopFlag&) {
                     RandomStream random(PhiloxKey{seed, i});
                     std::uint64_t set = (n == 64 ? 0 : bit(n)) - 1;
                     log_weights[i] = 0.0;
                     while (set != 0) {
                         const std::size_t v = draw_last(sums, set, random.uniform());
                         set &= ~bit(v);
                         const std::size_t chosen = weights.draw_within(
                             v, &set, nullptr, sums.log_inside(v, set), random.uniform());
                         out[i * n + v] = *weights.set(chosen);
                         log_weights[i] += weights.log_weight(chosen);
                     }
                 });
}

void log_linear_extensions(std::span<const std::uint64_t> parents, std::size_t n,
                           const Execution& execution, std::span<double> out) {
    parallel_for(out.size(), kNanosecondsPerCount * static_cast<double>(out.size()), execution,
                 [&](std::size_t i, const StopFlag& stop) {
                     const std::uint64_t* const mine = parents.data() + i * n;
                     double sum = 0.0;  // orders of the components, mixed in any way
                     std::size_t placed = 0;
                     for (const std::uint64_t members : components(mine, n)) {
                         sum += std::log(n_orders(mine, members, stop));
                         for (int k = std::popcount(members); k > 0; --k) {
                             sum += std::log(static_cast<double>(++placed)) -
                                    std::log(static_cast<double>(k));
                         }
                     }
                     out[i] = sum;
                 });
}

}  // namespace bestdag
