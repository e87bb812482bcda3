"""Knowledge that cannot hold is refused at once, and the message names what clashes."""

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings

from bestdag.errors import CycleError, GraphError, InvalidParameterError, NotEnoughMemoryError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge, implications
from tests.conftest import examples
from tests.graph.definitions import steady
from tests.graph.knowledge.definitions import statements


@pytest.mark.parametrize(
    ("lines", "clashing"),
    [
        (["A -> B", "A !> B"], ["A -> B", "A !> B"]),
        (["A -> B", "B !- A", "A ~> C"], ["A -> B", "A !- B"]),
        (["A -> B", "tiers: C B | D | A"], ["A -> B", "tiers: B | A"]),
        (
            ["A -> B", "tiers: C B A | D", "within_tiers: no"],
            ["A -> B", "tiers: A B (no arcs within a tier)"],
        ),
        (["A -> B", "roots: B, C"], ["A -> B", "roots: B"]),
        (["A -> B", "leaves: A, C"], ["A -> B", "leaves: A"]),
        (["A -> B", "A !~> B", "A !~> C"], ["A -> B", "A !~> B"]),
        (["A -> B -> C", "A !~> C"], ["A -> B", "B -> C", "A !~> C"]),
        (["A ~> B", "B -> C", "A !~> C"], ["B -> C", "A ~> B", "A !~> C"]),
        (["A -- B", "A !- B"], ["A -- B", "A !- B"]),
        (["A -- B", "A !> B", "leaves: B"], ["A !> B", "A -- B", "leaves: B"]),
        (["A -- B", "B !> A", "A < B", "roots: B"], ["A -- B", "A < B", "roots: B"]),
        (["A -> D", "B -> D", "C -> D", "max_parents: 2"],
         ["A -> D", "B -> D", "C -> D", "max_parents: 2"]),
        (["A -> D", "B -> D", "max_parents D: 1"], ["A -> D", "B -> D", "max_parents D: 1"]),
        # The one parent of C is taken, so the edge must leave C; and B can have no parent.
        (["A -> C", "B -- C", "max_parents C: 1", "roots: B"],
         ["A -> C", "B -- C", "roots: B", "max_parents C: 1"]),
        (["A ~> B", "roots: B"], ["A ~> B", "roots: B"]),
        (["A ~> B", "leaves: A"], ["A ~> B", "leaves: A"]),
        (["A ~> B", "max_parents: 0"], ["A ~> B", "max_parents: 0"]),
        (["A ~> C", "total_order: A B C", "A !- B", "A !- C"],
         ["A !- B", "A !- C", "total_order: A, B, C", "A ~> C"]),
        # Each edge has one direction left, and together they go round.
        (["A -- B", "B -- C", "A -- C", "A !> B", "B !> C", "C !> A"],
         ["A !> B", "B !> C", "C !> A", "A -- B", "A -- C", "B -- C"]),
    ],
)  # fmt: skip
def test_names_the_statements_that_clash_and_no_others(lines, clashing):
    extra = ["X -> Y", "X !> A"] if not any("total" in line for line in lines) else []
    with pytest.raises(GraphError) as caught:
        Knowledge.parse([*lines, *extra])
    text = str(caught.value)
    assert text.startswith("Knowledge: ")
    assert sorted(text.partition("what clashes: ")[2].split("; ")) == sorted(clashing)


@pytest.mark.parametrize(
    ("lines", "cycle"),
    [
        (["A -> B", "B -> C", "C -> A", "X -> A"], "required arcs close a cycle: A -> B -> C -> A"),
        (["B -> A", "A -> B"], "required arcs close a cycle: A -> B -> A"),
        (["A < B < C < A"], "these statements close a cycle: A < B < C < A"),
        (["A -> B", "B < A"], "these statements close a cycle: A -> B < A"),
        (["A ~> B", "B ~> A"], "these statements close a cycle: A ~> B ~> A"),
        (["A -> B", "B < C", "C ~> A"], "these statements close a cycle: A -> B < C ~> A"),
        (["A -> B", "total_order: C B A"], "A -> B runs against 'total_order: B, A'"),
        (["A ~> B", "total_order: C B A"], "A ~> B runs against 'total_order: B, A'"),
        (["A < B", "total_order: C B A"], "A < B runs against 'total_order: B, A'"),
    ],
)
def test_prints_the_cycle(lines, cycle):
    with pytest.raises(CycleError, match=f"^Knowledge: {re.escape(cycle)}$"):
        Knowledge.parse(lines)


