#include "factors/elimination.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "factors/projection.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kStopEvery = 1u << 15;  // cells of a product between two looks at the flag
constexpr Axis kNone = ~Axis{0};

std::size_t n_cells_of(std::span<const Axis> axes, std::span<const std::uint32_t> lengths) {
    std::size_t n_cells = 1;
    for (const Axis axis : axes) n_cells *= lengths[axis];
    return n_cells;
}

// Products and sums in one semiring. Where rows are scaled, factors over the rows have these first.
template <class Semiring>
class Elimination {
    static constexpr bool kIsReal = std::is_same_v<Semiring, SumProduct>;

public:
    Elimination(std::span<const std::uint32_t> lengths, const StopFlag& stop)
        : lengths_(lengths), stop_(stop) {}

    // Scale what is made from now on: for each row of axis 0 (of this many), or as a whole.
    void scale_rows(std::size_t n_rows) { exponents_.assign(n_rows, 0); }

    double log_scale(std::size_t row) const {
        return static_cast<double>(exponents_[row]) * std::log(2.0);
    }

    // Sum out the axes of the order; what is left over the others.
    std::vector<Factor> eliminate(std::vector<Factor> factors, std::span<const Axis> order) {
        // Each factor waits for the first of its axes to be summed out, or for the end.
        const std::size_t n_steps = order.size();
        std::vector<std::size_t> turns(lengths_.size(), n_steps);
        for (std::size_t step = 0; step < n_steps; ++step) turns[order[step]] = step;
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
            axes.erase(std::find(axes.begin(), axes.end(), order[step]));
            put(multiply(touched, order[step], axes));
        }
        return std::move(waiting[n_steps]);
    }

    // The product of the factors, summed over one axis (or kNone): a table over `axes`.
    Factor multiply(std::span<const Factor> factors, Axis summed, std::vector<Axis> axes) {
        const std::size_t n_out = n_cells_of(axes, lengths_);
        const std::size_t n_summed = summed == kNone ? 1 : lengths_[summed];
        std::vector<Axis> all = axes;
        if (summed != kNone) all.push_back(summed);
        std::vector<std::uint32_t> large;
        for (const Axis axis : all) large.push_back(lengths_[axis]);

        auto product = std::make_unique_for_overwrite<double[]>(n_out * n_summed);
        std::fill_n(product.get(), n_out * n_summed, Semiring::kOne);
        std::vector<std::size_t> strides;
        for (const Factor& factor : factors) {
            strides.assign(all.size(), 0);
            std::size_t step = 1;
            for (std::size_t i = factor.axes.size(); i-- > 0;) {
                const auto place = std::find(all.begin(), all.end(), factor.axes[i]);
                strides[static_cast<std::size_t>(place - all.begin())] = step;
                step *= lengths_[factor.axes[i]];
            }
            Projection(large, strides).multiply<Semiring>(product.get(), factor.values, stop_);
        }
        Factor result{std::move(axes)};
        if (summed == kNone) {
            result.own = std::move(product);
        } else {
            result.own = std::make_unique_for_overwrite<double[]>(n_out);
            std::size_t since_check = 0;
            for (std::size_t i = 0; i < n_out; ++i) {
                result.own[i] = Projection::sum<Semiring>({product.get() + i * n_summed, n_summed});
                since_check += n_summed;
                if (since_check >= kStopEvery) {
                    check(stop_);
                    since_check = 0;
                }
            }
        }
        if (!exponents_.empty()) scale(result, n_out);
        result.values = result.own.get();
        return result;
    }

private:
    // Divide every row by the power of two below its largest number.
    void scale(Factor& factor, std::size_t n_cells) {
        if constexpr (kIsReal) {
            const bool has_rows =
                exponents_.size() > 1 && !factor.axes.empty() && factor.axes[0] == 0;
            const std::size_t n_rows = has_rows ? exponents_.size() : 1;
            const std::size_t stretch = n_cells / n_rows;
            for (std::size_t row = 0; row < n_rows; ++row) {
                const std::span<double> cells(factor.own.get() + row * stretch, stretch);
                const double most = *std::max_element(cells.begin(), cells.end());
                if (most == 0.0 || (most >= 0.5 && most < 2.0)) continue;
                const int exponent = std::max(std::ilogb(most), -1000);
                const double by = std::ldexp(1.0, -exponent);
                for (double& value : cells) value *= by;
                if (has_rows) {
                    exponents_[row] += exponent;
                } else {
                    for (std::int64_t& each : exponents_) each += exponent;
                }
            }
        }
    }

    std::span<const std::uint32_t> lengths_;
    const StopFlag& stop_;
    std::vector<std::int64_t> exponents_;  // none where nothing is scaled
};

