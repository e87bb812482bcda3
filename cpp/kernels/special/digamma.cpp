#include "special/digamma.hpp"

#include <cmath>

namespace bestdag {

namespace {

// Up to this many terms the sum itself is faster than any formula, and exact.
constexpr double kMaxTerms = 16.0;
// From here on the series below are exact to double precision.
constexpr double kSeriesFrom = 10.0;
constexpr int kShift = 10;  // carries any a > 0 there

// psi(x) = ln x - 1/(2x) - P(1/x^2), P(z) = z/12 - z^2/120 + ...: coefficients from z^1 on.
constexpr double kDigamma[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760, 1.0 / 12};
// psi'(x) = 1/x + 1/(2x^2) + R(1/x^2)/x, R(z) = z/6 - z^2/30 + ...: coefficients from z^1 on.
constexpr double kTrigamma[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                5.0 / 66, -691.0 / 2730, 7.0 / 6};

struct Polynomial {
    double value;    // at z
    double divided;  // [value at z - value at w] / (z - w)
};

// Horner's rule for c[0] z + c[1] z^2 + ... and its divided difference.
template <int N>
Polynomial evaluate(const double (&c)[N], double z, double w) noexcept {
    double value = c[N - 1];
    double divided = 0.0;
    for (int k = N - 2; k >= 0; --k) {
        divided = divided * w + value;
        value = value * z + c[k];
    }
    divided = divided * w + value;
    return {value * z, divided};
}

// The slopes for a = x >= kSeriesFrom: every difference over d = y - x is formed by hand.
RisingSlopes series(double x, double d) noexcept {
    const double p = 1.0 / x;
    const double q = 1.0 / (x + d);
    const double t = d * p;
    const double p_q = t * q;              // p - q
    const double squares = p_q * (p + q);  // p^2 - q^2
    const double p2 = p * p;
    const double q2 = q * q;
    const double logs = t > 1.0 ? std::log(1.0 + t) : std::log1p(t);  // ln y - ln x
    const Polynomial digamma = evaluate(kDigamma, p2, q2);
    const Polynomial trigamma = evaluate(kTrigamma, p2, q2);
    return {logs + 0.5 * p_q + squares * digamma.divided,
            p_q + 0.5 * squares + p_q * trigamma.value + q * squares * trigamma.divided};
}

RisingSlopes sum_of_terms(double a, int n) noexcept {
    double first[2] = {0.0, 0.0};
    double second[2] = {0.0, 0.0};
    int i = 0;
    for (; i + 1 < n; i += 2) {
        const double inverse[2] = {1.0 / (a + i), 1.0 / (a + (i + 1))};
        for (int lane = 0; lane < 2; ++lane) {
            first[lane] += inverse[lane];
            second[lane] += inverse[lane] * inverse[lane];
        }
    }
    if (i < n) {
        const double inverse = 1.0 / (a + i);
        first[0] += inverse;
        second[0] += inverse * inverse;
    }
    return {first[0] + first[1], second[0] + second[1]};
}

}  // namespace

RisingSlopes rising_slopes(double a, double n) noexcept {
    if (n <= kMaxTerms && n == std::floor(n)) return sum_of_terms(a, static_cast<int>(n));
    if (a >= kSeriesFrom) return series(a, n);
    if (n >= kShift) {
        // The first ten terms, and the others from a + 10 on.
        const RisingSlopes head = sum_of_terms(a, kShift);
        const RisingSlopes tail = series(a + kShift, n - kShift);
        return {head.first + tail.first, head.second + tail.second};
    }
    // A small n that is not whole: shift both ends, pairing 1/(a+i) with 1/(a+n+i).
    RisingSlopes sum = series(a + kShift, n);
    for (int i = kShift - 1; i >= 0; --i) {
        const double p = 1.0 / (a + i);
        const double q = 1.0 / (a + n + i);
        const double p_q = n * p * q;  // p - q
        sum.first += p_q;
        sum.second += p_q * (p + q);
    }
    return sum;
}

// psi(x + 1/2) is ln x + 1 / (24 x^2) + ..., after two terms of the sum.
RisingSlopes rough_rising_slopes(double a, double n) noexcept {
    const double p = 1.0 / a;
    const double q = 1.0 / (a + 1.0);
    const double x = a + 1.5;
    const double t = n - 2.0;
    const double u = 1.0 / x;
    const double v = 1.0 / (x + t);
    return {p + q + std::log((x + t) * u) + (v * v - u * u) * (1.0 / 24),
            p * p + q * q + (u - v) + (v * v * v - u * u * u) * (1.0 / 12)};
}

}  // namespace bestdag