def test_a_long_cycle_is_shown_by_its_ends():
    names = [f"X{i:04}" for i in range(2000)]
    with pytest.raises(
        CycleError, match=r"X0000 -> X0001 .* \(1,989 more\) .* -> X0000$"
    ) as caught:
        Knowledge(required_arcs=zip(names, names[1:] + names[:1], strict=True))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ({"tiers": [["A"], ["B", "A"]]}, GraphError, "tiers lists node A twice"),
        ({"tiers": [["A", "A"]]}, GraphError, "tiers lists node A twice"),
        ({"tiers": [["A"], []]}, GraphError, "tiers: tier 2 is empty"),
        ({"tiers": ["A", "B"]}, GraphError, "tiers: tier 1 must be a list of names, got 'A'"),
        ({"total_order": ["A", "B", "A"]}, GraphError, "total_order lists node A twice"),
        ({"total_order": "AB"}, GraphError, "total_order must be a list of names, got 'AB'"),
        ({"within_tiers": False}, GraphError, "within_tiers needs tiers"),
        ({"within_tiers": 1, "tiers": ["A"]}, GraphError, "tier 1 must be"),
        ({"within_tiers": 1, "tiers": [["A"]]}, InvalidParameterError, "true or false, got 1"),
        ({"required_arcs": [("A", "A")]}, CycleError, "required_arcs: A -> A joins a node with it"),
        ({"order": [("A", "A")]}, CycleError, "order: A < A joins a node with itself"),
        ({"ancestors": [("A", "A")]}, CycleError, "ancestors: A ~> A joins a node with itself"),
        ({"forbidden_arcs": [("A", "A")]}, GraphError, "forbidden_arcs: A !> A joins a node with"),
        ({"required_edges": [("A", "A")]}, GraphError, "required_edges: A -- A joins a node with"),
        ({"required_arcs": ["AB"]}, GraphError, "required_arcs must be a list of pairs of names"),
        ({"required_arcs": [("A", "B", "C")]}, GraphError, "got ('A', 'B', 'C')"),
        ({"required_arcs": {"A": "B"}}, GraphError, "required_arcs must be a list of pairs"),
        ({"required_arcs": 3}, GraphError, "required_arcs must be a list of pairs of names, got 3"),
        ({"forbidden_arcs": [("A", 3)]}, GraphError, "a node's name must be text, got 3"),
        ({"roots": "A"}, GraphError, "roots must be a list of names, got 'A'"),
        ({"roots": [None]}, GraphError, "roots: a node's name must be text, got None"),
        ({"max_parents": -1}, InvalidParameterError, "max_parents must be a whole number >= 0"),
        ({"max_parents": 1.5}, InvalidParameterError, "max_parents must be a whole number >= 0"),
        ({"max_parents_of": {"A": -1}}, InvalidParameterError, "max_parents_of of A must be"),
        ({"max_parents_of": [("A", 1), ("A", 2)]}, GraphError, "max_parents_of lists node A twice"),
        (
            {"max_parents_of": 3},
            GraphError,
            "max_parents_of must be a list of pairs (node, number)",
        ),
        ({"max_parents_of": ["A"]}, GraphError, "max_parents_of must give a number per node"),
        (
            {"total_order": ["A", "B"], "roots": ["C"]},
            GraphError,
            "total_order must list every node, and C of 'roots: C' is not in it; for some",
        ),
    ],
)
def test_refuses_what_is_malformed(said, error, message):
    with pytest.raises(error, match="^Knowledge: .*" + re.escape(message)) as caught:
        Knowledge(**said)
    assert "\n" not in str(caught.value)


def test_a_path_may_lead_through_a_node_that_no_statement_names():
    known = Knowledge(ancestors=[("B", "A")], tiers=[["A"], ["B"]])
    assert known.for_nodes(["A", "B", "C"]).ancestors == ((1, 0),)
    with pytest.raises(GraphError, match="no allowed path leads there over these 2 nodes; what c"):
        known.for_nodes(["A", "B"])


def test_a_path_cannot_lead_through_what_comes_after_its_end():
    # The way from D to A can begin only with C, which is below A: it would go round.
    known = Knowledge.parse(["D ~> A", "A ~> C", "D !- A", "D !- B"])
    with pytest.raises(GraphError, match="D is to be an ancestor of A and no allowed path leads"):
        known.for_nodes(["A", "B", "C", "D"])
    known.for_nodes(["A", "B", "C", "D", "E"])


def test_a_path_cannot_lead_through_what_its_ends_are_kept_from():
    known = Knowledge.parse(["A ~> B", "A !> B", "A !~> C"])
    with pytest.raises(GraphError, match=r"what clashes: A !> B; A ~> B; A !~> C$"):
        known.for_nodes(["A", "B", "C"])
    known.for_nodes(["A", "B", "C", "D"])


def test_negative_statements_alone_never_clash():
    known = Knowledge(
        forbidden_arcs=[("A", "B")], forbidden_edges=[("A", "B")], tiers=[["B"], ["A"]],
        order=[("A", "B")], non_ancestors=[("A", "B"), ("B", "A")], roots=["A", "B"],
        leaves=["A", "B"], max_parents=0, max_parents_of={"A": 5},
    )  # fmt: skip
    assert known.allows(Dag(["A", "B"]))


@settings(steady, max_examples=examples(30), suppress_health_check=[HealthCheck.filter_too_much])
@given(statements(("A", "B", "C")))
def test_each_statement_in_the_message_is_needed(said):
    core = what_clashes(said)
    assume(core and "tiers" not in core and "total_order" not in core)  # these are shown in part
    lines = core.split("; ")
    with pytest.raises(GraphError):
        Knowledge.parse(lines)
    for i in range(len(lines)):
        Knowledge.parse(lines[:i] + lines[i + 1 :])


def what_clashes(said):
    try:
        Knowledge(**said)
    except GraphError as error:
        return str(error).partition("what clashes: ")[2]
    return ""


def test_a_clash_among_many_statements_is_found():
    names = [f"X{i:03}" for i in range(400)]
    arcs = list(zip(names, names[2:], strict=False))
    with pytest.raises(GraphError, match=r"what clashes: X100 -> X102; roots: X102$"):
        Knowledge(required_arcs=arcs, roots=["X102", "X000"], max_parents=3)


def test_more_nodes_than_fit_in_memory_are_forecast(monkeypatch):
    def refuse(who, what, n_bytes, remedy):
        assert n_bytes >= 2 * 1001**2
        raise NotEnoughMemoryError(f"{who}: {what}: {remedy}")

    monkeypatch.setattr(implications, "require_memory", refuse)
    names = [f"X{i}" for i in range(1000)]
    with pytest.raises(NotEnoughMemoryError, match="1,001 x 1,001 arcs"):
        Knowledge(tiers=[names], required_arcs=[(names[0], names[1])])
