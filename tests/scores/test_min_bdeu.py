"""Min-BDeu: exact values, every corner, refusals."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.scores.bdeu import BDeu
from bestdag.scores.min_bdeu import MinBDeu
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.reference import contaminated_priors as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


# (3, 1): the second state gets 3/4, the first 1/4. (1/4 5/4 9/4)(3/4) / 4! = 135/6144.
# (2, 0): the second gets 3/4.                      (1/4 5/4) / 2! = 5/32.
# (2, 2): one of them gets 3/4.                     (3/4 7/4)(1/4 5/4) / 4! = 105/6144.
@pytest.mark.parametrize(
    ("table", "expected"),
    [([[3, 1]], log(135 / 6144)), ([[2, 0]], log(5 / 32)), ([[2, 2]], log(105 / 6144))],
)
def test_value_worked_out_by_hand(table, expected):
    assert MinBDeu().family(FamilyCounts.of(table)) == pytest.approx(expected, abs=1e-13)


def test_value_known_to_twelve_digits():
    assert MinBDeu().family(FamilyCounts.of([[3, 1]])) == pytest.approx(-3.817956496389, abs=1e-12)


# ess 4 and q = 4: beta = 1. (1, 1) : (3/4)(1/4) / 2 = 3/32; the two unseen add nothing.
def test_unseen_configurations_shrink_the_prior_and_add_nothing():
    counts = FamilyCounts.of([[1, 1], [0, 2]], n_configurations=4)
    assert MinBDeu(ess=4.0).family(counts) == pytest.approx(log(3 / 32 * 5 / 32), abs=1e-13)
    assert MinBDeu().family(FamilyCounts.of([[0, 0, 0]])) == 0.0


# The third state is never seen and takes the free half: a = (1/6, 1/6, 2/3), (1/6)^2 / 2 = 1/72.
def test_unseen_state_takes_all_that_is_free():
    assert MinBDeu().family(FamilyCounts.of([[1, 1, 0]])) == pytest.approx(log(1 / 72), abs=1e-13)


@given(
    st.lists(row, min_size=1, max_size=4),
    st.integers(0, 5),
    st.floats(1e-8, 1e5),
    st.floats(0, 0.999),
)
def test_is_the_smallest_value_of_all_corners(table, unobserved, ess, epsilon):
    q = len(table) + unobserved
    score = MinBDeu(ess=ess, epsilon=epsilon)
    got = score.family(FamilyCounts.of(table, n_configurations=q))
    expected = reference.min_bdeu(table, q, ess, epsilon)
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("counts", [[4, 1], [2, 2], [0, 3], [9, 8, 7], [1, 1, 4], [0, 5, 0]])
@pytest.mark.parametrize("ess", [0.1, 1.0, 30.0])
def test_no_prior_of_a_fine_grid_is_worse(counts, ess):
    grid = reference.grid_of_priors(len(counts), ess, 0.5, 120)
    lowest = reference.log_probabilities(counts, grid).min()
    assert MinBDeu(ess=ess).family(FamilyCounts.of([counts])) == pytest.approx(lowest, abs=1e-11)


# Counts of one half: Gamma(a + 1/2) / Gamma(a) is 1 / sqrt(pi) at a = 1/2 and sqrt(pi) / 2 at
# a = 1. With beta = 2, epsilon = 1/2 and counts (1/2, 0): a = (1/2, 3/2), and
# Gamma(2) / Gamma(5/2) = 4 / (3 sqrt(pi)): the product is 4 / (3 pi).
def test_counts_need_not_be_whole():
    counts = FamilyCounts.of([[0.5, 0]])
    assert MinBDeu(ess=2.0).family(counts) == pytest.approx(log(4 / (3 * np.pi)), abs=1e-13)


def test_epsilon_zero_is_bdeu():
    counts = FamilyCounts.of([[3, 1, 0], [0, 0, 2]], n_configurations=6)
    assert MinBDeu(ess=2.5, epsilon=0).family(counts) == BDeu(ess=2.5).family(counts)


# beta = 1/2, 3 states: the floor is 1/12 and 1/4 is free.
def test_priors_state_their_ties():
    table = [[5, 2, 3], [2, 2, 3], [0, 4, 0], [0, 0, 0]]
    priors = MinBDeu(ess=2.0).priors(FamilyCounts.of(table)) * 12
    assert priors.tolist() == [
        pytest.approx([1, 4, 1]),  # the smallest count
        pytest.approx([4, 1, 1]),  # the first of the smallest
        pytest.approx([2.5, 1, 2.5]),  # unseen states share
        pytest.approx([2, 2, 2]),  # nothing seen: uniform
    ]


# Joint counts of x, y: [[2, 1], [0, 1]], ess 1, so beta = 1 without parents and 1/2 with one.
# x -> y: (3, 1) is 135/6144; (2, 1) is (1/8 9/8)(3/8) / (1/2 3/2 5/2) = 9/320; (0, 1) is 1/4.
# y -> x: (2, 2) is 105/6144; (2, 0) is (1/8 9/8) / (1/2 3/2) = 3/16; (1, 1) is 1/16.
def test_is_not_score_equivalent():
    scorer = Scorer(make_dataset({"x": [0, 0, 0, 1], "y": [0, 0, 1, 1]}), MinBDeu())
    forward = scorer.family("x") + scorer.family("y", ["x"])
    backward = scorer.family("y") + scorer.family("x", ["y"])
    assert forward == pytest.approx(log(135 / 6144 * 9 / 320 * 1 / 4), abs=1e-13)
    assert backward == pytest.approx(log(105 / 6144 * 3 / 16 * 1 / 16), abs=1e-13)


# y decides x, z = y adds nothing, and yet wins: each of two configurations (2, 0) goes from
# (1/8 9/8) / (1/2 3/2) = 3/16 to (1/16 17/16) / (1/4 5/4) = 17/80.
def test_is_not_regular():
    scorer = Scorer(make_dataset({n: [0, 0, 1, 1] for n in "xyz"}), MinBDeu())
    assert scorer.family("x", ["y"]) == pytest.approx(2 * log(3 / 16), abs=1e-13)
    assert scorer.family("x", ["y", "z"]) == pytest.approx(2 * log(17 / 80), abs=1e-13)


@pytest.mark.parametrize(
    "epsilon", [-0.1, 1.0, 1, 1.5, float("nan"), float("inf"), "1", None, True]
)
def test_refuses_epsilon_outside_its_range(epsilon):
    with pytest.raises(InvalidParameterError, match=r"MinBDeu: epsilon must be .* < 1, got"):
        MinBDeu(epsilon=epsilon)


def test_says_why_epsilon_cannot_be_one():
    with pytest.raises(InvalidParameterError, match="minus infinity"):
        MinBDeu(epsilon=1.0)


@pytest.mark.parametrize("ess", [0.0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_refuses_ess_that_is_not_positive(ess):
    with pytest.raises(InvalidParameterError, match=r"MinBDeu: ess must be .* > 0, got"):
        MinBDeu(ess=ess)
