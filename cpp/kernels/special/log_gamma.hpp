// Functions of counts: safe across threads (std::lgamma writes a global) and accurate where a
// difference of two log-gammas would lose its digits.
#pragma once

#include <cmath>

namespace bestdag {

// ln Gamma(x) for x > 0.
double log_gamma(double x) noexcept;

// ln [ Gamma(a + n) / Gamma(a) ] for a > 0, n >= 0; exactly 0 for n = 0.
double log_rising(double a, double n) noexcept;

// n ln n, with 0 ln 0 = 0; n >= 0.
inline double n_log_n(double n) noexcept { return n > 0.0 ? n * std::log(n) : 0.0; }

}  // namespace bestdag
