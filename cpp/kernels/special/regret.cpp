// Three exact ways to the same number; s = r - 1 throughout.
//
// 1. C(r, n) = sum_k T_k with T_k = n (n-1)...(n-k+1) / n^k  *  s (s+1)...(s+k-1) / k!, all
// positive.
// 2. C(1, n) = 1, C(2, n) in closed form, C(r+2, n) = C(r+1, n) + (n/r) C(r, n), all positive.
// 3. C(r, n) = n! / n^n times the coefficient of u^n in exp(n u) (1 - u)^-s: the average of
//    exp(n u) (1 - u)^-s u^-n over a circle. On the circle through the saddle point the values fall
//    off like a normal density, so that some twenty points give every digit.
#include "special/regret.hpp"

#include <cmath>
#include <numbers>

namespace bestdag {

namespace {

// Fewer rows than this: way 1. From here on Stirling's series and that of C(2, n) have all digits.
constexpr double kFewRows = 64.0;
// Up to this many states the recurrence is the fastest (1.2 ns a step, measured); the circle takes
// a microsecond, and needs some 100 states to do with few points.
constexpr double kFewStates = 512.0;
constexpr double kNegligible = 1e-18;

// sum_k T_k / T_first, where each term is ratio(k) times the one before and the ratios fall.
template <class Ratio>
double sum_of_terms(double n, const Ratio& ratio) noexcept {
    double term = 1.0;
    double sum = 1.0;
    for (double k = 0.0; k < n; k += 1.0) {
        const double factor = ratio(k);
        term *= factor;
        sum += term;
        // What is left is less than a geometric series.
        if (factor < 0.5 && term < kNegligible * sum) break;
    }
    return sum;
}

// Way 1, n < kFewRows: the sum stays below 4^n, or starts at its end, where it cannot overflow.
double by_sum(double n, double s) noexcept {
    if (s <= n) {
        return std::log(
            sum_of_terms(n, [=](double k) { return (n - k) * (s + k) / (n * (k + 1.0)); }));
    }
    // T_n is a product of factors (s + k) / n > 1.
    double product = 1.0;
    double log_last = 0.0;
    for (double k = 0.0; k < n; k += 1.0) {
        const double factor = (s + k) / n;
        if (product > 1e300 / factor) {
            log_last += std::log(product);
            product = 1.0;
        }
        product *= factor;
    }
    log_last += std::log(product);
    return log_last + std::log(sum_of_terms(n, [=](double back) {
               const double k = n - back;  // T_(k-1) / T_k
               return n / (s + k - 1.0) * (k / (back + 1.0));
           }));
}

// ln(n! e^n / n^n) - ln(2 pi n) / 2 for n >= kFewRows.
double stirling_correction(double n) noexcept {
    const double y = 1.0 / (n * n);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y / 1680))) / n;
}

// C(2, n) = 1 + n! e^n / (2 n^n) - theta(n) with Ramanujan's theta, for n >= kFewRows.
double two_states(double n) noexcept {
    constexpr double kTheta[] = {1.0 / 3,
                                 4.0 / 135,
                                 -8.0 / 2835,
                                 -16.0 / 8505,
                                 8992.0 / 12629925,
                                 334144.0 / 492567075,
                                 -698752.0 / 1477701225};
    double theta = 0.0;
    for (int i = 6; i >= 0; --i) theta = theta / n + kTheta[i];
    const double half = std::sqrt(0.5 * std::numbers::pi * n) * std::exp(stirling_correction(n));
    return half + (1.0 - theta);
}

// Way 2, n >= kFewRows, r >= 2.
double by_recurrence(double n, double r) noexcept {
    constexpr double kLarge = 0x1p600;
    double log_scale = 0.0;
    double before = 1.0;
    double value = two_states(n);
    for (double states = 1.0; states + 1.0 < r; states += 1.0) {
        const double next = value + n / states * before;
        before = value;
        value = next;
        if (value > kLarge) {
            value /= kLarge;
            before /= kLarge;
            log_scale += 600.0 * std::numbers::ln2;
        }
    }
    return log_scale + std::log(value);
}

