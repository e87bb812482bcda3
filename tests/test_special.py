"""Functions of counts against exact products and the standard library."""

from fractions import Fraction
from math import lgamma, log, log1p, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.special import log_gamma, log_rising, n_log_n, n_log_share


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


def test_n_log_share_of_nothing_is_zero():
    assert n_log_share([0, 0, 3], [0, 5, 3]).tolist() == [0.0, 0.0, 0.0]


# The shares 1/4, 1/2 (both sides of the switch) and 1 - 1e-12, of which the ratio keeps 4 digits.
def test_n_log_share_keeps_its_digits():
    assert n_log_share([1, 2, 3], 4).tolist() == pytest.approx(
        [log(1 / 4), 2 * log(1 / 2), 3 * log(3 / 4)], rel=1e-15
    )
    n = 10**15
    assert float(n_log_share(n - 1000, n)) == pytest.approx((n - 1000) * log1p(-1e-12), rel=1e-15)
