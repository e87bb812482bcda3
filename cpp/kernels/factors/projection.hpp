// How a small table lies over a larger one: products of the two, and sums of the large into the
// small. The arithmetic is that of a semiring, so that sums, sums of logarithms and maxima are one
// piece of code.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace bestdag {

// Probabilities as they are.
struct SumProduct {
    static constexpr double kZero = 0.0;
    static constexpr double kOne = 1.0;
    static double from(double probability) noexcept { return probability; }
    static double times(double a, double b) noexcept { return a * b; }
    static double over(double a, double b) noexcept { return b == 0.0 ? 0.0 : a / b; }
    static double plus(double a, double b) noexcept { return a + b; }
    static double log(double a) noexcept { return std::log(a); }
};

// Their logarithms: nothing underflows.
struct LogSumProduct {
    static constexpr double kZero = -std::numeric_limits<double>::infinity();
    static constexpr double kOne = 0.0;
    static double from(double probability) noexcept { return std::log(probability); }
    static double times(double a, double b) noexcept { return a + b; }
    static double over(double a, double b) noexcept { return b == kZero ? kZero : a - b; }
    static double plus(double a, double b) noexcept {
        const double high = std::max(a, b);
        return high == kZero ? kZero : high + std::log1p(std::exp(std::min(a, b) - high));
    }
    static double log(double a) noexcept { return a; }
};

// Logarithms, with the largest for the sum.
struct MaxProduct {
    static constexpr double kZero = -std::numeric_limits<double>::infinity();
    static constexpr double kOne = 0.0;
    static double from(double probability) noexcept { return std::log(probability); }
    static double times(double a, double b) noexcept { return a + b; }
    static double over(double a, double b) noexcept { return b == kZero ? kZero : a - b; }
    static double plus(double a, double b) noexcept { return std::max(a, b); }
    static double log(double a) noexcept { return a; }
};

// Call use(first, how many) for pieces of n cells, with a look at the flag before each.
template <class Use>
void for_pieces(std::size_t n, const StopFlag& stop, const Use& use) {
    constexpr std::size_t kCells = 1u << 20;
    for (std::size_t first = 0; first < n; first += kCells) {
        check(stop);
        use(first, std::min(kCells, n - first));
    }
}

inline void fill_pieces(double* cells, std::size_t n, double value, const StopFlag& stop) {
    for_pieces(n, stop, [&](std::size_t first, std::size_t count) {
        std::fill_n(cells + first, count, value);
    });
}

// Cell i of the large table belongs to cell sum_k strides[k] * code k of the small one. Axes that
// lie alike are taken together, and the innermost cells are one run: of cells side by side in the
// small table, of one cell, or of listed places.
class Projection {
public:
    // `lengths` are those of the large table's axes, the last varying fastest; a stride of 0 means
    // that the small table has no such axis.
    Projection(std::span<const std::uint32_t> lengths, std::span<const std::size_t> strides);

    // The same for a large table of which these cells alone are left, in ascending order.
    Projection listed(std::span<const std::uint32_t> cells, const StopFlag& stop) const;

    std::size_t n_cells() const noexcept { return run_ * n_runs_; }  // of the large table

    // large = small.
    void spread(double* large, const double* small, const StopFlag& stop) const {
        change(large, small, stop, [](double& cell, double by) { cell = by; });
    }

    // large *= small.
    template <class Semiring>
    void multiply(double* large, const double* small, const StopFlag& stop) const {
        change(large, small, stop,
               [](double& cell, double by) { cell = Semiring::times(cell, by); });
    }

