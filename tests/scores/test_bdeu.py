"""BDeu: exact values, agreement with the reference, refusals."""

from math import factorial, log, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.scores.bdeu import BDeu
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


# Three heads and a tail: (1/2 3/2 5/2)(1/2) / 4! = 5/128.
@pytest.mark.parametrize(
    ("table", "expected"),
    [([[0, 0]], 0.0), ([[1, 0]], log(1 / 2)), ([[3, 1]], log(5 / 128))],
)
def test_value_worked_out_by_hand(table, expected):
    assert BDeu(ess=1.0).family(FamilyCounts.of(table)) == pytest.approx(expected, abs=1e-12)


# Two configurations seen of four, ess 4: a_j = 1, a_jk = 1/2.
# (2, 0): (1/2 3/2) / (1 2) = 3/8.   (1, 1): (1/2 1/2) / (1 2) = 1/8.   Product 3/64.
def test_unseen_configurations_shrink_the_prior_and_add_nothing():
    counts = FamilyCounts.of([[2, 0], [1, 1]], n_configurations=4)
    assert BDeu(ess=4.0).family(counts) == pytest.approx(log(3 / 64), abs=1e-12)


# A third state is declared and never seen: a_k = 1/3, (1/3)(1/3) / (1 2) = 1/18.
def test_unseen_state_takes_its_share_of_the_prior():
    assert BDeu().family(FamilyCounts.of([[1, 1, 0]])) == pytest.approx(log(1 / 18), abs=1e-12)


@given(st.lists(row, min_size=1, max_size=5), st.integers(0, 9), st.floats(0.01, 100))
def test_agrees_with_reference(table, unobserved, ess):
    q = len(table) + unobserved
    got = BDeu(ess=ess).family(FamilyCounts.of(table, n_configurations=q))
    assert got == pytest.approx(reference.bdeu(table, q, ess), rel=1e-9, abs=1e-9)


@given(st.lists(row, min_size=1, max_size=3), st.sampled_from([1e-12, 1e-6, 1e6, 1e9, 1e15]))
def test_keeps_its_digits_for_extreme_priors(table, ess):
    got = BDeu(ess=ess).family(FamilyCounts.of(table))
    assert got == pytest.approx(reference.bdeu(table, len(table), ess), rel=1e-12, abs=1e-12)


# Table 7.2 of Jensen and Nielsen, ess 1. X1 -> X2, with the rising product a^(n) = a (a+1) ...:
#   X1: (1/2)^(8) (1/2)^(2) / 1^(10); X2 given X1: (1/4)^(6) (1/4)^(2) / (1/2)^(8) and, for the two
#   cases of the other configuration, (1/4)^(2) / (1/2)^(2). The products over X1's cells cancel
#   against the rows below: (1/4)^(6) [(1/4)^(2)]^2 / 10! is left, and that is symmetric.
def test_table_7_2_both_directions():
    dataset = make_dataset({"X1": [0] * 8 + [1] * 2, "X2": [0] * 6 + [1] * 4})
    scorer = Scorer(dataset, "bdeu")
    forward = scorer.family("X1") + scorer.family("X2", ["X1"])
    backward = scorer.family("X2") + scorer.family("X1", ["X2"])
    assert (forward, backward) == pytest.approx((-13.499132730395,) * 2, abs=5e-13)
    six = prod(1 / 4 + k for k in range(6))
    two = prod(1 / 4 + k for k in range(2))
    assert forward == pytest.approx(log(six * two**2 / factorial(10)), rel=1e-13)


# Two binary columns, one pair of cases (0, 0): y tells nothing about x, whose entropy is 0 anyway.
# Alone: (1/2)(3/2) / (1 2) = 3/8. Given y: (1/4)(5/4) / (1/2 3/2) = 5/12, which is more.
def test_is_not_regular():
    scorer = Scorer(make_dataset({"x": [0, 0], "y": [0, 0]}), "bdeu")
    assert scorer.family("x") == pytest.approx(log(3 / 8), abs=1e-12)
    assert scorer.family("x", ["y"]) == pytest.approx(log(5 / 12), abs=1e-12)


@pytest.mark.parametrize("ess", [0.0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_refuses_ess_that_is_not_positive(ess):
    with pytest.raises(InvalidParameterError, match=r"BDeu: ess must be .* > 0, got"):
        BDeu(ess=ess)
