// Quantiles and the upper tail of the chi-square distribution.
#pragma once

namespace bestdag {

// The x with P(chi-square with df degrees of freedom <= x) = confidence, to about 1e-12 of x (1e-10
// for a confidence below 1e-100). Requires df > 0, which may be huge or infinite, and
// 0 < confidence < 1.
double chi_square_quantile(double df, double confidence) noexcept;

// ln P(chi-square with df degrees of freedom > x): to about 1e-13 of itself (or of 1), however far
// out. Requires df >= 0 and x >= 0, finite or not; without degrees of freedom it is 0 at x = 0.
double chi_square_log_tail(double df, double x) noexcept;

}  // namespace bestdag