    // out = large * small; both tables over the large one's axes.
    template <class Semiring>
    void multiply_into(double* out, const double* large, const double* small,
                       const StopFlag& stop) const {
        walk(stop, [&](std::size_t at, std::size_t from) {
            double* const to = out + at;
            const double* const cells = large + at;
            const double* const by = small + from;
            if (kind_ == Kind::kAlong) {
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) {
                        to[i] = Semiring::times(cells[i], by[i]);
                    }
                });
            } else if (kind_ == Kind::kConstant) {
                const double value = *by;
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) {
                        to[i] = Semiring::times(cells[i], value);
                    }
                });
            } else {
                const std::uint32_t* const places = places_.data();
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) {
                        to[i] = Semiring::times(cells[i], by[places[i]]);
                    }
                });
            }
        });
    }

    // small += large, summed over the axes that the small table has not.
    template <class Semiring>
    void add(double* small, const double* large, const StopFlag& stop) const {
        walk(stop, [&](std::size_t at, std::size_t from) {
            const double* const cells = large + at;
            double* const to = small + from;
            if (kind_ == Kind::kAlong) {
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) {
                        to[i] = Semiring::plus(to[i], cells[i]);
                    }
                });
            } else if (kind_ == Kind::kConstant) {
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    *to = Semiring::plus(*to, sum<Semiring>({cells + first, last - first}));
                });
            } else {
                const std::uint32_t* const places = places_.data();
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) {
                        double& cell = to[places[i]];
                        cell = Semiring::plus(cell, cells[i]);
                    }
                });
            }
        });
    }

    // Four sums side by side, always the same way.
    template <class Semiring>
    static double sum(std::span<const double> cells) noexcept {
        double parts[4] = {Semiring::kZero, Semiring::kZero, Semiring::kZero, Semiring::kZero};
        std::size_t i = 0;
        for (; i + 4 <= cells.size(); i += 4) {
            for (std::size_t k = 0; k < 4; ++k) {
                parts[k] = Semiring::plus(parts[k], cells[i + k]);
            }
        }
        for (; i < cells.size(); ++i) parts[0] = Semiring::plus(parts[0], cells[i]);
        return Semiring::plus(Semiring::plus(parts[0], parts[1]),
                              Semiring::plus(parts[2], parts[3]));
    }

private:
    enum class Kind { kAlong, kConstant, kPlaces };

    static constexpr std::size_t kPiece = 1u << 15;  // cells between two looks at the flag

    // change_cell(cell of the large table, cell of the small one) for every cell.
    template <class Change>
    void change(double* large, const double* small, const StopFlag& stop,
                const Change& change_cell) const {
        walk(stop, [&](std::size_t at, std::size_t from) {
            double* const cells = large + at;
            const double* const by = small + from;
            if (kind_ == Kind::kAlong) {
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) change_cell(cells[i], by[i]);
                });
            } else if (kind_ == Kind::kConstant) {
                const double value = *by;
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) change_cell(cells[i], value);
                });
            } else {
                const std::uint32_t* const places = places_.data();
                pieces_of_run(stop, [&](std::size_t first, std::size_t last) {
                    for (std::size_t i = first; i < last; ++i) change_cell(cells[i], by[places[i]]);
                });
            }
        });
    }

    // use(first cell of the large table, of the small one) for every run.
    template <class Use>
    void walk(const StopFlag& stop, const Use& use) const {
        const std::size_t n_axes = lengths_.size();
        std::vector<std::uint32_t> codes(n_axes, 0);
        std::size_t small = 0;
        std::size_t since_check = 0;
        for (std::size_t done = 0, at = 0; done < n_runs_; ++done, at += run_) {
            use(at, small);
            since_check += run_;
            if (since_check >= kPiece) {
                check(stop);
                since_check = 0;
            }
            for (std::size_t k = n_axes; k-- > 0;) {
                small += strides_[k];
                if (++codes[k] < lengths_[k]) break;
                small -= strides_[k] * lengths_[k];
                codes[k] = 0;
            }
        }
    }

    template <class Use>
    void pieces_of_run(const StopFlag& stop, const Use& use) const {
        if (run_ <= kPiece) {
            use(std::size_t{0}, run_);
            return;
        }
        for (std::size_t first = 0; first < run_; first += kPiece) {
            check(stop);
            use(first, std::min(first + kPiece, run_));
        }
    }

    Projection() = default;

    Kind kind_ = Kind::kConstant;
    std::size_t run_ = 1;
    std::size_t n_runs_ = 1;
    std::vector<std::uint32_t> lengths_;  // of the axes outside the runs
    std::vector<std::size_t> strides_;
    std::vector<std::uint32_t> places_;  // of the cells of a run, with kPlaces
};

}  // namespace bestdag
