"""Model strings of bnlearn, in and out."""

import pytest

from bestdag import Dag
from bestdag.errors import CycleError, GraphError
from bestdag.graph.enumeration import all_dags


def test_every_dag_survives_the_round_trip():
    for dag in all_dags(["a", "b c", "d.1", "é"]):
        assert Dag.from_model_string(dag.to_model_string()) == dag


def test_asia_as_bnlearn_writes_it():
    text = "[A][S][T|A][L|S][B|S][E|T:L][X|E][D|B:E]"
    dag = Dag.from_model_string(text)
    assert dag.nodes == ("A", "S", "T", "L", "B", "E", "X", "D")
    assert dag.parents("E") == ("L", "T")
    assert dag.parents("D") == ("B", "E")
    assert dag.to_model_string() == "[A][S][B|S][L|S][T|A][E|L:T][D|B:E][X|E]"


def test_spaces_and_line_breaks_between_names_do_not_matter():
    assert Dag.from_model_string(" [A] [ C ]\n[B | A : C]\n") == Dag.from_model_string(
        "[A][C][B|A:C]"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "got an empty one"),
        (None, "got None"),
        ("A -> B", "character 1 must begin a node"),
        ("[A][B|A", "character 4 must begin a node"),
        ("[A]x[B]", "got 'x"),
        ("[A][]", r"'\[\]' must be a node"),
        ("[A][B|]", "must be a node, or a node"),
        ("[A][B|A::A]", "must be a node, or a node"),
        ("[A][B|A|A]", "must be a node, or a node"),
        ("[A:B]", "must be a node, or a node"),
        ("[A][A]", "node A is listed twice"),
        ("[B|A]", r"A, a parent of B, is not listed as a node; add '\[A\]'"),
        ("[A][B|A:A]", "arc A -> B is listed twice"),
    ],
)
def test_what_is_no_model_string_is_refused_with_the_reason(text, expected):
    with pytest.raises(GraphError, match=expected):
        Dag.from_model_string(text)


def test_a_cycle_is_shown():
    with pytest.raises(CycleError, match="closes a cycle: "):
        Dag.from_model_string("[A|B][B|A]")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "has an empty name"),
        ("a|b", r"has '\|' in its name"),
        ("a:b", "has ':' in its name"),
        ("[a", r"has '\[' in its name"),
        ("a]", r"has '\]' in its name"),
        (" a", "has spaces around its name"),
    ],
)
def test_names_that_would_be_read_as_something_else_are_refused(name, reason):
    with pytest.raises(GraphError, match=reason):
        Dag([name, "b"]).to_model_string()
