"""Normalized maximum likelihood by other routes: enumeration, power series, printed formulas."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import factorial, lgamma, log, pi, sqrt

from tests.reference.scores import log_fraction


def count_vectors(r, n):
    """Yield all vectors of r counts that sum to n."""
    if r == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in count_vectors(r - 1, n - first):
            yield (first, *rest)


def normalizer(r, n):
    """C(r, n) by its definition (Silander et al. 2010, equation 10), as a fraction."""
    total = Fraction(0)
    for counts in count_vectors(r, n):
        term = Fraction(factorial(n))
        for k in counts:
            term *= Fraction(k, n) ** k / factorial(k) if k else 1
        total += term
    return total


def likelihood(column, configurations):
    """Maximised likelihood of a column given those of its parents, as a fraction."""
    pairs, rows = Counter(zip(configurations, column, strict=True)), Counter(configurations)
    value = Fraction(1)
    for (configuration, _), n in pairs.items():
        value *= Fraction(n, rows[configuration]) ** n
    return value


def fnml(column, configurations, r):
    """Equation 11 of the same: divide by the sum over all columns."""
    total = sum(
        likelihood(other, configurations) for other in product(range(r), repeat=len(column))
    )
    return log_fraction(likelihood(column, configurations) / total)


def nml(rows, parents, arities):
    """Normalized maximum likelihood of a network: divide by the sum over all data sets."""

    def network_likelihood(data):
        value = Fraction(1)
        for child, given in enumerate(parents):
            configurations = [tuple(row[p] for p in given) for row in data]
            value *= likelihood([row[child] for row in data], configurations)
        return value

    states = list(product(*(range(r) for r in arities)))
    total = sum(network_likelihood(data) for data in product(states, repeat=len(rows)))
    return log_fraction(network_likelihood(rows) / total)


def regrets_by_power_series(r, n_max):
    """ln C(r, n) for n = 0 ... n_max, as decimals, from the definition's generating function.

    Equation 10 says that C(r, n) n^n / n! is the coefficient of z^n in B(z)^r with
    B(z) = sum over k of k^k / k! z^k. Coefficients p of a power obey Euler's
    m p_m = sum over k = 1 ... m of (k r - m + k) b_k p_(m-k).
    """
    with localcontext() as context:
        context.prec = 60
        b = [Decimal(1)]
        b += [Decimal(k) ** k / factorial(k) for k in range(1, n_max + 1)]
        p = [Decimal(1)]
        for m in range(1, n_max + 1):
            total = sum((k * (r + 1) - m) * b[k] * p[m - k] for k in range(1, m + 1))
            p.append(total / m)
        return [(value / b_n).ln() for value, b_n in zip(p, b, strict=True)]


def regret_by_sum(r, n):
    """ln C(r, n) by the sum over k of falling and rising factorials, as a decimal."""
    with localcontext() as context:
        context.prec = 100
        term, total, k = Decimal(1), Decimal(1), 0
        while k < n:
            term *= Decimal((n - k) * (r - 1 + k)) / (n * (k + 1))
            total += term
            k += 1
            if term < total * Decimal("1e-35") and (n - k) * (r - 1 + k) < n * (k + 1):
                break
        return total.ln()


def regret_for_many_rows(r, n):
    """ln C(r, n) up to terms of order n^(-3/2): Szpankowski (1998), quoted widely."""
    g = sqrt(2) * r * _gamma_ratio(r) / 3
    return (
        (r - 1) / 2 * log(n / 2)
        + log(pi) / 2
        - lgamma(r / 2)
        + g / sqrt(n)
        + ((3 + r * (r - 2) * (2 * r + 1)) / 36 - g * g / 2) / n
    )


def _gamma_ratio(r):
    """Gamma(r/2) / Gamma((r - 1)/2), by half steps."""
    value, x = 1 / sqrt(pi), 2  # Gamma(1) / Gamma(1/2)
    while x < r:
        # Gamma((x + 1)/2) / Gamma(x/2) = ((x - 1)/2) / (Gamma(x/2) / Gamma((x - 1)/2))
        value = (x - 1) / 2 / value
        x += 1
    return value


def szpankowski(r, n):
    """The approximation as it is printed, in many digits."""
    with localcontext() as context:
        context.prec = 400  # r/n may be 1e300
        beta = Decimal(r) / Decimal(n)
        c = Decimal("0.5") + (1 + 4 / beta).sqrt() / 2
        return n * (beta.ln() + (beta + 2) * c.ln() - 1 / c) - (c + 2 / beta).ln() / 2
