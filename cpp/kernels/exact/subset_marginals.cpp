#include "exact/subset_marginals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/cells.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerStep = 0.5;    // of a transform: one cell and one variable
constexpr double kNanosecondsPerChoice = 2.0;  // of a recursion
constexpr std::size_t kCellsPerLook = std::size_t{1} << 18;

// One problem and its cells. The cells of variable v are numbered by subsets of the others: the
// bits above v move down by one.
class Marginals {
public:
    Marginals(const std::vector<std::vector<MarginalSet>>& sets, const Execution& execution)
        : sets_(sets),
          execution_(execution),
          n_(sets.size()),
          n_subsets_(std::size_t{1} << n_),
          half_(n_subsets_ / 2),
          own_(n_ * half_),
          forward_(n_subsets_),
          backward_(n_subsets_) {}

    std::vector<std::vector<std::uint32_t>> run() {
        const auto n = static_cast<double>(n_);
        const double transforms = kNanosecondsPerStep * n * n * static_cast<double>(half_);
        const double choices = kNanosecondsPerChoice * n * static_cast<double>(n_subsets_);
        parallel_for(n_, transforms, execution_,
                     [&](std::size_t v, const StopFlag& stop) { fill_best(v, stop); });
        parallel_for(2, choices, execution_, [&](std::size_t which, const StopFlag& stop) {
            which == 0 ? fill_forward(stop) : fill_backward(stop);
        });
        std::vector<std::vector<std::uint32_t>> least(n_);
        parallel_for(n_, transforms, execution_,
                     [&](std::size_t v, const StopFlag& stop) { least[v] = marginals(v, stop); });
        return least;
    }

private:
    std::uint32_t* own(std::size_t v) const { return own_.data() + v * half_; }

    static std::size_t without(std::size_t subset, std::size_t v) {
        const std::size_t low = (std::size_t{1} << v) - 1;
        return (subset & low) | ((subset >> 1) & ~low);
    }

    // own(v)[S]: the least cost of a set of v inside S.
    void fill_best(std::size_t v, const StopFlag& stop) {
        std::uint32_t* const best = own(v);
        std::fill(best, best + half_, kMarginalLimit);
        for (const MarginalSet& set : sets_[v]) {
            std::uint32_t& cell = best[without(set.members, v)];
            cell = std::min(cell, set.cost);
        }
        for (std::size_t bit = 1; bit < half_; bit *= 2) {
            for (std::size_t block = 0; block < half_; block += 2 * bit) {
                if (block % kCellsPerLook == 0) check(stop);
                const std::uint32_t* const smaller = best + block;
                std::uint32_t* const larger = best + block + bit;
                for (std::size_t i = 0; i < bit; ++i) larger[i] = std::min(larger[i], smaller[i]);
            }
        }
    }

    void fill_forward(const StopFlag& stop) {
        std::uint32_t* const value = forward_.data();
        value[0] = 0;
        for (std::size_t subset = 1; subset < n_subsets_; ++subset) {
            if (subset % kCellsPerLook == 0) check(stop);
            std::uint32_t least = kMarginalLimit;
            for (std::size_t left = subset; left != 0; left &= left - 1) {
                const auto v = static_cast<std::size_t>(std::countr_zero(left));
                const std::size_t rest = subset & ~(std::size_t{1} << v);
                least = std::min(least, value[rest] + own(v)[without(rest, v)]);
            }
            value[subset] = least;
        }
    }

    void fill_backward(const StopFlag& stop) {
        std::uint32_t* const value = backward_.data();
        const std::size_t all = n_subsets_ - 1;
        value[all] = 0;
        for (std::size_t subset = all; subset-- > 0;) {
            if (subset % kCellsPerLook == 0) check(stop);
            std::uint32_t least = kMarginalLimit;
            for (std::size_t left = all & ~subset; left != 0; left &= left - 1) {
                const auto v = static_cast<std::size_t>(std::countr_zero(left));
                least = std::min(
                    least, value[subset | (std::size_t{1} << v)] + own(v)[without(subset, v)]);
            }
            value[subset] = least;
        }
    }

    // own(v)[P] becomes the least of F(S) + B(S + v) over all S that hold P.
    std::vector<std::uint32_t> marginals(std::size_t v, const StopFlag& stop) {
        std::uint32_t* const rest = own(v);
        const std::size_t bit_v = std::size_t{1} << v;
        for (std::size_t high = 0; high < half_; high += bit_v) {
            if (high % kCellsPerLook == 0) check(stop);
            const std::uint32_t* const before = forward_.data() + 2 * high;
            const std::uint32_t* const after = backward_.data() + 2 * high + bit_v;
            for (std::size_t i = 0; i < bit_v; ++i) {
                rest[high + i] = std::min(before[i] + after[i], kMarginalLimit);
            }
        }
        for (std::size_t bit = 1; bit < half_; bit *= 2) {
            for (std::size_t block = 0; block < half_; block += 2 * bit) {
                if (block % kCellsPerLook == 0) check(stop);
                std::uint32_t* const smaller = rest + block;
                const std::uint32_t* const larger = rest + block + bit;
                for (std::size_t i = 0; i < bit; ++i) smaller[i] = std::min(smaller[i], larger[i]);
            }
        }
        std::vector<std::uint32_t> found;
        found.reserve(sets_[v].size());
        for (const MarginalSet& set : sets_[v]) {
            found.push_back(std::min(set.cost + rest[without(set.members, v)], kMarginalLimit));
        }
        return found;
    }

    const std::vector<std::vector<MarginalSet>>& sets_;
    const Execution& execution_;
    const std::size_t n_, n_subsets_, half_;
    const Cells<std::uint32_t> own_, forward_, backward_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> subset_marginals(
    const std::vector<std::vector<MarginalSet>>& sets, const Execution& execution) {
    return Marginals(sets, execution).run();
}

double subset_marginal_bytes(int n) { return 4.0 * (n * std::exp2(n - 1) + 2.0 * std::exp2(n)); }

}  // namespace bestdag
