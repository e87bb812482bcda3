// Structures drawn from the posterior that is modular in the order, independently of each other:
// first an order, from its end, then the parents of each variable among those before it.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "base/philox.hpp"
#include "posterior/order_sums.hpp"

namespace bestdag {

// Needs the weights of `sums` by descending weight. Draw i is a function of the seed and i alone:
// out[i n + v] are the parents of v, log_weights[i] the sum of their logarithms. Throws
// Interrupted.
void draw_dags(const OrderSums& sums, const ParentWeights& weights, std::uint64_t seed,
               const Execution& execution, std::span<std::uint64_t> out,
               std::span<double> log_weights);

// The logarithm of the number of orders that each structure follows; parents[i n + v] are masks.
// Requires n <= 63. Throws Interrupted.
void log_linear_extensions(std::span<const std::uint64_t> parents, std::size_t n,
                           const Execution& execution, std::span<double> out);

}  // namespace bestdag
