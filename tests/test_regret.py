"""Regret: exact fractions, enumeration, high precision, asymptotics, refusals."""

from decimal import Decimal
from fractions import Fraction
from math import exp, lgamma, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.errors import InvalidParameterError
from bestdag.special import regret, szpankowski_regret
from tests.reference import nml as reference


def off(got, expected):
    """Distance to a decimal, as a share of it when it exceeds 1."""
    return float(abs(Decimal(float(got)) - expected) / max(1, abs(expected)))


# C(2, 3): counts (3,0) and (0,3) give 1 each, (2,1) and (1,2) 3 (2/3)^2 (1/3) = 4/9 each:
#   2 + 8/9 = 26/9.
# C(3, 3) = C(2, 3) + (3/1) C(1, 3) = 26/9 + 27/9 = 53/9.
# C(4, 5): C(1, 5) = 1; C(2, 5) = 1 + 1 + 4/5 + 12/25 + 24/125 + 24/625 = 2194/625;
#   C(3, 5) = 2194/625 + 5 = 5319/625; C(4, 5) = 5319/625 + (5/2) 2194/625 = 10804/625.
@pytest.mark.parametrize(
    ("r", "n", "expected"),
    [
        (2, 1, Fraction(2)),
        (7, 1, Fraction(7)),
        (2, 2, Fraction(5, 2)),
        (2, 3, Fraction(26, 9)),
        (3, 3, Fraction(53, 9)),
        (2, 5, Fraction(2194, 625)),
        (3, 5, Fraction(5319, 625)),
        (4, 5, Fraction(10804, 625)),
    ],
)
def test_value_worked_out_by_hand(r, n, expected):
    assert reference.normalizer(r, n) == expected
    assert float(regret(n, r)) == pytest.approx(log(expected), rel=1e-15)


def test_large_alphabet():
    assert float(regret(100, 1e20)) == pytest.approx(4144.653167389282, abs=1e-11)


@pytest.mark.parametrize("function", [regret, szpankowski_regret])
def test_exactly_zero_without_rows_or_with_one_state(function):
    n = np.array([0, 1, 2, 63, 64, 1000, 1e6, 1e12, 2**53])
    assert function(n, 1).tolist() == [0.0] * n.size
    assert function(0, [1, 2, 100, 1e6, 1e300]).tolist() == [0.0] * 5


@pytest.mark.parametrize(("r", "n_max"), [(2, 30), (3, 16), (4, 10), (5, 8), (8, 5)])
def test_equals_the_definition_over_all_count_vectors(r, n_max):
    for n in range(1, n_max + 1):
        expected = log(reference.normalizer(r, n))
        assert float(regret(n, r)) == pytest.approx(expected, rel=5e-15)


# Every way and both sides of every switch: 63 and 64 rows, 512 and 513 states, s and n equal.
@pytest.mark.parametrize("r", [2, 3, 40, 64, 65, 300, 511, 512, 513, 514, 10**4, 10**9, 10**20])
def test_all_digits_up_to_300_rows(r):
    expected = reference.regrets_by_power_series(r, 300)
    got = regret(np.arange(301), r)
    assert max(off(g, x) for g, x in zip(got, expected, strict=True)) < 2e-15


@pytest.mark.parametrize("r", [5, 2001])
def test_all_digits_up_to_2000_rows(r):
    expected = reference.regrets_by_power_series(r, 2000)
    got = regret(np.arange(2001), r)
    assert max(off(g, x) for g, x in zip(got, expected, strict=True)) < 2e-15


@given(st.integers(1, 3000), st.floats(0.0, 300.0))
def test_all_digits_for_any_alphabet(n, log10_r):
    r = float(np.floor(10.0**log10_r))
    assert off(regret(n, r), reference.regret_by_sum(int(r), n)) < 2e-15


@pytest.mark.parametrize("r", [2, 3, 10, 512, 513, 2000])
@pytest.mark.parametrize("n", [10**6, 10**7])
def test_all_digits_for_many_rows(r, n):
    assert off(regret(n, r), reference.regret_by_sum(r, n)) < 2e-15


# The naive e^n n! / n^n is wrong by 2.5e-7 at n = 1e8. The neglected terms are of order
# (r/sqrt(n))^3 here.
@pytest.mark.parametrize("r", [2, 3, 5, 10])
@pytest.mark.parametrize("n", [10**10, 10**12, 10**15, 2**53])
def test_asymptotic_series_for_huge_numbers_of_rows(r, n):
    expected = reference.regret_for_many_rows(r, n)
    assert float(regret(n, r)) == pytest.approx(expected, rel=1e-13 + (r / sqrt(n)) ** 3)


