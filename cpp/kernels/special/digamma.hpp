// Derivatives of log_rising: differences of digamma and of trigamma, without taking differences.
#pragma once

namespace bestdag {

struct RisingSlopes {
    double first;   // d/da    ln [Gamma(a + n) / Gamma(a)] =  sum of 1 / (a + i)   for i < n
    double second;  // d^2/da^2 of the same, sign turned     =  sum of 1 / (a + i)^2 for i < n
};

// For a > 0 and n >= 0, whole or not; both exactly 0 for n = 0. Keeps about 14 digits for any a and
// n; below a = 1e-154 the second overflows.
RisingSlopes rising_slopes(double a, double n) noexcept;

// About three digits of the same for n >= 2, in a third of the time: to find a starting point.
RisingSlopes rough_rising_slopes(double a, double n) noexcept;

}  // namespace bestdag
