// Sums of numbers given by their logarithms. Minus infinity is the logarithm of zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace bestdag {

inline constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// ln(e^a + e^b).
inline double log_add(double a, double b) noexcept {
    const double larger = std::max(a, b), apart = std::min(a, b) - larger;
    return apart > -40.0 ? larger + std::log1p(std::exp(apart)) : larger;  // also where both are 0
}

// ln(e^a - e^b); requires a >= b up to rounding, and what rounding makes negative is zero.
inline double log_subtract(double a, double b) noexcept {
    return b < a ? a + std::log1p(-std::exp(b - a)) : kLogZero;
}

// ln of the sum of e^x over the span.
inline double log_sum(std::span<const double> logs) noexcept {
    double largest = kLogZero;
    for (const double x : logs) largest = std::max(largest, x);
    if (largest == kLogZero) return kLogZero;
    double sum = 0.0;
    for (const double x : logs) sum += std::exp(x - largest);
    return largest + std::log(sum);
}

// into[i] = ln(e^into[i] + e^from[i]), several at a time; the same numbers on every processor.
void add_logs(double* into, const double* from, std::size_t count) noexcept;

// Requires 2^n_bits cells. Afterwards cell S has the sum over the subsets of S of what the cells
// had, as logarithms; or over the supersets.
void sum_over_subsets(double* cells, std::size_t n_bits) noexcept;
void sum_over_supersets(double* cells, std::size_t n_bits) noexcept;

}  // namespace bestdag
