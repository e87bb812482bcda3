#include "factors/elimination.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kStopEvery = 1u << 15;  // cells of a product between two looks at the flag
constexpr Axis kNone = ~Axis{0};

// One table of a product, walked along with the result.
struct Operand {
    const double* at;
    std::size_t along_sum;           // step of the axis that is summed out; 0 without it
    std::vector<std::size_t> along;  // steps of the result's axes; 0 where it has none

    Operand(const Factor& factor, Axis summed, std::span<const Axis> axes,
            std::span<const std::uint32_t> lengths)
        : at(factor.values), along_sum(0), along(axes.size(), 0) {
        std::size_t step = 1;
        for (std::size_t i = factor.axes.size(); i-- > 0;) {
            const Axis axis = factor.axes[i];
            if (axis == summed) {
                along_sum = step;
            } else {
                const auto place = std::find(axes.begin(), axes.end(), axis);
                along[static_cast<std::size_t>(place - axes.begin())] = step;
            }
            step *= lengths[axis];
        }
    }
};

// One stretch of the result, along its last axis.
void fill_stretch(std::span<const Operand> operands, std::size_t n_summed, std::span<double> out) {
    const std::size_t last = operands.empty() ? 0 : operands[0].along.size();
    const auto step = [&](const Operand& operand) { return last ? operand.along[last - 1] : 0; };
    if (operands.size() == 2) {  // the most frequent case
        const Operand& a = operands[0];
        const Operand& b = operands[1];
        const std::size_t step_a = step(a);
        const std::size_t step_b = step(b);
        for (std::size_t t = 0; t < out.size(); ++t) {
            const double* const from_a = a.at + t * step_a;
            const double* const from_b = b.at + t * step_b;
            double sum = 0.0;
            for (std::size_t s = 0; s < n_summed; ++s) {
                sum += from_a[s * a.along_sum] * from_b[s * b.along_sum];
            }
            out[t] = sum;
        }
        return;
    }
    for (std::size_t t = 0; t < out.size(); ++t) {
        double sum = 0.0;
        for (std::size_t s = 0; s < n_summed; ++s) {
            double product = 1.0;
            for (const Operand& operand : operands) {
                product *= operand.at[t * step(operand) + s * operand.along_sum];
            }
            sum += product;
        }
        out[t] = sum;
    }
}

// The product of the factors, summed over one axis (or kNone): a table over `axes`.
Factor multiply(std::span<const Factor> factors, Axis summed, std::vector<Axis> axes,
                std::span<const std::uint32_t> lengths, const StopFlag& stop) {
    std::vector<Operand> operands;
    operands.reserve(factors.size());
    for (const Factor& factor : factors) operands.emplace_back(factor, summed, axes, lengths);
    std::size_t n_cells = 1;
    for (const Axis axis : axes) n_cells *= lengths[axis];
    const std::size_t n_summed = summed == kNone ? 1 : lengths[summed];
    const std::size_t stretch = axes.empty() ? 1 : lengths[axes.back()];

    Factor result{std::move(axes), nullptr, std::make_unique_for_overwrite<double[]>(n_cells)};
    std::vector<std::uint32_t> codes(result.axes.size(), 0);
    std::size_t since_check = 0;
    for (std::size_t done = 0; done < n_cells; done += stretch) {
        fill_stretch(operands, n_summed, {result.own.get() + done, stretch});
        since_check += stretch * n_summed;
        if (since_check >= kStopEvery) {
            check(stop);
            since_check = 0;
        }
        for (std::size_t i = codes.size() > 0 ? codes.size() - 1 : 0; i-- > 0;) {
            const std::uint32_t length = lengths[result.axes[i]];
            const bool is_over = ++codes[i] == length;
            for (Operand& operand : operands) {
                operand.at += operand.along[i];
                if (is_over) operand.at -= operand.along[i] * length;
            }
            if (!is_over) break;
            codes[i] = 0;
        }
    }
    result.values = result.own.get();
    return result;
}

}  // namespace

Factor sum_product(std::vector<Factor> factors, const EliminationPlan& plan,
                   std::span<const Axis> keep, std::span<const std::uint32_t> lengths,
                   const StopFlag& stop) {
    // Each factor waits for the first of its axes to be summed out, or for the end.
    const std::size_t n_steps = plan.order.size();
    std::vector<std::size_t> turns(lengths.size(), n_steps);
    for (std::size_t step = 0; step < n_steps; ++step) turns[plan.order[step]] = step;
    std::vector<std::vector<Factor>> waiting(n_steps + 1);
    const auto put = [&](Factor factor) {
        std::size_t turn = n_steps;
        for (const Axis axis : factor.axes) turn = std::min(turn, turns[axis]);
        waiting[turn].push_back(std::move(factor));
    };
    for (Factor& factor : factors) put(std::move(factor));
    std::vector<Axis> axes;
    for (std::size_t step = 0; step < n_steps; ++step) {
        const std::vector<Factor> touched = std::move(waiting[step]);
        axes.clear();
        for (const Factor& factor : touched) {
            axes.insert(axes.end(), factor.axes.begin(), factor.axes.end());
        }
        std::sort(axes.begin(), axes.end());
        axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
        axes.erase(std::find(axes.begin(), axes.end(), plan.order[step]));
        put(multiply(touched, plan.order[step], axes, lengths, stop));
    }
    return multiply(waiting[n_steps], kNone, {keep.begin(), keep.end()}, lengths, stop);
}

}  // namespace bestdag
