"""Parts of weighted rows: cases are divided as rows of their own would be."""

import numpy as np
import pytest

from bestdag import Dataset, Variable, bootstrap, cross_validate
from bestdag.errors import InvalidParameterError
from bestdag.evaluation.classification import folds
from bestdag.validation.parts import case_parts, divided

CLASSES = np.array([0, 1, 0, 1, 1])
WEIGHTS = np.array([5, 1, 0, 3, 4])


def test_every_case_is_in_one_part_and_classes_have_equal_shares():
    for seed in range(20):
        found = case_parts(CLASSES, WEIGHTS, 4, seed=seed)
        assert found.sum(axis=0).tolist() == WEIGHTS.tolist()
        assert np.ptp(found.sum(axis=1)) <= 1
        for one in (0, 1):
            assert np.ptp(found[:, one == CLASSES].sum(axis=1)) <= 1


def test_the_distribution_is_that_of_rows_of_their_own():
    row = np.repeat(np.arange(5), WEIGHTS)
    by_cases, by_rows = np.zeros((4, 5, 6)), np.zeros((4, 5, 6))
    n_draws = 4000
    for seed in range(n_draws):
        found = case_parts(CLASSES, WEIGHTS, 4, seed=seed)
        part = folds(CLASSES[row], 4, seed=seed)
        counted = np.zeros((4, 5), int)
        np.add.at(counted, (part, row), 1)
        for sums, counts in ((by_cases, found), (by_rows, counted)):
            sums[np.arange(4)[:, None], np.arange(5), counts] += 1
    # Shares of 4,000 draws each: five standard errors of their difference.
    assert np.abs(by_cases - by_rows).max() / n_draws < 5 * np.sqrt(2 * 0.25 / n_draws)


def test_equal_seeds_divide_equally_and_a_part_needs_a_case():
    one, two = (case_parts(CLASSES, WEIGHTS, 3, seed=7) for _ in range(2))
    assert (one == two).all()
    with pytest.raises(InvalidParameterError, match="13 rows cannot be divided into 14 parts"):
        case_parts(CLASSES, WEIGHTS, 14)


def test_tables_with_weights_are_divided_by_cases():
    variables = [Variable("a", ("x", "y")), Variable("b", ("u", "v"))]
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    data = Dataset(variables, codes, [30, 5, 6, 40])
    parts = divided(data, np.zeros(4, np.int64), 3, seed=1)
    for part in range(3):
        assert parts.only(part).total_weight == 27
        assert parts.without(part).total_weight == 54
    found = cross_validate(data, "bic", "hill_climb", k=3)
    assert found.n_rows == 81
    assert bootstrap(data, "bic", replicates=20).edge("a", "b") == 1.0
    by_rows = divided(Dataset(variables, codes, [0.5, 1, 1, 1]), np.zeros(4, np.int64), 2, seed=1)
    assert sorted(len(by_rows.only(part)) for part in range(2)) == [2, 2]
