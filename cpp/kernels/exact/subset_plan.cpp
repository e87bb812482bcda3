#include <algorithm>
#include <cmath>

#include "exact/subset_dp.hpp"
#include "exact/subset_lattice.hpp"
#include "exact/subset_values.hpp"

namespace bestdag {

namespace {

constexpr double kBytesPerStep = 320;  // a step and the subset it leads to, in vectors that grow
// With fewer bits in the middle the arena is smaller, by a seventh from the first to the last.
// Fewer than these would cost more time than an ordered pair, which saves a quarter.
constexpr int kLayerMiddle[] = {6, 5, 4, 3};
// Beyond this many runs nobody waits for the last.
constexpr int kMostPairs = 12;

double working_bytes(const Division& division, std::size_t n_sets, int threads,
                     std::size_t bytes_per_cell) {
    const auto cell = static_cast<double>(bytes_per_cell);
    const auto levels = static_cast<double>(division.middle + 1);
    const double walk = levels * division.n * static_cast<double>(division.block_cells()) * cell +
                        (levels + 2) * static_cast<double>(n_sets) * 16.0;
    const double tops = std::exp2(division.top);
    return std::min<double>(threads, tops) * walk + static_cast<double>(n_sets) * 32.0 +
           8.0 * tops + most_steps(division.n) * kBytesPerStep;
}

}  // namespace

double most_steps(int n) {
    return std::clamp(std::exp2(n) / 4096, 1.0 * (1 << 14), 1.0 * (1 << 20));
}

Division SubsetPlan::flat(int n) const {
    const Division division(n);
    return {n, division.within, std::min(division.middle, most_middle)};
}

SubsetPlan plan_subsets(int n, std::size_t n_sets, int threads, std::size_t bytes_per_cell,
                        double room, int most_middle) {
    const auto cell = static_cast<double>(bytes_per_cell);
    SubsetPlan plan;
    plan.most_middle = most_middle;
    const Division flat = plan.flat(n);
    plan.cells = plan.visited = std::exp2(flat.n);
    plan.bytes = plan.cells * cell + working_bytes(flat, n_sets, threads, bytes_per_cell);
    if (plan.bytes <= room || flat.top == 0) return plan;
    for (int pairs = 0; pairs <= kMostPairs; ++pairs) {
        for (const int middle : kLayerMiddle) {
            const Division division(n, Division::kWithinBits, middle);
            if (2 * pairs > division.top) continue;
            const std::vector<double> sizes = layer_sizes(division.top, pairs);
            const auto task = static_cast<double>(division.task_cells());
            double tops = 0.0;
            for (const double size : sizes) tops += size;
            SubsetPlan smaller;
            smaller.most_middle = most_middle;
            smaller.within = division.within;
            smaller.middle = division.middle;
            smaller.pairs = pairs;
            smaller.cells = largest_neighbours(sizes) * task;
            smaller.visited = tops * task * smaller.runs();
            smaller.bytes =
                smaller.cells * cell + working_bytes(division, n_sets, threads, bytes_per_cell);
            if (smaller.bytes < plan.bytes) plan = smaller;
            if (plan.bytes > room || plan.pairs != pairs || plan.middle != middle) continue;
            // What is left over keeps more layers for the way down.
            const double most = std::min(tops * task, (room - plan.bytes) / cell + plan.cells);
            const double kept = std::floor(most / task) * task;
            plan.bytes += (kept - plan.cells) * cell;
            plan.cells = kept;
            return plan;
        }
    }
    return plan;
}

}  // namespace bestdag
