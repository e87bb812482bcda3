"""BD: one pseudo-count for all or given tables, refusals."""

import pickle
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.scores.bd import BD
from bestdag.scores.k2 import K2
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.reference import scores as reference

row = st.lists(st.integers(0, 6), min_size=3, max_size=3)
DATA = make_dataset({"b": [0, 0, 1, 2], "a": [0, 1, 1, 1], "c": [1, 0, 0, 0]})


# Three heads and a tail: (1/2 3/2 5/2)(1/2) / 4! = 5/128. Every configuration has its own prior:
# with a second one, (1, 1): (1/2 1/2) / (1 2) = 1/8.
@pytest.mark.parametrize(
    ("table", "expected"), [([[3, 1]], log(5 / 128)), ([[3, 1], [1, 1]], log(5 / 1024))]
)
def test_value_worked_out_by_hand(table, expected):
    assert BD().family(FamilyCounts.of(table)) == pytest.approx(expected, abs=1e-12)


# Three states of 1/2 each: (1/2) / (3/2) = 1/3.
def test_one_row_and_unseen_states():
    assert BD().family(FamilyCounts.of([[1, 0, 0]])) == pytest.approx(-log(3), abs=1e-12)


def test_unseen_configurations_add_nothing():
    counts = FamilyCounts.of([[3, 1]], n_configurations=1e9)
    assert BD().family(counts) == pytest.approx(log(5 / 128), abs=1e-12)


# Each state weighs 1 in all: (1/2)(1/2) / (1 2) = 1/8.
def test_takes_real_weights():
    halves = make_dataset({"a": [0, 0, 1, 1]}, weights=np.array([0.25, 0.75, 0.5, 0.5]))
    assert Scorer(halves, "bd").family("a") == pytest.approx(log(1 / 8), abs=1e-12)


@given(st.lists(row, min_size=1, max_size=4))
def test_pseudo_count_1_is_k2(table):
    counts = FamilyCounts.of(table)
    assert BD(pseudo_count=1).family(counts) == K2().family(counts)


@given(st.lists(row, min_size=1, max_size=4), st.floats(0.01, 50))
def test_agrees_with_reference(table, pseudo_count):
    got = BD(pseudo_count=pseudo_count).family(FamilyCounts.of(table))
    priors = [[Fraction(pseudo_count)] * 3] * len(table)
    assert got == pytest.approx(reference.dirichlet(table, priors), rel=1e-9, abs=1e-9)


# X2 given X1 has two configurations with a prior case each, X2 alone has one.
# X1 -> X2 on (0,0), (1,1): X1 (1/2 1/2)/(1 2) = 1/8, X2 given X1 1/2 1/2: 1/32. With arities 2, 3:
# backwards X2 (1/2 1/2)/(3/2 5/2) = 1/15, then 1/2 1/2: 1/60; forwards 1/8 times 1/3 1/3: 1/72.
def test_is_not_score_equivalent():
    scorer = Scorer(make_dataset({"x": [0, 1], "y": [0, 1]}, {"x": 2, "y": 3}), "bd")
    forward = scorer.family("x") + scorer.family("y", ["x"])
    backward = scorer.family("y") + scorer.family("x", ["y"])
    assert (forward, backward) == pytest.approx((-log(72), -log(60)), abs=1e-12)


# a given b, c; rows are (b, c) = 00, 01, 10, 11, 20, 21 and the data has 01: a=0, 00: a=1,
# 10: a=1, 20: a=1, so P = 3/(3+4) 2/(1+2) 6/(5+6) 10/(9+10).
TABLES = {
    ("a", ("c", "b")): [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]],
    ("c", ()): [[1, 3]],
}


def test_given_tables_are_read_in_name_order_of_the_parents():
    scorer = Scorer(DATA, BD(tables=TABLES))
    expected = Fraction(3, 7) * Fraction(2, 3) * Fraction(6, 11) * Fraction(10, 19)
    assert scorer.family("a", ["b", "c"]) == pytest.approx(log(expected), abs=1e-12)
    # c: 1 once and 0 three times with (1, 3): (1 2 3)(3) / (4 5 6 7) = 3/140.
    assert scorer.family("c") == pytest.approx(log(3 / 140), abs=1e-12)


def test_constant_tables_equal_the_constant():
    tables = {("a", frozenset("b")): np.full((3, 2), 0.5)}
    given_tables, constant = Scorer(DATA, BD(tables=tables)), Scorer(DATA, "bd")
    assert given_tables.family("a", ["b"]) == pytest.approx(constant.family("a", ["b"]), rel=1e-14)


def test_a_family_without_a_table_is_named():
    with pytest.raises(InvalidParameterError, match="no table is given for the family 'a' given"):
        Scorer(DATA, BD(tables=TABLES)).family("a", ["b"])
    with pytest.raises(InvalidParameterError, match=r"for the family 'b'$"):
        Scorer(DATA, BD(tables=TABLES)).family("b")


def test_a_table_of_the_wrong_shape_is_named():
    tables = {("a", ("b",)): [[1, 1], [1, 1]]}
    with pytest.raises(InvalidParameterError, match=r"'a' given 'b' must have the shape \(3, 2\)"):
        Scorer(DATA, BD(tables=tables)).family("a", ["b"])


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([1, 2], "tables must be a mapping"),
        ({"a": [[1, 1]]}, r"belongs to \(child, parents\)"),
        ({("a", "b"): [[1, 1]]}, r"belongs to \(child, parents\)"),
        ({("a", ("a",)): [[1, 1]]}, r"belongs to \(child, parents\)"),
        ({("a", 3): [[1, 1]]}, r"belongs to \(child, parents\)"),
        ({("a", ("b", "c")): [[1]], ("a", ("c", "b")): [[1]]}, "'a' given 'b', 'c' has two tables"),
        ({("a", ()): [1, 1]}, r"one row per configuration .* got the shape \(2,\)"),
        ({("a", ()): [[1, 0]]}, "must hold finite numbers > 0, got 0.0"),
        ({("a", ()): [[1, float("inf")]]}, "must hold finite numbers > 0, got inf"),
        ({("a", ()): [["x", "y"]]}, "must be an array of numbers"),
    ],
)
def test_refuses_tables_that_make_no_sense(tables, message):
    with pytest.raises(InvalidParameterError, match=message):
        BD(tables=tables)


@pytest.mark.parametrize("pseudo_count", [0.0, -1, float("nan"), float("inf"), "1", True])
def test_refuses_pseudo_counts_that_are_not_positive(pseudo_count):
    with pytest.raises(InvalidParameterError, match=r"BD: pseudo_count must be .* > 0, got"):
        BD(pseudo_count=pseudo_count)


def test_refuses_both():
    with pytest.raises(InvalidParameterError, match="pseudo_count or tables, not both"):
        BD(pseudo_count=0.5, tables=TABLES)


def test_tables_pickle_compare_and_cannot_be_changed():
    score = BD(tables=TABLES)
    again = pickle.loads(pickle.dumps(score))
    assert again == score
    assert hash(again) == hash(score)
    assert score != BD(tables={**TABLES, ("c", ()): [[1, 4]]})
    assert score != BD()
    assert repr(score) == "BD(tables=<2 families>)"
    assert repr(BD()) == "BD(pseudo_count=0.5)"
    with pytest.raises(ValueError, match="read-only"):
        score.tables["c", ()][0, 0] = 7
    assert score.kernel() is None
