// Multinomial regret: ln C(r, n), the logarithm of the sum, over all columns of n rows of a
// variable with r states, of the column's maximised likelihood.
#pragma once

namespace bestdag {

// ln C(r, n) for whole n from 0 to 2^53 and any whole finite r >= 1. Exactly 0 for n = 0 and for
// r = 1. The error stays below 2e-15 max(1, ln C); the time does not grow with n or r.
double regret(double n, double r) noexcept;

// Szpankowski and Weinberger's approximation of the same, with the same exact zeros.
double szpankowski_regret(double n, double r) noexcept;

}  // namespace bestdag
