// macOS declares lgamma_r only for programs that say they have threads.
#ifndef _REENTRANT
#define _REENTRANT
#endif

#include "special/log_gamma.hpp"

#include <math.h>  // lgamma_r is not in namespace std

namespace bestdag {

namespace {

// Above this, Stirling's series with four terms is exact to double precision.
constexpr double kStirlingFrom = 64.0;
// Up to this many factors a product beats two log-gammas, in time and in digits.
constexpr double kMaxFactors = 32.0;

// ln Gamma(x) - [(x - 1/2) ln x - x + ln(2 pi) / 2] for x >= kStirlingFrom.
double stirling_correction(double x) noexcept {
    const double y = 1.0 / (x * x);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y / 1680))) / x;
}

// log1p(x) - x without cancellation for small x > 0.
double log1p_minus(double x) noexcept {
    if (x > 0.5) return std::log1p(x) - x;
    // ln(1 + x) = 2 artanh(z) with z = x / (2 + x); 2 z - x = -x z.
    const double z = x / (2.0 + x);
    const double z2 = z * z;
    double power = z * z2;
    double sum = 0.0;
    for (int k = 3; k < 60; k += 2) {
        const double term = power / k;
        sum += term;
        if (term < 1e-18 * sum) break;
        power *= z2;
    }
    return 2.0 * sum - x * z;
}

double rising_product(double a, double n) noexcept {
    constexpr double kLarge = 1e250;
    double product = 1.0;
    double logs = 0.0;
    for (double k = 0.0; k < n; k += 1.0) {
        const double factor = a + k;
        if (product * factor > kLarge) {
            logs += std::log(product);
            product = 1.0;
        }
        product *= factor;
    }
    return logs + std::log(product);
}

}  // namespace

double log_gamma(double x) noexcept {
    int sign;
    return ::lgamma_r(x, &sign);
}

double log_rising(double a, double n) noexcept {
    if (n == 0.0) return 0.0;
    // a >= 1e-50 keeps the first factor of the product clear of underflow.
    if (n <= kMaxFactors && n == std::floor(n) && a < 1e200 && a > 1e-50) {
        return rising_product(a, n);
    }
    if (a >= kStirlingFrom) {
        // (a + n - 1/2) ln(1 + n/a) - n + n ln a + corrections, with ln(1 + t) - t taken whole.
        const double t = n / a;
        return a * log1p_minus(t) + (n - 0.5) * std::log1p(t) + n * std::log(a) +
               (stirling_correction(a + n) - stirling_correction(a));
    }
    return log_gamma(a + n) - log_gamma(a);
}

}  // namespace bestdag
