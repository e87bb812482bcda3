"""One rule says which numeric columns are cut, kept or refused: the guide and the code agree."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bestdag import discretize, read
from bestdag.classification.uncut import read_uncut
from bestdag.data.cutting import category_values
from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES
from bestdag.errors import DataError

_PAGE = Path(__file__).parents[2] / "docs/guide/number-columns.md"
_N = 120
_FEW, _MANY = DEFAULT_MAX_VALUES, DEFAULT_MAX_STATES


def repeated(values):
    """Return a column of _N cells, in which every value is."""
    return [values[i % len(values)] for i in range(_N)]


# The rows of the table in the guide, with columns at both ends of what they say.
COLUMNS = {
    "numbers, one of them not whole": [[1.5, 2], [0.5, *range(1, _MANY)]],
    f"at most {_FEW} whole numbers": [[1, 2], list(range(_FEW))],
    f"{_FEW + 1} to {_MANY} whole numbers": [list(range(_FEW + 1)), list(range(_MANY))],
    f"more than {_MANY} numbers": [list(range(_MANY + 1)), [i + 0.5 for i in range(_MANY + 1)]],
    f"at most {_MANY} texts": [["a", "b"], [f"n{i}" for i in range(_MANY)]],
    f"more than {_MANY} texts": [[f"n{i}" for i in range(_MANY + 1)]],
    "declared states, however many": [
        pd.Categorical([0.5, 1.5]),
        pd.Categorical(range(_MANY + 1)),
    ],
}


def stated():
    """Return the rows of the table in the guide."""
    lines = [line for line in _PAGE.read_text().splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][1:] == ["`read`", "`discretize`", "classifiers"]
    return {row[0]: row[1:] for row in rows[1:]}


def by_read(table):
    return read(table).variable("x")


def by_discretize(table):
    return discretize(table, method="quantile").variable("x")


def by_scikit_learn(table):
    sklearn = pytest.importorskip("bestdag.sklearn")
    model = sklearn.NaiveBayesClassifier(discretization="quantile").fit(table[["x"]], table["c"])
    return model.network_.variable("x")


def by_classify(table):
    found = read_uncut(table, target="c")
    return None if "x" in found.numbers else found.dataset.variable("x")


def outcome(work, table):
    """Say what becomes of the column x: work returns its variable, or None for uncut numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            variable = work(table)
    except DataError as error:
        return "refused" if "column 'x'" in str(error) else str(error)
    if variable is None or variable.states[0].startswith("<="):
        return "cut"
    return "kept" if variable.arity == table["x"].nunique() else variable.states


def test_the_guide_lists_every_case_with_the_numbers_of_the_code():
    assert list(stated()) == list(COLUMNS)
    page = _PAGE.read_text()
    assert re.search(rf"\b{_FEW} is `max_values`", page)
    assert re.search(rf"\b{_MANY} is `max_states`", page)


@pytest.mark.parametrize("case", COLUMNS)
def test_every_function_does_what_the_guide_says(case):
    for values in COLUMNS[case]:
        column = repeated(values)
        if isinstance(values, pd.Categorical):
            column = pd.Categorical(column, values.categories)
        table = pd.DataFrame({"x": column, "c": ["u", "v"] * (_N // 2)})
        found = [outcome(work, table) for work in (by_read, by_discretize, by_classify)]
        assert found == stated()[case]
        assert outcome(by_scikit_learn, table) == stated()[case][2]


def test_text_that_spells_numbers_is_text_to_scikit_learn_alone():
    table = pd.DataFrame({"x": repeated(["0.5", "1.5"]), "c": ["u", "v"] * (_N // 2)})
    assert outcome(by_discretize, table) == "cut"
    assert outcome(by_classify, table) == "cut"
    assert outcome(by_scikit_learn, table) == "kept"


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([3, 1, 3], [1, 3]),
        ([-2, np.nan, 0], [-2, 0]),
        ([1, 2, 3], None),  # one too many
        ([1, 1.5], None),
        ([1, np.inf], None),
        ([np.nan], None),
        ([], None),
        ([-(10.0**300), 10.0**300], [-int(10.0**300), int(10.0**300)]),
        ([2.0**53, 2.0**53 + 2], [2**53, 2**53 + 2]),
    ],
)
def test_the_rule_by_hand(values, kept):
    assert category_values(np.array(values, np.float64), max_values=2) == kept
    assert category_values(np.array(values, np.float64), max_values=9, max_states=2) == kept
