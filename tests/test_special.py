"""Functions of counts against exact products and the standard library."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import fsum, lgamma, log, log1p, prod
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bestdag.special import (
    chi_square_quantile,
    log_gamma,
    log_rising,
    log_rising_slopes,
    n_log_n,
    n_log_share,
)


@given(st.floats(1e-300, 1e15))
def test_log_gamma_agrees_with_the_standard_library(x):
    assert float(log_gamma(x)) == pytest.approx(lgamma(x), rel=1e-13, abs=1e-13)


def log_product(a, n):
    value = prod(Fraction(a) + k for k in range(n))
    return log(value.numerator) - log(value.denominator)


@given(st.floats(1e-60, 1e15), st.integers(0, 300))
def test_log_rising_is_the_product(a, n):
    # ln a + ln(a + 1) + ... in exact fractions; the only rounding is that of two logarithms.
    expected = log_product(a, n)
    scale = max(1.0, log(Fraction(a).denominator))
    assert float(log_rising(a, n)) == pytest.approx(expected, rel=2e-14, abs=2e-14 * scale)


# Where the difference of log-gammas keeps no digit: (a)_3 = a (a + 1)(a + 2) for a = 1e15.
def test_log_rising_keeps_its_digits():
    expected = 3 * log(1e15)
    assert float(log_rising(1e15, 3)) == pytest.approx(expected, rel=1e-14)
    assert float(log_rising(1e15, 2.5)) == pytest.approx(2.5 * log(1e15), rel=1e-14)


def test_log_rising_joins_smoothly_at_its_switches():
    # Whole and nearly whole n, and a on both sides of 64, agree with the sum of logarithms.
    for a in (63.999, 64.0, 64.001, 500.0):
        for n in (31, 32, 33, 1000):
            expected = sum(np.log(a + np.arange(n)))
            assert float(log_rising(a, n)) == pytest.approx(expected, rel=1e-13)
            assert float(log_rising(a, n + 1e-9)) == pytest.approx(expected, rel=1e-9)


def test_n_log_n_of_zero_is_zero():
    assert n_log_n([0, 1, 4]).tolist() == [0.0, 0.0, pytest.approx(4 * log(4))]


# Two degrees of freedom: exponential with mean 2. One: the square of a normal variable.
@pytest.mark.parametrize("confidence", [1e-300, 1e-9, 0.3, 0.5, 0.9, 0.99, 1 - 1e-12])
def test_chi_square_quantiles_in_closed_form(confidence):
    exponential = -2 * log1p(-confidence)
    assert chi_square_quantile(2, confidence) == pytest.approx(exponential, rel=1e-13)
    normal = NormalDist().inv_cdf(0.975) ** 2
    assert chi_square_quantile(1, 0.95) == pytest.approx(normal, rel=1e-12)


@given(st.integers(0, 10**14), st.floats(1e-5, 1, exclude_max=True))
@example(10**6 - 1, 0.99)
@example(10**6, 0.99)
def test_chi_square_quantiles_agree_with_scipy(df, confidence):
    from scipy.special import chdtri, gammaincinv

    tail = 1 - confidence
    expected = 2 * gammaincinv(df / 2, confidence) if confidence < 0.5 else chdtri(df, tail)
    got = chi_square_quantile(df, confidence)
    assert got == (0.0 if df == 0 else pytest.approx(expected, rel=1e-10))


# Where scipy's own sum stops early (6,601,428 degrees of freedom, confidence 1.12e-9), the series
# of P(a, x) in 40 digits: x^a e^-x / Gamma(a) (1/a + x/(a (a+1)) + ...), Gamma by Stirling.
def test_chi_square_quantiles_far_out_in_many_digits():
    confidence = 1.1186915836973644e-09
    x = Decimal(chi_square_quantile(6_601_428, confidence)) / 2
    a = Decimal(6_601_428) / 2
    with localcontext() as context:
        context.prec = 40
        pi = Decimal("3.14159265358979323846264338327950288419717")
        log_gamma_a = (a - Decimal("0.5")) * a.ln() - a + (2 * pi).ln() / 2 + 1 / (12 * a)
        term = total = 1 / a
        n = a
        while term > total * Decimal("1e-20"):
            n += 1
            term *= x / n
            total += term
        probability = (a * x.ln() - x - log_gamma_a + total.ln()).exp()
    assert float(probability) == pytest.approx(confidence, rel=1e-10)


def test_chi_square_quantile_of_infinitely_many_degrees_of_freedom():
    assert chi_square_quantile(float("inf"), 0.99) == float("inf")


def test_n_log_share_of_nothing_is_zero():
    assert n_log_share([0, 0, 3], [0, 5, 3]).tolist() == [0.0, 0.0, 0.0]


# The shares 1/4, 1/2 (both sides of the switch) and 1 - 1e-12, of which the ratio keeps 4 digits.
def test_n_log_share_keeps_its_digits():
    assert n_log_share([1, 2, 3], 4).tolist() == pytest.approx(
        [log(1 / 4), 2 * log(1 / 2), 3 * log(3 / 4)], rel=1e-15
    )
    n = 10**15
    assert float(n_log_share(n - 1000, n)) == pytest.approx((n - 1000) * log1p(-1e-12), rel=1e-15)


@given(st.floats(1e-12, 1e15), st.integers(0, 200))
def test_log_rising_slopes_are_sums(a, n):
    # Each term rounded once from exact fractions, and their sum rounded once.
    terms = [Fraction(a) + k for k in range(n)]
    first, second = log_rising_slopes(a, n)
    assert float(first) == pytest.approx(fsum(float(1 / t) for t in terms), rel=1e-14)
    assert float(second) == pytest.approx(-fsum(float(1 / t**2) for t in terms), rel=1e-14)


# psi(a + 1/2) - psi(a) where scipy's difference keeps its digits; 1/(2a) + 1/(8a^2) far out.
def test_log_rising_slopes_of_counts_that_are_not_whole():
    from scipy.special import digamma, polygamma

    a, n = np.meshgrid([1e-9, 0.01, 0.5, 3.7, 9.99, 10.01, 40.0], [0.5, 1.5, 9.9, 10.1, 1e3 + 0.1])
    first, second = log_rising_slopes(a, n)
    assert first == pytest.approx(digamma(a + n) - digamma(a), rel=1e-12)
    assert second == pytest.approx(polygamma(1, a + n) - polygamma(1, a), rel=1e-11)
    assert float(log_rising_slopes(1e12, 0.5)[0]) == pytest.approx(5e-13 + 1.25e-25, rel=1e-15)
    # A count of next to nothing: the trigamma function times the count.
    assert float(log_rising_slopes(2.0, 1e-12)[0]) == pytest.approx(
        1e-12 * polygamma(1, 2.0), rel=1e-11
    )


# For whole n: 1/a + the harmonic number H(n - 1) - a (pi^2 / 6) + ...; H(1e9 - 1) is
# ln(1e9) + Euler's constant - 1/(2e9).
def test_log_rising_slopes_for_tiny_a_and_huge_n():
    harmonic = log(1e9) + 0.5772156649015329 - 0.5e-9
    expected = 1e6 + harmonic - 1e-6 * (np.pi**2 / 6 - 1e-9)
    assert float(log_rising_slopes(1e-6, 10**9)[0]) == pytest.approx(expected, rel=1e-15)
    assert float(log_rising_slopes(1e-12, 10**9)[0]) == pytest.approx(1e12 + harmonic, rel=1e-15)


@given(st.floats(1e-6, 1e9), st.one_of(st.floats(1e-3, 0.999), st.floats(1.001, 1e6)))
def test_one_over_the_slope_bends_one_way(a, n):
    # What the solvers of Max-BDeu stand on: its slope goes from 1 to 1/n, never back.
    first, second = log_rising_slopes([a, 1.1 * a], n)
    slopes = -second / first**2
    assert (
        min(1, 1 / n) * (1 - 1e-13) <= slopes.min() <= slopes.max() <= max(1, 1 / n) * (1 + 1e-13)
    )
    assert (slopes[1] - slopes[0]) * (1 - n) >= -1e-13 * slopes[0] * abs(1 - n)
