"""Pdag: what it holds, Meek's rules, consistent extension, refusals."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.errors import CycleError, GraphError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.graph.equivalence import WorkingGraph
from bestdag.graph.pdag import Pdag
from tests.graph.definitions import (
    agreed,
    all_pdags,
    classes,
    colliders,
    consistent_extensions,
    dags,
    links,
    steady,
)

EXAMPLE = Pdag(["D", "C", "B", "A", "E"], [("A", "C"), ("B", "C")], [("D", "C"), ("B", "D")])


def test_holds_arcs_and_edges():
    assert EXAMPLE.nodes == ("D", "C", "B", "A", "E")
    assert EXAMPLE.arcs == (("A", "C"), ("B", "C"))
    assert EXAMPLE.edges == (("B", "D"), ("C", "D"))
    assert EXAMPLE.parents("C") == ("A", "B")
    assert EXAMPLE.children("B") == ("C",)
    assert EXAMPLE.neighbours("D") == ("B", "C")
    assert EXAMPLE.adjacent("C") == ("A", "B", "D")
    assert EXAMPLE.adjacent("E") == ()
    assert EXAMPLE.v_structures() == (("A", "C", "B"),)
    assert EXAMPLE.skeleton().edges == (("A", "C"), ("B", "C"), ("B", "D"), ("C", "D"))


def test_equal_when_nodes_arcs_and_edges_are_equal_as_sets():
    other = Pdag(["A", "B", "C", "D", "E"], [("B", "C"), ("A", "C")], [("C", "D"), ("D", "B")])
    assert other == EXAMPLE
    assert hash(other) == hash(EXAMPLE)
    assert pickle.loads(pickle.dumps(EXAMPLE)) == EXAMPLE
    assert eval(repr(EXAMPLE)) == EXAMPLE
    assert Pdag(["A", "B"], [("A", "B")]) != Pdag(["A", "B"], [], [("A", "B")])
    assert Pdag(["A", "B"], [("A", "B")]) != Dag(["A", "B"], [("A", "B")])


def test_never_changes():
    with pytest.raises(AttributeError, match="a Pdag never changes"):
        EXAMPLE.nodes = ()
    with pytest.raises(AttributeError, match="a Pdag never changes"):
        del EXAMPLE.nodes


def test_text_shows_arcs_edges_and_isolated_nodes():
    assert str(EXAMPLE).splitlines() == [
        "Pdag: 5 nodes, 2 arcs, 2 edges",
        "  A -> C",
        "  B -> C",
        "  B - D",
        "  C - D",
        "  E",
    ]
    large = Pdag(str(i) for i in range(31))
    assert repr(large) == "<Pdag: 31 nodes, 0 arcs, 0 edges>"


@pytest.mark.parametrize(
    ("arcs", "edges", "error", "message"),
    [
        ([], [("A", "A")], GraphError, "edge A - A is a self-loop"),
        ([("A", "A")], [], CycleError, "arc A -> A is a self-loop"),
        ([("A", "B")] * 2, [], GraphError, "Pdag: arc A -> B is listed twice"),
        ([("A", "B")], [("B", "A")], GraphError, "Pdag: B and A are joined twice"),
        ([], [("A", "B"), ("B", "A")], GraphError, "Pdag: B and A are joined twice"),
        (
            [("A", "B"), ("B", "A")],
            [],
            CycleError,
            "arc B -> A closes a cycle: A -> B -> A",
        ),
        ([], ["AB"], GraphError, "Pdag: an edge must be a pair of names, got 'AB'"),
        (
            [],
            [("A", "X")],
            UnknownNameError,
            "edge A - X: unknown node 'X'; known: A, B, C",
        ),
    ],
)
def test_refuses_what_is_no_pdag(arcs, edges, error, message):
    with pytest.raises(error) as caught:
        Pdag(["A", "B", "C"], arcs, edges)
    assert str(caught.value) == message


@pytest.mark.parametrize("ask", ["parents", "children", "neighbours", "adjacent"])
def test_refuses_unknown_nodes(ask):
    with pytest.raises(UnknownNameError, match="unknown node 'X'"):
        getattr(EXAMPLE, ask)("X")


# Each rule alone, as drawn by Meek (1995), Figure 1; the last two need the undirected edges.
@pytest.mark.parametrize(
    ("arcs", "edges", "follows"),
    [
        ([("A", "B")], [("B", "C")], ("B", "C")),
        ([("A", "B"), ("B", "C")], [("A", "C")], ("A", "C")),
        ([("B", "D"), ("C", "D")], [("A", "B"), ("A", "C"), ("A", "D")], ("A", "D")),
        ([("C", "D"), ("D", "B")], [("A", "B"), ("A", "C"), ("A", "D")], ("A", "B")),
    ],
    ids=["rule 1", "rule 2", "rule 3", "rule 4"],
)
def test_meek_rule(arcs, edges, follows):
    names = sorted({name for pair in arcs + edges for name in pair})
    graph = Pdag(names, arcs, edges)
    expected = Pdag(names, [*arcs, follows], [e for e in edges if set(e) != set(follows)])
    assert graph.apply_meek_rules() == expected


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_every_small_pdag(n_nodes):
    cpdags = {agreed(group) for group in classes(n_nodes)}
    n_without = 0
    for graph in all_pdags(n_nodes):
        extensions = consistent_extensions(graph)
        assert graph.is_cpdag() == (graph in cpdags)
        if extensions:
            assert graph.to_dag() in extensions
            assert graph.apply_meek_rules() == agreed(extensions)
        else:
            n_without += 1
            with pytest.raises(GraphError, match="to_dag: no Dag has this skeleton"):
                graph.to_dag()
            _check_completion_without_extension(graph)
    # The smallest graphs without extension have 4 nodes: a square, or A -> B - C <- D.
    assert (n_without > 0) == (n_nodes == 4)


def _check_completion_without_extension(graph):
    """Either an error says that the rules contradict each other, or they do not."""
    try:
        result = graph.apply_meek_rules()
    except GraphError:
        with pytest.raises(GraphError, match="apply_meek_rules: the arcs force a"):
            graph.apply_meek_rules()
    else:
        assert Pdag(result.nodes, result.arcs, result.edges) == result  # no directed cycle
        assert links(result) == links(graph)
        assert colliders(result) == colliders(graph)
        assert set(graph.arcs) <= set(result.arcs)


def test_the_rules_can_force_a_directed_cycle():
    # A -> B - C - D - A: no new v-structure at B, C and D leads back to A.
    square = Pdag(list("ABCD"), [("A", "B")], [("B", "C"), ("C", "D"), ("D", "A")])
    with pytest.raises(GraphError, match="apply_meek_rules: the arcs force a directed cycle"):
        square.apply_meek_rules()


@steady
@given(dags(max_nodes=6), st.randoms())
def test_background_knowledge_arc_by_arc_or_at_once(dag, rng):
    # Known: the v-structures and some other arcs of a Dag. What follows is what the members
    # of its class with these arcs have in common, in whatever order the arcs are given.
    collided = {arc for x, z, y in dag.v_structures() for arc in ((x, z), (y, z))}
    extra = [arc for arc in dag.arcs if arc not in collided and rng.random() < 0.4]
    known = collided.union(extra)
    graph = Pdag(dag.nodes, known, [arc for arc in dag.arcs if arc not in known])
    fitting = [m for m in dag.cpdag().members() if known <= set(m.arcs)]
    assert graph.apply_meek_rules() == agreed(fitting)
    work = WorkingGraph.of(dag.cpdag())
    rng.shuffle(extra)
    for arc in extra:
        work.direct([arc])
    assert {(p, c) for p in dag.nodes for c in work.children[p]} == set(
        graph.apply_meek_rules().arcs
    )


def test_rule_4_with_its_arcs_in_either_order():
    links = Pdag(list("ABCD"), [], [("A", "B"), ("A", "C"), ("A", "D"), ("C", "D"), ("B", "D")])
    for arcs in ([("C", "D"), ("D", "B")], [("D", "B"), ("C", "D")]):
        work = WorkingGraph.of(links)
        for arc in arcs:
            work.direct([arc])
        assert work.children == {"A": {"B"}, "B": set(), "C": {"D"}, "D": {"B"}}


def test_jensen_nielsen_example_7_1():
    # Figure 7.4: the v-structure C -> F <- D gives F -> G and no more ...
    pairs = [tuple(pair) for pair in ("CF", "DF", "FG", "DE", "DA", "DB", "AC", "AB")]
    graph = Pdag(list("ABCDEFG"), pairs[:2], pairs[2:]).apply_meek_rules()
    assert set(graph.arcs) == {("C", "F"), ("D", "F"), ("F", "G")}
    # ... and E -> D then gives D -> A, D -> B and A -> C, leaving A - B.
    chosen = Pdag(
        graph.nodes, [*graph.arcs, ("E", "D")], [e for e in graph.edges if e != ("D", "E")]
    ).apply_meek_rules()
    assert set(chosen.arcs) - set(graph.arcs) == {("E", "D"), ("D", "A"), ("D", "B"), ("A", "C")}
    assert chosen.edges == (("A", "B"),)


def test_jensen_nielsen_figure_7_10_cannot_be_directed():
    # A -> B <- C and B -> C <- D direct B - C both ways.
    with pytest.raises(CycleError, match="closes a cycle"):
        Pdag(list("ABCD"), [("A", "B"), ("C", "B"), ("B", "C"), ("D", "C")])
    graph = Pdag(list("ABCD"), [("A", "B"), ("D", "C")], [("B", "C")])
    with pytest.raises(GraphError, match="to_dag: no Dag"):
        graph.to_dag()
    with pytest.raises(GraphError, match="apply_meek_rules: the arcs force a new v-structure"):
        graph.apply_meek_rules()
    assert not graph.is_cpdag()


def test_an_undirected_square_has_no_extension():
    square = Pdag(list("ABCD"), [], [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")])
    assert square.apply_meek_rules() == square
    with pytest.raises(GraphError, match="to_dag: no Dag"):
        square.to_dag()