// The factors themselves, out of their logarithms.
std::vector<Factor> exponentials(std::span<const Factor> logs,
                                 std::span<const std::uint32_t> lengths, const StopFlag& stop) {
    std::vector<Factor> factors;
    factors.reserve(logs.size());
    for (const Factor& log : logs) {
        const std::size_t n_cells = n_cells_of(log.axes, lengths);
        Factor& factor = factors.emplace_back(Factor{log.axes});
        factor.own = std::make_unique_for_overwrite<double[]>(n_cells);
        for (std::size_t i = 0; i < n_cells; ++i) {
            if (i % kStopEvery == 0) check(stop);
            factor.own[i] = std::exp(log.values[i]);
        }
        factor.values = factor.own.get();
    }
    return factors;
}

std::vector<Factor> shared(std::span<const Factor> factors) {
    std::vector<Factor> found;
    for (const Factor& factor : factors) found.push_back({factor.axes, factor.values});
    return found;
}

}  // namespace

Factor sum_product(std::vector<Factor> factors, const EliminationPlan& plan,
                   std::span<const Axis> keep, std::span<const std::uint32_t> lengths,
                   const StopFlag& stop) {
    Elimination<SumProduct> sums(lengths, stop);
    const std::vector<Factor> left = sums.eliminate(std::move(factors), plan.order);
    return sums.multiply(left, kNone, {keep.begin(), keep.end()});
}

void log_sum_product(std::span<const Factor> logs, std::span<const Axis> order,
                     std::span<const Axis> keep, std::span<const std::uint32_t> lengths,
                     std::span<double> out, const StopFlag& stop) {
    const bool has_rows = !keep.empty() && keep[0] == 0;
    const std::size_t n_rows = has_rows ? lengths[0] : 1;
    std::feclearexcept(FE_UNDERFLOW);
    {
        Elimination<SumProduct> sums(lengths, stop);
        sums.scale_rows(n_rows);
        const std::vector<Factor> left = sums.eliminate(exponentials(logs, lengths, stop), order);
        const Factor found = sums.multiply(left, kNone, {keep.begin(), keep.end()});
        const std::size_t stretch = out.size() / n_rows;
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = std::log(found.values[i]) + sums.log_scale(i / stretch);
        }
    }
    if (!std::fetestexcept(FE_UNDERFLOW)) return;
    Elimination<LogSumProduct> sums(lengths, stop);
    const std::vector<Factor> left = sums.eliminate(shared(logs), order);
    const Factor found = sums.multiply(left, kNone, {keep.begin(), keep.end()});
    std::copy_n(found.values, out.size(), out.begin());
}

std::vector<Factor> sum_out(std::span<const Factor> logs, std::span<const Axis> order,
                            std::span<const std::uint32_t> lengths, const StopFlag& stop) {
    std::feclearexcept(FE_UNDERFLOW);
    Elimination<SumProduct> sums(lengths, stop);
    sums.scale_rows(1);
    std::vector<Factor> left = sums.eliminate(exponentials(logs, lengths, stop), order);
    for (Factor& factor : left) {
        const std::size_t n_cells = n_cells_of(factor.axes, lengths);
        for (std::size_t i = 0; i < n_cells; ++i) factor.own[i] = std::log(factor.values[i]);
    }
    if (std::fetestexcept(FE_UNDERFLOW)) {
        Elimination<LogSumProduct> in_logs(lengths, stop);
        left = in_logs.eliminate(shared(logs), order);
        return left;
    }
    Factor& scale = left.emplace_back();
    scale.own = std::make_unique<double[]>(1);
    scale.own[0] = sums.log_scale(0);
    scale.values = scale.own.get();
    return left;
}

}  // namespace bestdag
