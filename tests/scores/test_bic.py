"""BIC: the textbook's example, edge cases, agreement with the reference."""

from math import log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.graph.dag import Dag
from bestdag.scores.bic import BIC
from bestdag.scores.scorer import Scorer
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


@pytest.fixture
def table_7_2(code_columns):
    """Jensen and Nielsen, Table 7.2: yes-positive 6, yes-negative 2, no-negative 2 times."""
    return code_columns(X1=[0] * 8 + [1] * 2, X2=[0] * 6 + [1] * 4)


# Example 7.2, base 2. B_a, X1 -> X2:
#   8 lg(8/10) + 2 lg(2/10) + 6 lg(6/8) + 2 lg(2/8) + 2 lg(2/2) - (1 + 2)/2 lg 10
#   = -2.57542 - 4.64386 - 2.49022 - 4 + 0 - 4.98289 = -18.69240
# B_b, no arc (the book prints "6 log(4/10)" for 4 log(4/10)):
#   8 lg(8/10) + 2 lg(2/10) + 6 lg(6/10) + 4 lg(4/10) - (1 + 1)/2 lg 10
#   = -2.57542 - 4.64386 - 4.42179 - 5.28771 - 3.32193 = -20.25071
def test_example_7_2(table_7_2):
    scorer = Scorer(table_7_2, "bic")
    bits_a = scorer.total(Dag(["X1", "X2"], [("X1", "X2")])) / log(2)
    bits_b = scorer.total(Dag(["X1", "X2"], [])) / log(2)
    assert bits_a == pytest.approx(-18.69240, abs=5e-6)
    assert bits_b == pytest.approx(-20.25071, abs=5e-6)


# Exercise 7.8, Table 7.4: (C, B, A) = (1,1,2) 12 times, (1,1,1) 11, (2,1,2) 6, (2,2,1) 3; N = 32.
# The figures of the exercise are not at hand, so every kind of family and structure is here. Fits,
# base 2:
#   A        14 lg(14/32) + 18 lg(18/32)                                 = -31.63838
#   B        29 lg(29/32) + 3 lg(3/32)                                   = -14.36366
#   C        23 lg(23/32) + 9 lg(9/32)                                   = -27.42875
#   B | A    11 lg(11/14) + 3 lg(3/14), for A=2 certain                  = -10.49433
#   C | A    11 lg(11/14) + 3 lg(3/14) + 12 lg(12/18) + 6 lg(6/18)       = -27.02366
#   C | B    23 lg(23/29) + 6 lg(6/29), for B=2 certain                  = -21.32975
#   B | A,C  always certain                                              = 0
#   C | A,B  12 lg(12/18) + 6 lg(6/18)                                   = -16.52933
# The penalty is (lg 32)/2 = 2.5 per free parameter: 1 without, 2 with one, 4 with two parents.
@pytest.mark.parametrize(
    ("arcs", "bits"),
    [
        ([], -31.63838 - 14.36366 - 27.42875 - 3 * 2.5),
        ([("A", "B"), ("B", "C")], -31.63838 - 10.49433 - 21.32975 - 5 * 2.5),
        ([("A", "B"), ("A", "C")], -31.63838 - 10.49433 - 27.02366 - 5 * 2.5),
        ([("A", "B"), ("C", "B")], -31.63838 - 0 - 27.42875 - 6 * 2.5),
        ([("A", "C"), ("B", "C")], -31.63838 - 14.36366 - 16.52933 - 6 * 2.5),
        ([("A", "B"), ("A", "C"), ("B", "C")], -31.63838 - 10.49433 - 16.52933 - 7 * 2.5),
    ],
)
def test_exercise_7_8(code_columns, arcs, bits):
    rows = [(0, 0, 1)] * 12 + [(0, 0, 0)] * 11 + [(1, 0, 1)] * 6 + [(1, 1, 0)] * 3
    dataset = code_columns(**dict(zip("CBA", map(list, zip(*rows, strict=True)), strict=True)))
    total = Scorer(dataset, "bic").total(Dag(["A", "B", "C"], arcs))
    assert total / log(2) == pytest.approx(bits, abs=2e-5)


# (1, 1) once each in one configuration of four: 2 ln(1/2), penalty (ln 2)/2 times 4 (2 - 1).
def test_unseen_configurations_are_paid_for():
    counts = FamilyCounts.of([[1, 1]], n_configurations=4)
    assert BIC().family(counts) == pytest.approx(-4 * log(2), abs=1e-12)


# Three declared states, two seen: the penalty is (ln 2)/2 times 2.
def test_unseen_state_is_paid_for():
    assert BIC().family(FamilyCounts.of([[1, 1, 0]])) == pytest.approx(-3 * log(2), abs=1e-12)


def test_one_row_costs_nothing():
    # The likelihood is 1 and ln 1 = 0.
    assert BIC().family(FamilyCounts.of([[0, 1]], n_configurations=8)) == 0.0


@given(st.lists(row, min_size=1, max_size=5), st.integers(0, 9))
def test_agrees_with_reference(table, unobserved):
    assume(sum(map(sum, table)) > 0)
    q = len(table) + unobserved
    got = BIC().family(FamilyCounts.of(table, n_configurations=q))
    assert got == pytest.approx(reference.bic(table, q), rel=1e-9, abs=1e-9)


def test_terms_add_up(table_7_2):
    terms = Scorer(table_7_2, "bic").explain("X2", ["X1"]).terms
    assert set(terms) == {"log-likelihood", "penalty"}
    assert terms["penalty"] == pytest.approx(-log(10), abs=1e-12)
