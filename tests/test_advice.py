"""What is said first about an answer, worked out by hand."""

import copy
import pickle

import numpy as np
import pytest

from bestdag import Checkpoint, Dag, HillClimb, Scorer, learn, read
from bestdag.examples import example
from bestdag.scores.parent_sets.build import build_score_table

# Of columns with one state.
pytestmark = pytest.mark.filterwarnings("ignore::bestdag.errors.DataWarning")


def kinds(found):
    return [one.kind for one in found.advice]


def coins(n_rows):
    """Two columns that say the same."""
    return {"a": ["x", "y"] * (n_rows // 2), "b": ["u", "v"] * (n_rows // 2)}


def test_nothing_is_said_of_a_table_that_can_be_learned_from():
    assert learn(example("asia.csv")).advice == ()
    assert learn(coins(22)).advice == ()


# c has 5 values, and 5 * 5 pairs of values of its parents: 25 * 4 parameters of its own and 2 * 4
# of the parents, for 40 rows.
def test_more_parameters_than_rows():
    codes = [str(i % 5) for i in range(40)]
    table = {"a": codes, "b": codes[::-1], "c": codes}
    start = Dag.from_parents({"a": [], "b": [], "c": ["a", "b"]})
    forced = ["a -> c", "b -> c", "a !- b"]
    found = learn(table, "ll", search=HillClimb(start_from=start), knowledge=forced, support=0)
    assert found.dag == start
    (advice,) = found.advice
    assert advice.kind == "more parameters than rows"
    assert advice.text.startswith("more parameters than rows: 108 for 40 rows; do not rely on")
    assert str(found).startswith(advice.text)
    weighted = read({**table, "n": ["3"] * 40}, weights="n")  # 120 rows
    again = learn(weighted, "ll", search=HillClimb(start_from=start), knowledge=forced, support=0)
    assert (again.dag, again.advice) == (start, ())


def test_as_many_parameters_as_rows_are_not_more():
    states = [str(i) for i in range(22)]
    table = {"a": states, "b": states}
    found = learn({**table, "c": ["x", "y"] * 11}, "bic")
    assert found.dag.arcs == ()  # 21 + 21 + 1 parameters
    assert found.advice[0].text.startswith("more parameters than rows: 43 for 22 rows")
    twice = {name: values * 2 for name, values in {**table, "c": ["x", "y"] * 11}.items()}
    assert learn(twice, "bic", max_parents=0).advice == ()  # 43 for 44


@pytest.mark.parametrize("n_rows", [2, 10, 20])
def test_a_few_rows_show_nothing(n_rows):
    found = learn(coins(n_rows))
    first = found.advice[0]
    assert first.kind == "nothing to learn"
    if found.dag.arcs:
        assert first.text.endswith(f"do not rely on arcs found in {n_rows} rows")
    else:
        assert first.text.startswith(f"nothing to learn: {n_rows} rows cannot show")


def test_rows_are_the_sum_of_their_weights():
    table = {"a": ["x", "y"], "b": ["u", "v"]}
    assert kinds(learn({"a": ["x"], "b": ["u"]})) == ["nothing to learn"]
    assert learn({"a": ["x"], "b": ["u"]}).advice[0].text.startswith("nothing to learn: 1 row can")
    assert kinds(learn(read(table, weights=[10, 10]))) == ["nothing to learn"]
    assert kinds(learn(read(table, weights=[10, 11]))) == []
    light = learn(read(coins(40), weights=np.full(40, 0.25)), "bic").advice
    assert light[0].text.endswith("do not rely on arcs found in 10 rows")


def test_one_column():
    (advice,) = learn({"coin": ["heads", "tails"] * 50}).advice
    assert advice.text == "nothing to learn: 'coin' is the only column"


def test_constant_columns():
    same = ["x"] * 40
    (none,) = learn({"a": same, "b": same}).advice
    assert none.text == "nothing to learn: no column varies; constant: 'a', 'b'"
    (one,) = learn({"a": same, "b": ["x", "y"] * 20}).advice
    assert one.text == "nothing to learn: only one column varies; constant: 'a'"
    assert learn({"a": same, **coins(40), "c": same}).advice == ()


def test_declared_states_do_not_vary():
    table = {"a": ["x"] * 40, "b": ["x", "y"] * 20}
    declared = read(table, states={"a": ["x", "y", "z"]})
    (advice,) = learn(declared, "bic").advice
    assert advice.text == "nothing to learn: only one column varies; constant: 'a'"


@pytest.mark.parametrize("missing", ["em", "drop", "state"])
def test_missing_values_are_not_values_unless_they_are_states(missing):
    table = {"a": ["x"] * 39 + [None], "b": ["x", "y"] * 20}
    found = learn(table, "bic", missing=missing)
    said = ["nothing to learn"] if missing != "state" else []
    assert kinds(found) == said


def test_local_scores_have_no_rows_to_say_anything_of():
    table = build_score_table(Scorer(read(coins(2)), "bic"))
    assert learn(table).advice == ()


def test_it_is_a_value_that_is_kept(tmp_path):
    first = learn(coins(10), checkpoint=tmp_path / "run")
    again = learn(coins(10), checkpoint=Checkpoint(tmp_path / "run", resume=True))
    assert again.advice == first.advice == pickle.loads(pickle.dumps(first)).advice
    assert copy.copy(first).advice == first.advice
