"""AIC: the textbook's data, the penalty, agreement with the reference."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.graph.dag import Dag
from bestdag.scores.aic import AIC
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


# Table 7.2 of Jensen and Nielsen, X1 -> X2: the log-likelihood of Example 7.2 in bits is
# -2.57542 - 4.64386 - 2.49022 - 4 = -13.70951, and there are 1 + 2 free parameters.
def test_table_7_2():
    dataset = make_dataset({"X1": [0] * 8 + [1] * 2, "X2": [0] * 6 + [1] * 4})
    total = Scorer(dataset, "aic").total(Dag(["X1", "X2"], [("X1", "X2")]))
    assert total == pytest.approx(-13.70951 * log(2) - 3, abs=5e-6)


# Two cases in one of four configurations: 2 ln(1/2), and 4 (3 - 1) free parameters.
def test_unseen_configurations_and_states_are_paid_for():
    counts = FamilyCounts.of([[1, 1, 0]], n_configurations=4)
    assert AIC().terms(counts) == {
        "log-likelihood": pytest.approx(-2 * log(2), abs=1e-12),
        "penalty": -8.0,
    }


def test_one_row_costs_its_parameters():
    assert AIC().family(FamilyCounts.of([[0, 1]], n_configurations=8)) == -8.0


@given(st.lists(row, min_size=1, max_size=5), st.integers(0, 9))
def test_agrees_with_reference(table, unobserved):
    q = len(table) + unobserved
    got = AIC().family(FamilyCounts.of(table, n_configurations=q))
    assert got == pytest.approx(reference.log_likelihood(table) - 2 * q, rel=1e-9, abs=1e-9)
