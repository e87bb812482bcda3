"""HQC: the textbook's data, few cases, where it lies between AIC and BIC, the reference."""

from math import e, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.graph.dag import Dag
from bestdag.scores.aic import AIC
from bestdag.scores.bic import BIC
from bestdag.scores.hqc import HQC
from bestdag.scores.ll import LL
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


# Table 7.2 of Jensen and Nielsen, X1 -> X2: the log-likelihood of Example 7.2 in bits is
# -2.57542 - 4.64386 - 2.49022 - 4 = -13.70951, there are 1 + 2 free parameters, and
# ln ln 10 = ln 2.3025851 = 0.8340324.
def test_table_7_2():
    dataset = make_dataset({"X1": [0] * 8 + [1] * 2, "X2": [0] * 6 + [1] * 4})
    scorer = Scorer(dataset, "hqc")
    for arc in (("X1", "X2"), ("X2", "X1")):
        total = scorer.total(Dag(["X1", "X2"], [arc]))
        assert total == pytest.approx(-13.70951 * log(2) - 3 * 0.8340324, abs=5e-6)


# Three cases in one of four configurations: 2 ln(2/3) + ln(1/3), and 4 (3 - 1) free parameters at
# ln ln 3 = ln 1.0986123 = 0.0940478.
def test_unseen_configurations_and_states_are_paid_for():
    counts = FamilyCounts.of([[2, 1, 0]], n_configurations=4)
    assert HQC().terms(counts) == {
        "log-likelihood": pytest.approx(log(4 / 27), abs=1e-12),
        "penalty": pytest.approx(-8 * 0.0940478, abs=5e-7),
    }


# ln ln 1 is minus infinity and ln ln 2 = -0.37: nobody is paid for parameters.
@pytest.mark.parametrize("table", [[[1, 0]], [[1, 1]], [[1, 0], [0, 1]], [[0.5, 0.2]]])
def test_up_to_two_cases_it_is_the_likelihood(table):
    counts = FamilyCounts.of(table, n_configurations=8)
    assert HQC().family(counts) == LL().family(counts)


def test_the_native_twin_has_no_penalty_up_to_e_either():
    for weights in ([1.0, 0.5], [1.5, e - 1.5], [1e-3, 1e-3]):
        dataset = make_dataset({"x": [0, 1], "p": [0, 0]}, weights=np.array(weights))
        hqc, ll = (Scorer(dataset, name).family("x", ["p"]) for name in ("hqc", "ll"))
        assert hqc == ll


# At N = e^e = 15.15 a parameter costs exactly 1, as in AIC: weights need not be whole.
def test_costs_what_aic_does_at_e_to_the_e():
    weights = np.array([1.0, 2.0, 3.0, 4.0]) * e**e / 10
    dataset = make_dataset({"x": [0, 1, 1, 2], "p": [0, 0, 1, 1]}, weights=weights)
    hqc, aic = (Scorer(dataset, name).family("x", ["p"]) for name in ("hqc", "aic"))
    assert hqc == pytest.approx(aic, rel=1e-14)


@given(st.lists(row, min_size=1, max_size=5), st.integers(1, 10**9))
def test_lies_between_aic_and_bic_from_16_cases_on(table, factor):
    counts = FamilyCounts.of(np.array(table) * factor, n_configurations=7)
    assume(counts.total >= 16)
    penalties = [score.terms(counts)["penalty"] for score in (BIC(), HQC(), AIC())]
    assert penalties == sorted(penalties)


@given(st.lists(row, min_size=1, max_size=5), st.integers(0, 9))
def test_agrees_with_reference(table, unobserved):
    q = len(table) + unobserved
    got = HQC().family(FamilyCounts.of(table, n_configurations=q))
    assert got == pytest.approx(reference.hqc(table, q), rel=1e-9, abs=1e-9)


# 300 parents with 20 states, one case: what costs nothing costs nothing however much there is.
def test_more_parents_than_numbers_can_hold():
    columns = {f"p{i}": [0] for i in range(300)} | {"x": [0]}
    dataset = make_dataset(columns, dict.fromkeys(columns, 20))
    parents = [name for name in columns if name != "x"]
    assert Scorer(dataset, "hqc").family("x", parents) == 0.0
    assert Scorer(dataset, "hqc").explain("x", parents).value == 0.0


# One or two rows: every set scores 0 or the same as a smaller one, and none but the smallest that
# reaches the best is needed.
def test_without_a_penalty_the_table_still_has_the_best_set():
    dataset = make_dataset({"x": [0, 1], "y": [0, 1], "z": [0, 0]})
    table = build_score_table(Scorer(dataset, "hqc"))
    assert table.sets("x") == [(0.0, ("y",)), (pytest.approx(-2 * log(2)), ())]
