"""PNAL: values by hand, the rate of its penalty, refusals."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.scores.bic import BIC
from bestdag.scores.pnal import PNAL
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


# Three of one state and one of another: (3 ln 3/4 + ln 1/4) / 4, and one parameter at 2 / sqrt 2.
def test_value_worked_out_by_hand():
    score = PNAL(scale=2.0, exponent=0.25)
    want = (3 * log(3 / 4) + log(1 / 4)) / 4 - 2 / 2**0.5
    assert score.family(FamilyCounts.of([[3, 1]])) == pytest.approx(want, abs=1e-12)


# Two of four configurations seen: 4 (3 - 1) free parameters.
def test_unseen_configurations_and_states_are_paid_for():
    counts = FamilyCounts.of([[2, 0, 0], [0, 1, 0]], n_configurations=4)
    assert PNAL(scale=1.0, exponent=0.4).terms(counts) == {
        "mean log-likelihood": 0.0,
        "penalty": pytest.approx(-8 * 3**-0.4, rel=1e-14),
    }


@given(st.lists(row, min_size=1, max_size=5), st.integers(0, 9))
def test_agrees_with_reference(table, unobserved):
    q = len(table) + unobserved
    n = int(np.sum(table))
    if n == 0:
        return
    got = PNAL(scale=0.3, exponent=0.1).family(FamilyCounts.of(table, n_configurations=q))
    want = reference.log_likelihood(table) / n - 0.3 * n**-0.1 * q * 2
    assert got == pytest.approx(want, rel=1e-9, abs=1e-9)


# The penalty of BIC vanishes faster than chance does, as N ** -1/2; that of PNAL does not.
def test_the_penalty_outweighs_chance_in_the_end():
    for n in (1e8, 1e12, 1e16):
        assert BIC().rate(n) < 1e-2 * n**-0.5 < PNAL(scale=0.05, exponent=0.4).rate(n)


@pytest.mark.parametrize("exponent", [0.0, 0.5, -0.1, 1.0, float("nan"), True, "a"])
def test_refuses_exponents_outside_their_range(exponent):
    with pytest.raises(InvalidParameterError, match="PNAL: exponent must be a number between"):
        PNAL(exponent=exponent)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), 1e200])
def test_refuses_a_scale_outside_its_range(scale):
    with pytest.raises(InvalidParameterError, match=r"PNAL: scale must be .*, got"):
        PNAL(scale=scale)