// x - ln(1 + x) without cancellation, for -1/2 <= x <= 1.
double minus_log1p(double x) noexcept {
    // ln(1 + x) = 2 artanh(z) with z = x / (2 + x), and x - 2 z = x z.
    const double z = x / (2.0 + x);
    const double z2 = z * z;
    double power = z * z2;
    double sum = 0.0;
    for (int k = 3; k < 45; k += 2) {
        sum += power / k;
        power *= z2;
        if (std::abs(power) < kNegligible * std::abs(sum)) break;
    }
    return x * z - 2.0 * sum;
}

// t - sin t for 0 <= t <= pi.
double minus_sine(double t) noexcept {
    if (t > 1.0) return t - std::sin(t);
    const double t2 = t * t;
    double power = t * t2 / 6.0;
    double sum = 0.0;
    for (int k = 4; k < 22; k += 2) {
        sum += power;
        power *= -t2 / (k * (k + 1));
    }
    return sum;
}

// Way 3, n >= kFewRows, s >= kFewStates.
double by_circle(double n, double s) noexcept {
    // The saddle point u = 1 - d solves n / u = n + s / d.
    const double d = 2.0 / (1.0 + std::sqrt(1.0 + 4.0 * (n / s)));
    const double u = n / s * d * d;
    // Normalised at the saddle, the coefficients are a distribution with mean n and this variance;
    // with m points the sum takes in the probabilities of n + m, n - m, ...: eleven deviations off.
    const double variance = n * u + n;  // s u / d^2 = n
    const double m = std::ceil(11.0 * std::sqrt(variance));
    double sum = 0.5;
    for (double i = 1.0; 2.0 * i <= m; i += 1.0) {
        const double t = 2.0 * std::numbers::pi * i / m;
        const double half_sine = std::sin(0.5 * t);
        const double versine = 2.0 * half_sine * half_sine;  // 1 - cos t
        const double size =
            std::exp(-n * u * versine - 0.5 * s * std::log1p(2.0 * u * versine / (d * d)));
        // n (u sin t - t) + s atan(...), where n t = n u t + s u t / d at the saddle.
        const double angle = std::atan(u * std::sin(t) / (d + u * versine)) - u * t / d;
        sum += size * std::cos(s * angle - n * u * minus_sine(t));
        if (size < kNegligible) break;
    }
    // n! / n^n exp(n u) u^-n d^-s = (n! e^n / n^n) exp(n (-d - ln u)) d^-s.
    const bool is_small = d <= 0.5;
    const double excess = is_small ? minus_log1p(-d) : -d - std::log(u);
    const double log_d = is_small ? std::log(d) : std::log1p(-u);
    return 0.5 * std::log(2.0 * std::numbers::pi * n) + stirling_correction(n) + n * excess -
           s * log_d + std::log(2.0 * sum / m);
}

}  // namespace

double regret(double n, double r) noexcept {
    if (n == 0.0 || r == 1.0) return 0.0;
    if (n < kFewRows) return by_sum(n, r - 1.0);
    if (r <= kFewStates) return by_recurrence(n, r);
    return by_circle(n, r - 1.0);
}

double szpankowski_regret(double n, double r) noexcept {
    if (n == 0.0 || r == 1.0) return 0.0;
    const double b = r / n;                                        // beta
    const double c1 = 2.0 / b / (1.0 + std::sqrt(1.0 + 4.0 / b));  // C_beta - 1
    const double log_c = std::log1p(c1);
    const double c = 1.0 + c1;
    const double tail = 0.5 * std::log(c + 2.0 / b);
    if (b >= 1.0) return n * (std::log(b) + (b + 2.0) * log_c - 1.0 / c) - tail;
    // The same with beta C^2 = 1 + beta C and 1 / C = beta C - beta: nothing large cancels.
    const double x = b * c;
    const double difference = x <= 1.0 ? -minus_log1p(x) : std::log1p(x) - x;
    return n * (difference + b * (1.0 + log_c)) - tail;
}

}  // namespace bestdag
