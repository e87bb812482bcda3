#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "factors/elimination.hpp"

namespace bestdag {

namespace {

// Cells that are worth many orders.
constexpr double kMuchWork = 1u << 22;

enum class Rule { kSize, kNewPairs, kWeightedNewPairs };

// Which axes meet in a table: one row of bits per axis.
class Neighbours {
public:
    explicit Neighbours(std::size_t n) : words_((n + 63) / 64), bits_(n * words_) {}

    void join(std::span<const Axis> axes) {
        for (const Axis a : axes) {
            for (const Axis b : axes) {
                if (a != b) row(a)[b / 64] |= std::uint64_t{1} << (b % 64);
            }
        }
    }

    template <class Use>
    void for_each(Axis axis, const Use& use) const {
        for (std::size_t w = 0; w < words_; ++w) {
            for (std::uint64_t left = row(axis)[w]; left != 0; left &= left - 1) {
                use(static_cast<Axis>(w * 64 + static_cast<std::size_t>(std::countr_zero(left))));
            }
        }
    }

    // Neighbours of `axis` that are neither `other` nor neighbours of it.
    template <class Use>
    void for_each_beyond(Axis axis, Axis other, const Use& use) const {
        for_each(axis, [&](Axis found) {
            if (found != other && !((row(other)[found / 64] >> (found % 64)) & 1)) use(found);
        });
    }

    // All neighbours of the axis meet; it leaves.
    void eliminate(Axis axis) {
        const std::uint64_t* const around = row(axis);
        for_each(axis, [&](Axis other) {
            std::uint64_t* const to = row(other);
            for (std::size_t w = 0; w < words_; ++w) to[w] |= around[w];
            to[other / 64] &= ~(std::uint64_t{1} << (other % 64));
            to[axis / 64] &= ~(std::uint64_t{1} << (axis % 64));
        });
    }

private:
    std::uint64_t* row(Axis axis) { return bits_.data() + axis * words_; }
    const std::uint64_t* row(Axis axis) const { return bits_.data() + axis * words_; }

    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

double product_bits(const Neighbours& neighbours, Axis axis, std::span<const double> bits) {
    double sum = bits[axis];
    neighbours.for_each(axis, [&](Axis other) { sum += bits[other]; });
    return sum;
}

// What eliminating the axis would bring together that was apart.
double new_pairs(const Neighbours& neighbours, Axis axis, std::span<const double> bits, Rule rule) {
    if (rule == Rule::kSize) return 0.0;
    double sum = 0.0;
    neighbours.for_each(axis, [&](Axis a) {
        neighbours.for_each_beyond(
            axis, a, [&](Axis b) { sum += rule == Rule::kNewPairs ? 1.0 : bits[a] * bits[b]; });
    });
    return sum;
}

struct Cost {
    double rule;
    double size;  // log2 of the cells of the product
    std::uint64_t tie;
    Axis axis;
    auto operator<=>(const Cost&) const = default;
};

// The order among equals: by number in round 0, shuffled in others (SplitMix64, Steele et al.
// 2014).
std::uint64_t tie_of(Axis axis, std::uint64_t round) {
    if (round == 0) return axis;
    std::uint64_t z = (round << 32 | axis) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

EliminationPlan greedy(Neighbours neighbours, std::span<const Axis> eliminated,
                       std::span<const double> bits, std::span<const double> room, Rule rule,
                       const StopFlag* stop, std::uint64_t round = 0) {
    EliminationPlan plan{{}, 0.0, 0.0};
    std::vector<Cost> costs;
    std::vector<std::size_t> places(bits.size(), ~std::size_t{0});  // in costs
    const auto cost = [&](Axis axis) {
        return Cost{new_pairs(neighbours, axis, bits, rule), product_bits(neighbours, axis, bits),
                    tie_of(axis, round), axis};
    };
    for (const Axis axis : eliminated) {
        if (stop) check(*stop);
        places[axis] = costs.size();
        costs.push_back(cost(axis));
    }
    while (!costs.empty()) {
        if (stop) check(*stop);
        const auto best = std::min_element(costs.begin(), costs.end());
        const Axis axis = best->axis;
        plan.order.push_back(axis);
        plan.log2_cells = std::max(plan.log2_cells, product_bits(neighbours, axis, room));
        plan.work += std::exp2(std::min(best->size, 1000.0));
        places[costs.back().axis] = places[axis];
        places[axis] = ~std::size_t{0};
        *best = costs.back();
        costs.pop_back();
        neighbours.eliminate(axis);
        neighbours.for_each(axis, [&](Axis other) {
            if (places[other] != ~std::size_t{0}) costs[places[other]] = cost(other);
        });
    }
    return plan;
}

}  // namespace

EliminationPlan plan_elimination(std::span<const Factor> factors, std::span<const Axis> keep,
                                 std::span<const double> bits, std::span<const double> room,
                                 double cheap, std::size_t n_rounds, const StopFlag* stop) {
    Neighbours neighbours(bits.size());
    std::vector<std::uint8_t> is_waiting(bits.size(), 0);
    for (const Factor& factor : factors) {
        neighbours.join(factor.axes);
        for (const Axis axis : factor.axes) is_waiting[axis] = 1;
    }
    double kept = 0.0;
    for (const Axis axis : keep) {
        is_waiting[axis] = 0;
        kept += room[axis];
    }
    std::vector<Axis> eliminated;
    for (Axis axis = 0; axis < bits.size(); ++axis) {
        if (is_waiting[axis]) eliminated.push_back(axis);
    }
    EliminationPlan best = greedy(neighbours, eliminated, bits, room, Rule::kSize, stop);
    if (best.work > cheap) {
        for (const Rule rule : {Rule::kNewPairs, Rule::kWeightedNewPairs}) {
            EliminationPlan other = greedy(neighbours, eliminated, bits, room, rule, stop);
            if (other.work < best.work) best = std::move(other);
        }
    }
    // Where much is at stake, other orders among equals are tried too.
    for (std::size_t round = 1; round <= n_rounds && best.work > kMuchWork; ++round) {
        for (const Rule rule : {Rule::kNewPairs, Rule::kWeightedNewPairs}) {
            EliminationPlan other = greedy(neighbours, eliminated, bits, room, rule, stop, round);
            if (other.work < best.work) best = std::move(other);
        }
    }
    best.log2_cells = std::max(best.log2_cells, kept);
    return best;
}

std::vector<std::vector<Axis>> elimination_cliques(std::span<const Factor> factors,
                                                   std::span<const Axis> order,
                                                   std::size_t n_axes) {
    Neighbours neighbours(n_axes);
    for (const Factor& factor : factors) neighbours.join(factor.axes);
    std::vector<std::vector<Axis>> met(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        neighbours.for_each(order[i], [&](Axis other) { met[i].push_back(other); });
        neighbours.eliminate(order[i]);
    }
    return met;
}

}  // namespace bestdag
