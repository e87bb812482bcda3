"""fNML: hand-worked values, its definition by enumeration, regularity, refusals."""

from itertools import product
from math import log, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.errors import DataError
from bestdag.graph.dag import Dag
from bestdag.scores import make_score
from bestdag.scores.engine import NativeScores
from bestdag.scores.fnml import FNML
from bestdag.scores.scorer import Scorer
from bestdag.special import regret
from tests.conftest import examples, make_dataset
from tests.reference import nml as reference
from tests.scores.independence import independent_of_z


@pytest.fixture
def table_7_2(code_columns):
    """Jensen and Nielsen, Table 7.2: yes-positive 6, yes-negative 2, no-negative 2 times."""
    return code_columns(X1=[0] * 8 + [1] * 2, X2=[0] * 6 + [1] * 4)


# With C(2,2) = 5/2, C(2,4) = 103/32, C(2,6) = 1223/324, C(2,8) = 556403/131072 and
# C(2,10) = 7281587/1562500, each from sum over k of 8!/(8-k)!/8^k and the like:
# X1 -> X2:  8 ln(8/10) + 2 ln(2/10) - ln C(2,10)  +  6 ln(6/8) + 2 ln(2/8) - ln C(2,8) - ln C(2,2)
#         = (-5.004024 - 1.539062) + (-4.498681 - 1.445746 - 0.916291)  = -13.403804
# X2 -> X1:  6 ln(6/10) + 4 ln(4/10) - ln C(2,10)  +  2 ln(2/4) + 2 ln(2/4) - ln C(2,4) - ln C(2,6)
#         = (-6.730117 - 1.539062) + (-2.772589 - 1.168993 - 1.328319)  = -13.539079
def test_table_7_2_worked_out_by_hand(table_7_2):
    scorer = Scorer(table_7_2, "fnml")
    forward = scorer.total(Dag(["X1", "X2"], [("X1", "X2")]))
    backward = scorer.total(Dag(["X1", "X2"], [("X2", "X1")]))
    assert forward == pytest.approx(-13.403803915837, abs=5e-13)
    assert backward == pytest.approx(-13.539078827985, abs=5e-13)


def test_is_not_score_equivalent(table_7_2):
    scorer = Scorer(table_7_2, "fnml")
    one = scorer.family("X1") + scorer.family("X2", ["X1"])
    other = scorer.family("X2") + scorer.family("X1", ["X2"])
    assert abs(one - other) > 0.1
    assert not FNML.is_score_equivalent


# 2 ln(2/3) + ln(1/3) - ln C(2, 3) = ln(4/27) - ln(26/9) = ln(2/39).
def test_value_worked_out_by_hand():
    assert FNML().family(FamilyCounts.of([[2, 1]])) == pytest.approx(log(2 / 39), abs=1e-15)


# The rows (2, 1) and (1, 0): ln(2/39) + 0 - ln C(2, 1); the other two of four add nothing.
def test_unseen_configurations_add_nothing():
    counts = FamilyCounts.of([[2, 1], [1, 0]], n_configurations=4)
    assert FNML().family(counts) == pytest.approx(log(2 / 39) - log(2), abs=1e-15)
    zeros = FamilyCounts.of([[2, 1], [1, 0], [0, 0]], n_configurations=4)
    assert FNML().family(zeros) == FNML().family(counts)


# A third state is declared and never seen: C(3, 3) = 53/9 in place of C(2, 3).
def test_unseen_state_is_paid_for():
    expected = log(4 / 27) - log(53 / 9)
    assert FNML().family(FamilyCounts.of([[2, 1, 0]])) == pytest.approx(expected, abs=1e-15)


# The likelihood is 1 and C(r, 1) = r: each state is as likely as the others.
def test_one_row_is_a_uniform_guess():
    dataset = make_dataset({"a": [2], "b": [0]}, {"a": 5, "b": 3})
    assert Scorer(dataset, "fnml").family("a", ["b"]) == pytest.approx(-log(5), abs=1e-15)


