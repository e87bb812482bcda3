"""K2: Example 7.4 and Exercise 7.16 of Jensen and Nielsen, edge cases."""

from fractions import Fraction
from math import exp, factorial, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.graph.dag import Dag
from bestdag.scores.k2 import K2
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)

# Table 7.2: X1, X2 = yes-positive 6 times, yes-negative 2, no-negative 2.
TABLE_7_2 = make_dataset({"X1": [0] * 8 + [1] * 2, "X2": [0] * 6 + [1] * 4})
FORWARD = Dag(["X1", "X2"], [("X1", "X2")])
EMPTY = Dag(["X1", "X2"], [])
BACKWARD = Dag(["X1", "X2"], [("X2", "X1")])

# Each family: (r - 1)! / (N_j + r - 1)! times the product of N_jk!, here with r = 2.
#   X1:           8! 2! / 11! = 1/495
#   X2:           6! 4! / 11! = 1/2310
#   X2 given X1:  6! 2! / 9! times 0! 2! / 3! = 1/252 times 1/3 = 1/756
#   X1 given X2:  6! 0! / 7! times 2! 2! / 5! = 1/7 times 1/30 = 1/210
# X1 -> X2: 1/495 1/756 = 1/374220;  none: 1/495 1/2310 = 1/1143450;
# X2 -> X1: 1/2310 1/210 = 1/485100.
LIKELIHOODS = {FORWARD: 374220, EMPTY: 1143450, BACKWARD: 485100}


@pytest.mark.parametrize(("dag", "denominator"), LIKELIHOODS.items())
def test_likelihoods_of_table_7_2(dag, denominator):
    assert Scorer(TABLE_7_2, "k2").total(dag) == pytest.approx(-log(denominator), abs=1e-12)


def test_example_7_4():
    scorer = Scorer(TABLE_7_2, "k2")
    assert exp(scorer.total(FORWARD)) == pytest.approx(2.67e-6, abs=5e-9)
    assert exp(scorer.total(EMPTY)) == pytest.approx(8.75e-7, abs=5e-10)


# (i) With 1/3 for each structure P(D) is a third of the sum of the likelihoods, 202/36018675.
# (ii) Each posterior is similarlihood over the sum: 385, 126 and 297 of 808.
def test_exercise_7_16_posteriors():
    exact = {dag: Fraction(1, n) for dag, n in LIKELIHOODS.items()}
    assert sum(exact.values()) / 3 == Fraction(202, 108056025)
    scorer = Scorer(TABLE_7_2, "k2")
    likelihoods = {dag: exp(scorer.total(dag)) for dag in LIKELIHOODS}
    assert sum(likelihoods.values()) / 3 == pytest.approx(202 / 108056025, rel=1e-12)
    posteriors = [value / sum(likelihoods.values()) for value in likelihoods.values()]
    assert posteriors == pytest.approx([385 / 808, 126 / 808, 297 / 808], rel=1e-12)


class Sparse:
    """A prior of one's own: each family with a parent is t times as likely as one without."""

    is_score_equivalent = True

    def __init__(self, t):
        self.t = t

    def family(self, child, parents):
        return len(parents) * log(self.t)


# (iii) The empty graph wins when p / 1143450 >= (1 - p)/2 / 374220, so p / (1 - p) >= 55/36 and
# p >= 55/91. The prior 1 : t : t gives p = 1 / (1 + 2 t), so t <= 18/55: then the two scores meet.
def test_exercise_7_16_prior_of_the_empty_graph():
    assert 1 / (1 + 2 * Fraction(18, 55)) == Fraction(55, 91)
    at_the_limit, below = (Scorer(TABLE_7_2, "k2", Sparse(t)) for t in (18 / 55, 17.9 / 55))
    assert at_the_limit.total(EMPTY) == pytest.approx(at_the_limit.total(FORWARD), abs=1e-12)
    assert below.total(EMPTY) > max(below.total(FORWARD), below.total(BACKWARD))


def test_is_not_score_equivalent():
    scorer = Scorer(TABLE_7_2, "k2")
    assert scorer.total(FORWARD) - scorer.total(BACKWARD) == pytest.approx(log(485100 / 374220))


# Three states, the third never seen: 2! 1! 1! 0! / 4! = 1/12.
def test_unseen_state_takes_its_share_of_the_prior():
    assert K2().family(FamilyCounts.of([[1, 1, 0]])) == pytest.approx(-log(12), abs=1e-12)


def test_unseen_configurations_add_nothing():
    counts = FamilyCounts.of([[1, 1]], n_configurations=1e15)
    assert K2().family(counts) == K2().family(FamilyCounts.of([[1, 1]]))


def test_one_row_is_one_of_r_states():
    assert K2().family(FamilyCounts.of([[0, 1, 0, 0]])) == pytest.approx(-log(4), abs=1e-12)


@given(st.lists(row, min_size=1, max_size=5))
def test_agrees_with_factorials(table):
    expected = Fraction(1)
    for cells in table:
        expected *= Fraction(factorial(2), factorial(sum(cells) + 2))
        for n in cells:
            expected *= factorial(n)
    got = K2().family(FamilyCounts.of(table))
    assert got == pytest.approx(reference.log_fraction(expected), rel=1e-9, abs=1e-9)
