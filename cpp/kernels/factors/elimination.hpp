// Sums of products of tables, one variable after the other. The one place where tables are
// multiplied without a tree: missing cells, prior marginals and marginal MAP stand on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace bestdag {

using Axis = std::uint32_t;

// A table with one axis per variable, the last varying fastest. No axis occurs twice.
struct Factor {
    std::vector<Axis> axes = {};
    const double* values = nullptr;  // owned elsewhere, or by `own`
    std::unique_ptr<double[]> own = {};
};

struct EliminationPlan {
    std::vector<Axis> order;  // every axis that is not kept
    double log2_cells;        // of the largest product, by room
    double work;              // cells of all products, by bits
};

// Chooses greedily: next comes the axis whose product is smallest, ties by number; where that
// means much work, two more rules are tried, fewest new pairs of axes that meet in a table, and
// the same weighted by size. `bits` has log2 of the length of each axis, for the choice, and
// `room` the same for the measure of memory. Up to `cheap` cells, a second opinion on the order
// costs more than it can save; from 4 million cells on, ties are broken in `n_rounds` more ways.
// Looks at the flag, if there is one, at every axis.
EliminationPlan plan_elimination(std::span<const Factor> factors, std::span<const Axis> keep,
                                 std::span<const double> bits, std::span<const double> room,
                                 double cheap = 1u << 18, std::size_t n_rounds = 0,
                                 const StopFlag* stop = nullptr);

// What planning takes at least, for so many axes.
constexpr double plan_nanoseconds(std::size_t n_axes) noexcept {
    return 300.0 * static_cast<double>(n_axes) * static_cast<double>(n_axes);
}

// The axes that each axis of the order meets when it is summed out.
std::vector<std::vector<Axis>> elimination_cliques(std::span<const Factor> factors,
                                                   std::span<const Axis> order, std::size_t n_axes);

// Multiplies all factors and sums out the axes of the plan; the result has the axes `keep`, in
// this order. `lengths` has the length of each axis. Looks at the flag every few microseconds.
Factor sum_product(std::vector<Factor> factors, const EliminationPlan& plan,
                   std::span<const Axis> keep, std::span<const std::uint32_t> lengths,
                   const StopFlag& stop);

// The same with logarithms in and out. Axis 0 may be one of rows, which are kept; they are scaled
// each for itself, so that nothing underflows. `out` has a cell for each of the axes kept.
void log_sum_product(std::span<const Factor> logs, std::span<const Axis> order,
                     std::span<const Axis> keep, std::span<const std::uint32_t> lengths,
                     std::span<double> out, const StopFlag& stop);

// Only sums out these axes: what is left is several factors over the others, as logarithms.
std::vector<Factor> sum_out(std::span<const Factor> logs, std::span<const Axis> order,
                            std::span<const std::uint32_t> lengths, const StopFlag& stop);

}  // namespace bestdag