def test_weights_are_repetitions():
    weighted = make_dataset({"a": [0, 1], "b": [0, 0]}, weights=np.array([2, 1]))
    assert Scorer(weighted, "fnml").family("a", ["b"]) == pytest.approx(log(2 / 39), abs=1e-15)


# Equation 11: the score divides by a sum over all columns; Theorem 1: that sum is a product.
@given(
    st.integers(2, 3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5),
)
@settings(max_examples=examples(40), deadline=None)
def test_equals_its_definition_over_all_columns(r, rows):
    column, configurations = [x % r for x, _ in rows], [p for _, p in rows]
    dataset = make_dataset({"x": column, "p": configurations}, {"x": r, "p": 3})
    expected = reference.fnml(column, configurations, r)
    assert Scorer(dataset, "fnml").family("x", ["p"]) == pytest.approx(expected, abs=1e-12)


# Theorem 1 against equation 10 for every way to split up to 5 rows over 3 configurations.
@pytest.mark.parametrize(("r", "n"), [(2, 5), (3, 4), (4, 3)])
def test_theorem_1(r, n):
    for split in reference.count_vectors(3, n):
        configurations = [j for j, size in enumerate(split) for _ in range(size)]
        total = sum(
            reference.likelihood(column, configurations) for column in product(range(r), repeat=n)
        )
        assert total == np.prod([reference.normalizer(r, size) for size in split])
        assert float(np.sum(regret(split, r))) == pytest.approx(log(total), abs=1e-13)


# The exponentials of the scores of all columns add up to one.
def test_is_a_distribution_over_columns():
    configurations = [0, 0, 0, 1, 1]
    total = 0.0
    for column in product(range(3), repeat=5):
        dataset = make_dataset({"x": column, "p": configurations}, {"x": 3})
        total += np.exp(Scorer(dataset, "fnml", threads=1).family("x", ["p"]))
    assert total == pytest.approx(1.0, abs=1e-12)


# Suzuki (2017): a larger parent set that does not lower the conditional entropy never wins.
@given(independent_of_z())
@settings(max_examples=examples(200))
def test_is_regular(dataset):
    scorer = Scorer(dataset, "fnml", threads=1)
    less, more = scorer.families([("x", ["p"]), ("x", ["p", "z"])])
    assert more <= less + 1e-11 * max(1.0, abs(less))
    assert FNML.is_regular


# n ln n alone is 2.8e13 for the largest of these counts. With b = 65,536 and N = 1e12 + b the
# row gives 1e12 ln(1 - b/N) + b ln(b/N).
def test_keeps_its_digits_for_huge_counts():
    small, n = 65_536, 10**12 + 65_536
    weights = np.array([70_000, 65_535, small, 10**12])
    dataset = make_dataset({"x": [0, 1, 2, 0], "p": [0, 0, 1, 1]}, weights=weights)
    expected = 70_000 * log(70_000 / 135_535) + 65_535 * log(65_535 / 135_535)
    expected += 1e12 * log1p(-small / n) + small * log(small / n)
    expected -= float(np.sum(regret([135_535, n], 3)))
    (counts,) = CountingEngine(dataset).count([("x", ["p"])])
    assert Scorer(dataset, "fnml").family("x", ["p"]) == pytest.approx(expected, rel=1e-15)
    assert FNML().family(counts) == pytest.approx(expected, rel=1e-15)


# Asked directly, the kernel has no number to give for counts that are not whole.
def test_kernel_gives_no_number_for_real_counts():
    dataset = make_dataset({"x": [0, 1], "p": [0, 1]}, weights=np.array([0.5, 1.5]))
    native = NativeScores(CountingEngine(dataset), FNML().kernel())
    assert np.isnan(native.families([("x", ["p"])])).all()


def test_refuses_real_counts():
    with pytest.raises(DataError, match="fnml: is defined for whole counts only"):
        FNML().family(FamilyCounts.of([[0.5, 1.5]]))


def test_nml_is_another_name():
    assert make_score("nml") == FNML()
