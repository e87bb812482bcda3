"""ScoreTable: a value that never changes."""

import pickle

import numpy as np
import pytest

from bestdag.errors import GraphError, InvalidParameterError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.scores.table import ParentSets, ScoreTable


@pytest.fixture
def table():
    return ScoreTable.from_lists(
        ["x", "y", "z"],
        {
            "x": [(-5.0, []), (-3.0, ["y", "z"])],
            "y": [(-2.0, [])],
            "z": [(1.5, []), (1.5, ["x"]), (1.5, ["y"])],
        },
    )


def test_sets_are_best_first_and_ties_ordered(table):
    assert table.child(0).scores.tolist() == [-3.0, -5.0]
    assert table.child(0).parents(0) == (1, 2)
    assert [parents for _, parents in table.sets("z")] == [(), ("x",), ("y",)]
    assert (table.n_variables, table.n_sets, table.n_scored) == (3, 6, 6)


def test_total_is_the_sum_over_families(table):
    assert table.total(Dag(table.names)) == -5.5
    assert table.total(Dag(["z", "y", "x"], [("y", "x"), ("z", "x")])) == -3.5
    with pytest.raises(GraphError, match=r"\{y\} is not a candidate parent set of x; it was prun"):
        table.total(Dag(table.names, [("y", "x")]))
    with pytest.raises(GraphError, match="must have the same variables"):
        table.total(Dag(["x", "y"]))


def test_nothing_can_be_changed(table):
    with pytest.raises(AttributeError, match="never changes"):
        table.complete = False
    with pytest.raises(AttributeError, match="never changes"):
        del table.complete
    for array in (table.child(0).scores, table.child(0).offsets, table.child(0).members):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_pickles(table):
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert not again.child(0).scores.flags.writeable
    incomplete = ScoreTable(["a"], [ParentSets.of([0.0], [[]])], complete=False, n_scored=7)
    again = pickle.loads(pickle.dumps(incomplete))
    assert (again.complete, again.n_scored) == (False, 7)
    assert again != ScoreTable(["a"], [ParentSets.of([0.0], [[]])])


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        ({"x": [(0, [])]}, GraphError, "y has no candidate parent set"),
        ({"x": [(0, ["x"])], "y": [(0, [])]}, GraphError, "x cannot be its own parent"),
        ({"x": [(0, ["y", "y"])], "y": [(0, [])]}, GraphError, "a set of x lists a parent twice"),
        (
            {"x": [(0, ["y"]), (1, ["y"])], "y": [(0, [])]},
            GraphError,
            r"x has the parent set \{y\} twice",
        ),
        ({"x": [(0, ["w"])], "y": [(0, [])]}, UnknownNameError, "unknown parent 'w'"),
        ({"w": [(0, [])]}, UnknownNameError, "unknown child 'w'"),
        (
            {"x": [(-np.inf, [])], "y": [(0, [])]},
            InvalidParameterError,
            "every score of x must be a finite number",
        ),
    ],
)
def test_refuses_what_is_no_table(sets, error, message):
    with pytest.raises(error, match=message):
        ScoreTable.from_lists(["x", "y"], sets)


def test_refuses_no_variables_and_missing_lists():
    with pytest.raises(GraphError, match="at least one variable"):
        ScoreTable([], [])
    with pytest.raises(InvalidParameterError, match="1 variables need as many lists"):
        ScoreTable(["a"], [])
    with pytest.raises(UnknownNameError, match="unknown child 'q'"):
        ScoreTable.from_lists(["a"], {"a": [(0, [])]}).sets("q")
