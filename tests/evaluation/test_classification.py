"""Measures of predictions, against values worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.errors import DataError, InvalidParameterError
from bestdag.evaluation.classification import accuracy_interval, evaluate, folds


def test_accuracy_log_loss_and_confusion_by_hand():
    # Rows: true a, a, b, b; P(a) = 0.75, 0.25, 0.5, 0. Guesses: a, b, a (tie to the first), b.
    # Log loss: (-ln 3/4 - ln 1/4 - ln 1/2 - ln 1) / 4 = ln(4/3 * 4 * 2) / 4 = ln(32/3) / 4.
    shares = np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5], [0.0, 1.0]])
    with np.errstate(divide="ignore"):
        found = evaluate(("a", "b"), np.array([0, 0, 1, 1]), np.log(shares))
    assert found.confusion.tolist() == [[1, 1], [1, 1]]
    assert (found.accuracy, found.n_right, found.n_rows) == (0.5, 2, 4)
    assert found.log_loss == pytest.approx(math.log(32 / 3) / 4, rel=1e-14)


def test_an_impossible_class_costs_infinitely_much():
    with np.errstate(divide="ignore"):
        found = evaluate(("a", "b"), np.array([1]), np.log([[1.0, 0.0]]))
    assert found.log_loss == math.inf


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="at least one row"):
        evaluate(("a", "b"), np.array([], int), np.empty((0, 2)))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_of_wilsons_interval_solve_its_equation(pair):
    right, n = pair
    share, z = right / n, 1.959963984540054
    low, high = accuracy_interval(right, n)
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        assert (end - share) ** 2 == pytest.approx(z * z * end * (1 - end) / n, abs=1e-12)
    assert high - low > 0


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(2, 6), st.integers(0, 9))
def test_folds_are_even_in_size_and_in_every_class(classes, k, seed):
    truth = np.array(classes)
    if k > len(truth):
        with pytest.raises(InvalidParameterError, match="cannot be divided"):
            folds(truth, k, seed=seed)
        return
    part = folds(truth, k, seed=seed)
    sizes = np.bincount(part, minlength=k)
    assert sizes.sum() == len(truth)
    assert sizes.max() - sizes.min() <= 1
    for c in set(classes):
        of_class = np.bincount(part[truth == c], minlength=k)
        assert of_class.max() - of_class.min() <= 1
    assert (folds(truth, k, seed=seed) == part).all()


def test_another_seed_gives_other_folds():
    truth = np.zeros(50, int)
    assert (folds(truth, 5, seed=0) != folds(truth, 5, seed=1)).any()
