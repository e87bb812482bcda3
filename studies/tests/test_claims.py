"""Verdicts: what an interval says of a claim, and what it leaves open."""

import math

import numpy as np
import pytest

from studies.claims import (
    Interval,
    all_of,
    bootstrap_interval,
    is_above,
    is_below,
    mean_interval,
)
from studies.sections import in_digits


@pytest.mark.parametrize(
    ("low", "high", "above", "below"),
    [
        (0.1, 0.3, "holds", "does not hold"),
        (-0.3, -0.1, "does not hold", "holds"),
        (-0.1, 0.3, "cannot be told", "cannot be told"),
        (-math.inf, math.inf, "cannot be told", "cannot be told"),
    ],
)
def test_an_interval_decides_when_the_threshold_is_outside(low, high, above, below):
    found = Interval(0.0, low, high, 9)
    assert (is_above(found), is_below(found)) == (above, below)


@pytest.mark.parametrize("values", [[], [3.0]])
def test_without_two_values_nothing_can_be_told(values):
    assert is_above(mean_interval(values)) == "cannot be told"
    assert is_below(mean_interval(values), 100) == "cannot be told"


def test_mean_interval_is_students():
    # Mean 2, s = 1, n = 4, t = 3.182446 for three degrees of freedom.
    found = mean_interval([1.0, 2.0, 2.0, 3.0])
    half = 3.182446305284263 * math.sqrt(2 / 3) / 2
    assert (found.value, found.n) == (2.0, 4)
    assert (found.low, found.high) == pytest.approx((2 - half, 2 + half))


def test_bootstrap_keeps_rows_together():
    rows = [[k, -k] for k in range(20)]  # each adds to zero, whatever is drawn
    found = bootstrap_interval(rows, lambda sample: float(sample.sum()))
    assert (found.low, found.high) == (0, 0)
    spread = bootstrap_interval(rows, lambda sample: float(np.mean(sample[:, 0])))
    assert spread.low < 9.5 < spread.high


def test_everything_must_hold():
    assert all_of(["holds", "holds"]) == "holds"
    assert all_of([]) == "cannot be told"
    assert all_of(["holds", "cannot be told", "does not hold"]) == "does not hold"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1_675_432.0, 3, "1,680,000"),
        (0.0121, 3, "0.0121"),
        (99.96, 3, "100"),
        (139.4, 2, "140"),
        (2.0, 2, "2"),
        (0.0, 2, "0"),
    ],
)
def test_numbers_in_tables_have_no_exponent(value, digits, text):
    assert in_digits(value, digits) == text