# The asymptotic series itself, where both its terms in n are visible.
def test_asymptotic_series_is_what_it_says():
    for r in (2, 3, 5):
        errors = [abs(regret(n, r) - reference.regret_for_many_rows(r, n)) for n in (400, 40_000)]
        assert errors[1] < errors[0] / 500  # order n^(-3/2): a thousandth


# C(r + 2, n) = C(r + 1, n) + (n/r) C(r, n), divided by C(r + 1, n).
@given(
    st.one_of(st.integers(1, 3000), st.integers(1, 2**53)),
    st.one_of(st.integers(1, 700), st.integers(1, 10**5)),
)
def test_recurrence_in_the_number_of_states(n, r):
    a, b, c = regret(n, [r, r + 1, r + 2])
    assert c == pytest.approx(b + log(1 + n / r * exp(a - b)), rel=4e-15, abs=1e-14)


# e^n n!/n^n Q(n + 1, n), with Q(n + 1, n) = e^-n sum over k = 0 ... n of n^k / k!.
@pytest.mark.parametrize("n", [1, 2, 10, 60])
def test_closed_form_for_two_states(n):
    upper = sum(Fraction(n) ** k / reference.factorial(k) for k in range(n + 1))
    expected = reference.factorial(n) / Fraction(n) ** n * upper
    assert float(regret(n, 2)) == pytest.approx(log(expected), rel=1e-15)
    assert expected == reference.normalizer(2, n)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_grows_with_rows_and_with_states(n, r):
    assert regret(n, r) < regret(n, r + 1)
    assert regret(n, r + 1) < regret(n + 1, r + 1)


# At most every one of the r^n columns has likelihood 1.
@given(st.integers(1, 10**6), st.sampled_from([2.0, 50.0, 1e6, 1e100, 1e300]))
def test_lies_between_one_state_and_certainty(n, r):
    assert 0 < regret(n, r) <= n * log(r) * (1 + 1e-15)


def test_follows_the_shapes_of_arrays():
    out = regret([[1], [2]], [2, 3, 1])
    assert out.shape == (2, 3)
    assert np.exp(out).round(12).tolist() == [[2.0, 3.0, 1.0], [2.5, 4.5, 1.0]]
    assert regret([], 2).shape == (0,)
    assert regret(np.arange(200_000), 2)[-1] == regret(199_999, 2)


@given(
    st.one_of(st.integers(1, 1000), st.integers(1, 2**53)),
    st.one_of(st.integers(2, 3000), st.floats(2.0, 1e300).map(np.floor)),
)
def test_approximation_is_the_printed_formula(n, r):
    expected = reference.szpankowski(int(r), n)
    assert float(szpankowski_regret(n, r)) == pytest.approx(float(expected), rel=4e-15, abs=1e-13)


# For n >> r the two differ by what Stirling's formula for Gamma(r/2) leaves out, about 1/(6 r).
@pytest.mark.parametrize("r", [2, 3, 10, 100])
def test_approximation_is_above_by_a_sixth_of_a_state(r):
    x = r / 2
    stirling = (x - 0.5) * log(x) - x + log(2 * pi) / 2
    gap = float(szpankowski_regret(10**14, r) - regret(10**14, r))
    assert gap == pytest.approx(lgamma(x) - stirling, rel=1e-4)
    assert gap == pytest.approx(1 / (6 * r), rel=0.05)


# For r >> n nearly all columns have n different states, each with likelihood n^-n: n ln(r/n).
@pytest.mark.parametrize("function", [regret, szpankowski_regret])
def test_both_tend_to_the_same_for_a_huge_alphabet(function):
    for n in (1, 5, 64, 10**6):
        assert float(function(n, 1e300)) == pytest.approx(n * log(1e300 / n), rel=1e-14)


@pytest.mark.parametrize("function", [regret, szpankowski_regret])
def test_refuses_what_is_not_whole(function):
    name = function.__name__
    for n in (-1, 0.5, np.nan, np.inf, 2.0**54):
        with pytest.raises(InvalidParameterError, match=rf"^{name}: n must be a whole .* got"):
            function([3, n], 2)
    for r in (0, -2, 1.5, np.nan, np.inf):
        with pytest.raises(InvalidParameterError, match=rf"^{name}: r must be a whole .* got"):
            function(3, [2, r])
