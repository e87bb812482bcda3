// Quantiles of the chi-square distribution.
#pragma once

namespace bestdag {

// The x with P(chi-square with df degrees of freedom <= x) = confidence, to about 1e-12 of x (1e-10
// for a confidence below 1e-100). Requires df > 0, which may be huge or infinite, and
// 0 < confidence < 1.
double chi_square_quantile(double df, double confidence) noexcept;

}  // namespace bestdag
