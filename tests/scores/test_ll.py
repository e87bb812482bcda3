"""LL: values by hand, monotone in the parents."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.scores.ll import LL
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


# (6, 2): 6 ln(6/8) + 2 ln(2/8); (0, 2) is certain and adds nothing.
def test_value_worked_out_by_hand():
    counts = FamilyCounts.of([[6, 2], [0, 2]])
    assert LL().family(counts) == pytest.approx(6 * log(3 / 4) + 2 * log(1 / 4), abs=1e-12)


def test_unseen_configurations_and_states_cost_nothing():
    seen = LL().family(FamilyCounts.of([[6, 2]]))
    assert LL().family(FamilyCounts.of([[6, 0, 2, 0]], n_configurations=1e12)) == seen


def test_one_row_is_certain():
    assert LL().family(FamilyCounts.of([[0, 1]], n_configurations=8)) == 0.0


# Weights 0.5 and 1.5 for the two states: 0.5 ln(1/4) + 1.5 ln(3/4).
def test_takes_real_weights():
    dataset = make_dataset({"a": [0, 1]}, weights=np.array([0.5, 1.5]))
    expected = 0.5 * log(1 / 4) + 1.5 * log(3 / 4)
    assert Scorer(dataset, "ll").family("a") == pytest.approx(expected, abs=1e-12)


@given(st.lists(row, min_size=1, max_size=5))
def test_agrees_with_reference(table):
    got = LL().family(FamilyCounts.of(table))
    assert got == pytest.approx(reference.log_likelihood(table), rel=1e-9, abs=1e-9)


@given(st.integers(0, 2**32))
def test_one_more_parent_never_lowers_it(seed):
    rng = np.random.default_rng(seed)
    scorer = Scorer(make_dataset({name: rng.integers(0, 3, 20).tolist() for name in "abcd"}), "ll")
    chain = scorer.families([("a", list("bcd"[:k])) for k in range(4)])
    assert (np.diff(chain) >= -1e-12).all()
