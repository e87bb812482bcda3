#include "special/chi_square.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "special/log_gamma.hpp"

namespace bestdag {

namespace {

// From here on the expansion in powers of 1 / sqrt(df) is exact to double precision; below, it
// starts Newton's method, whose sums have about 10 sqrt(df) terms.
constexpr double kExpansionFrom = 1e6;

// ln of x^a e^-x / Gamma(a): x times the density of a gamma variable with shape a.
// From here on its large terms, which nearly cancel, are taken together.
constexpr double kCancelsFrom = 32.0;

double log_density(double a, double x) noexcept {
    if (a < kCancelsFrom) return a * std::log(x) - x - log_gamma(a);
    // Stirling's series for ln Gamma(a) - [(a - 1/2) ln a - a + ln(2 pi) / 2].
    const double s = 1.0 / (a * a);
    const double rest =
        (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188))))) / a;
    const double u = (x - a) / a;
    // ln(1 + u) - u without loss near u = 0.
    double gap = std::log1p(u) - u;
    if (std::abs(u) < 0.1) {
        gap = 0.0;
        double power = -u * u;
        for (int k = 2; k < 24; ++k, power *= -u) gap += power / k;
    }
    return a * gap + 0.5 * std::log(a) - 0.91893853320467274178 - rest;
}

// P(a, x) / (x^a e^-x / Gamma(a)) by its power series; for x < a + 1.
double lower_ratio(double a, double x) noexcept {
    double term = 1.0 / a;
    double sum = term;
    for (double n = a + 1.0; term > 1e-17 * sum; n += 1.0) {
        term *= x / n;
        sum += term;
    }
    return sum;
}

// Q(a, x) / (x^a e^-x / Gamma(a)) by Legendre's continued fraction (Lentz); for x >= a + 1.
double upper_ratio(double a, double x) noexcept {
    double b = x + 1.0 - a;
    double c = std::numeric_limits<double>::max();
    double d = 1.0 / b;
    double h = d;
    for (double n = 1.0; n < 1e7; n += 1.0) {
        const double step = -n * (n - a);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        const double change = c * d;
        h *= change;
        if (std::abs(change - 1.0) < 1e-16) break;
    }
    return h;
}

// ln P(a, x) or ln Q(a, x), and the size of its slope in ln x.
struct LogTail {
    double value;
    double slope;
};

LogTail log_tail(double a, double x, bool upper) noexcept {
    const double density = log_density(a, x);
    const bool have_upper = x >= a + 1.0;
    double value = density + std::log(have_upper ? upper_ratio(a, x) : lower_ratio(a, x));
    if (have_upper != upper) value = std::log1p(-std::min(std::exp(value), 1.0 - 1e-16));
    return {value, std::exp(density - value)};
}

// z with P(Z > z) = tail for a normal Z; 0 < tail <= 1/2.
double normal_upper_quantile(double tail) noexcept {
    tail = std::max(tail, 1e-300);
    const double t = std::sqrt(-2.0 * std::log(tail));
    // Abramowitz and Stegun 26.2.23, then Newton on the logarithm of the tail.
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; ++i) {
        const double q = 0.5 * std::erfc(z * 0.70710678118654752440);
        const double density = 0.39894228040143267794 * std::exp(-0.5 * z * z);
        z += std::log(q / tail) * q / density;
    }
    return z;
}

// Cornish and Fisher's expansion (Goldberg and Levine 1946; Abramowitz and Stegun 26.2.49).
double expansion(double df, double z) noexcept {
    const double z2 = z * z;
    const double s = 1.0 / std::sqrt(df);
    constexpr double kRoot2 = 1.41421356237309504880;
    const double sum =
        2.0 / 3 * (z2 - 1.0) +
        s * (z * (z2 - 7.0) / (9.0 * kRoot2) +
             s * (-(z2 * (6.0 * z2 + 14.0) - 32.0) / 405.0 +
                  s * (z * (z2 * (9.0 * z2 + 256.0) - 433.0) / (4860.0 * kRoot2) +
                       s * (z2 * (z2 * (12.0 * z2 - 243.0) - 923.0) + 1472.0) / 25515.0)));
    return df + kRoot2 * z * std::sqrt(df) + sum;
}

}  // namespace

double chi_square_quantile(double df, double confidence) noexcept {
    if (std::isinf(df)) return df;
    const bool upper = confidence > 0.5;
    const double tail = upper ? 1.0 - confidence : confidence;
    const double z = normal_upper_quantile(tail);
    double x = 0.5 * expansion(df, upper ? z : -z);
    if (df >= kExpansionFrom) return 2.0 * x;

    const double a = 0.5 * df;
    const double target = std::log(tail);
    // P(a, x) < x^a / Gamma(a + 1) gives a lower bound of x; it is the answer for tiny tails.
    double low = (std::log(confidence) + log_gamma(a + 1.0)) / a;
    double high = std::numeric_limits<double>::infinity();
    double u = x > 0.0 ? std::max(low, std::log(x)) : low;
    if (std::exp(u) == 0.0) return 0.0;
    for (int i = 0; i < 100; ++i) {
        const LogTail now = log_tail(a, std::exp(u), upper);
        const double missing = upper ? now.value - target : target - now.value;  // > 0: u too small
        (missing > 0.0 ? low : high) = u;
        double next = u + missing / now.slope;
        if (!(next >= low && next <= high)) next = std::isinf(high) ? u + 1.0 : 0.5 * (low + high);
        const double step = std::abs(next - u);
        u = next;
        if (step <= 1e-14 * std::max(1.0, std::abs(u))) break;
    }
    return 2.0 * std::exp(u);
}

double chi_square_log_tail(double df, double x) noexcept {
    if (x <= 0.0 || std::isinf(df)) return 0.0;
    if (df <= 0.0 || std::isinf(x)) return -std::numeric_limits<double>::infinity();
    return log_tail(0.5 * df, 0.5 * x, true).value;
}

}  // namespace bestdag
