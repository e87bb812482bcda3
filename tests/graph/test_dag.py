"""Dag: what it holds, what it derives, what it refuses."""

import copy
import os
import pickle
import subprocess
import sys
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given

from bestdag.errors import CycleError, GraphError, UnknownNameError
from bestdag.graph.dag import Dag
from tests.graph.definitions import dags, steady

#   A   B
#    \ / \
#     C   D     E
#     |
#     F
EXAMPLE = Dag(["F", "E", "D", "C", "B", "A"], [("A", "C"), ("B", "C"), ("B", "D"), ("C", "F")])


def test_nodes_stay_as_given_and_the_rest_is_sorted_by_name():
    assert EXAMPLE.nodes == ("F", "E", "D", "C", "B", "A")
    assert EXAMPLE.arcs == (("A", "C"), ("B", "C"), ("B", "D"), ("C", "F"))
    assert EXAMPLE.parents("C") == ("A", "B")
    assert EXAMPLE.children("B") == ("C", "D")
    assert EXAMPLE.adjacent("C") == ("A", "B", "F")
    assert EXAMPLE.ancestors("F") == ("A", "B", "C")
    assert EXAMPLE.descendants("B") == ("C", "D", "F")
    assert EXAMPLE.markov_blanket("B") == ("A", "C", "D")
    assert EXAMPLE.markov_blanket("E") == ()
    # A, B and E wait for nobody; C is ready after B and comes before D.
    assert EXAMPLE.topological_order() == ("A", "B", "C", "D", "E", "F")
    assert EXAMPLE.v_structures() == (("A", "C", "B"),)
    assert EXAMPLE.skeleton().edges == (("A", "C"), ("B", "C"), ("B", "D"), ("C", "F"))
    assert EXAMPLE.moral_graph().edges == (("A", "B"), *EXAMPLE.skeleton().edges)
    assert EXAMPLE.moral_graph().nodes == EXAMPLE.nodes
    assert EXAMPLE.has_arc("A", "C")
    assert not EXAMPLE.has_arc("C", "A")


def test_a_tie_in_the_topological_order_goes_to_the_first_name():
    assert Dag(["c", "b", "a"], [("c", "a")]).topological_order() == ("b", "c", "a")


def test_equal_when_nodes_and_arcs_are_equal_as_sets():
    one = Dag(["A", "B", "C"], [("A", "B"), ("A", "C")])
    other = Dag(["C", "A", "B"], [("A", "C"), ("A", "B")])
    assert one == other
    assert hash(one) == hash(other)
    assert one != Dag(["A", "B", "C", "D"], [("A", "B"), ("A", "C")])
    assert one != Dag(["A", "B", "C"], [("A", "B"), ("C", "A")])
    assert one != "A"


def test_never_changes():
    with pytest.raises(AttributeError, match="a Dag never changes"):
        EXAMPLE.nodes = ()
    with pytest.raises(AttributeError, match="a Dag never changes"):
        EXAMPLE.anything = {}
    with pytest.raises(AttributeError, match="a Dag never changes"):
        del EXAMPLE.nodes


def test_from_parents_takes_every_name_it_meets():
    dag = Dag.from_parents({"C": ["B", "A"], "A": [], "E": ()})
    assert dag.nodes == ("C", "A", "E", "B")
    assert dag.arcs == (("A", "C"), ("B", "C"))


def test_empty_graphs():
    assert Dag.empty(["A", "B"]).arcs == ()
    nothing = Dag.empty([])
    assert (nothing.nodes, nothing.arcs, nothing.topological_order()) == ((), (), ())
    assert nothing.cpdag().nodes == ()
    assert nothing.cpdag().to_dag() == nothing
    assert nothing.n_parameters({}) == 0


def test_moves_return_new_graphs():
    dag = Dag(["A", "B", "C"], [("A", "B")])
    assert dag.add("C", "B").arcs == (("A", "B"), ("C", "B"))
    assert dag.add("C", "B").parents("B") == ("A", "C")
    assert dag.remove("A", "B") == Dag.empty(["A", "B", "C"])
    assert dag.reverse("A", "B").arcs == (("B", "A"),)
    assert dag.arcs == (("A", "B"),)
    assert dag.add("B", "C").topological_order() == ("A", "B", "C")


@steady
@given(dags())
def test_moves_agree_with_building_anew(dag):
    for parent in dag.nodes:
        for child in dag.nodes:
            if parent == child:
                continue
            if dag.has_arc(parent, child):
                less = Dag(dag.nodes, [arc for arc in dag.arcs if arc != (parent, child)])
                assert dag.remove(parent, child) == less
                assert dag.remove(parent, child).add(parent, child) == dag
            elif parent in dag.descendants(child):
                with pytest.raises(CycleError):
                    dag.add(parent, child)
            else:
                more = dag.add(parent, child)
                assert more == Dag(dag.nodes, [*dag.arcs, (parent, child)])
                assert more.children(parent) == Dag(more.nodes, more.arcs).children(parent)
                assert more.remove(parent, child) == dag


def test_subgraph_keeps_the_arcs_between_its_nodes():
    part = EXAMPLE.subgraph(["A", "C", "E", "D"])
    assert part.nodes == ("E", "D", "C", "A")
    assert part.arcs == (("A", "C"),)


@steady
@given(dags())
def test_derived_sets_agree_with_networkx(dag):
    graph = dag.to_networkx()
    order = dag.topological_order()
    assert list(order) == list(networkx.lexicographical_topological_sort(graph))
    for node in dag.nodes:
        assert set(dag.ancestors(node)) == networkx.ancestors(graph, node)
        assert set(dag.descendants(node)) == networkx.descendants(graph, node)
    moral = networkx.moral_graph(graph)
    assert {frozenset(edge) for edge in dag.moral_graph().edges} == {
        frozenset(edge) for edge in moral.edges
    }


@steady
@given(dags())
def test_pickles_and_copies(dag):
    for twin in (pickle.loads(pickle.dumps(dag)), copy.deepcopy(dag), copy.copy(dag)):
        assert twin == dag
        assert hash(twin) == hash(dag)
        assert twin.nodes == dag.nodes


@steady
@given(dags())
def test_repr_builds_the_same_graph(dag):
    assert eval(repr(dag)) == dag


def test_text_shows_arcs_and_isolated_nodes():
    assert str(Dag(["E", "A", "B"], [("A", "B")])) == "Dag: 3 nodes, 1 arc\n  A -> B\n  E"
    large = Dag.empty(str(i) for i in range(1000))
    assert repr(large) == "<Dag: 1,000 nodes, 0 arcs>"
    assert str(large).splitlines()[-1] == "  ... (970 more)"


@pytest.mark.parametrize("name", ["", " ", "a b", 'q"uote', "new\nline", "a -> b", "🦆", "é\0"])
def test_names_may_be_any_text(name):
    dag = Dag([name, "child"], [(name, "child")])
    assert dag.parents("child") == (name,)
    assert pickle.loads(pickle.dumps(dag)) == dag


def test_names_become_ordinary_text():
    one, other = np.array(["A", "B"])
    dag = Dag([one, other], [(one, other)])
    assert repr(dag) == "Dag(['A', 'B'], [('A', 'B')])"
    assert repr(Dag.empty([one, other]).add(one, other)) == repr(dag)


@pytest.mark.parametrize(
    ("nodes", "arcs", "error", "message"),
    [
        (["A", "A"], [], GraphError, "Dag: node A is listed twice"),
        ("AB", [], GraphError, "Dag: nodes must be a list of names, got the text 'AB'"),
        (None, [], GraphError, "Dag: nodes must be a list of names, got None"),
        (["A"], None, GraphError, "Dag: arcs must be a list of pairs of names, got None"),
        (["A", 1], [], GraphError, "Dag: a node's name must be text, got 1"),
        (["A"], [("A", "A")], CycleError, "arc A -> A is a self-loop"),
        (["A", "B"], ["AB"], GraphError, "Dag: an arc must be a pair of names, got 'AB'"),
        (
            ["A", "B"],
            [("A", "B", "A")],
            GraphError,
            "Dag: an arc must be a pair of names, got ('A', 'B', 'A')",
        ),
        (["A", "B"], [("A", "B")] * 2, GraphError, "Dag: arc A -> B is listed twice"),
        (
            ["rain", "wet"],
            [("rian", "wet")],
            UnknownNameError,
            "arc rian -> wet: unknown node 'rian'; known: rain, wet (did you mean 'rain'?)",
        ),
        (
            ["A", "B"],
            [("A", None)],
            UnknownNameError,
            "arc A -> None: unknown node None; known: A, B",
        ),
        (
            ["A", "B", "C"],
            [("B", "C"), ("C", "A"), ("A", "B")],
            CycleError,
            "arc A -> B closes a cycle: B -> C -> A -> B",
        ),
        (
            ["A\n", "B"],
            [("A\n", "B"), ("B", "A\n")],
            CycleError,
            r"arc B -> 'A\n' closes a cycle: 'A\n' -> B -> 'A\n'",
        ),
    ],
)
def test_refuses_what_is_no_dag(nodes, arcs, error, message):
    with pytest.raises(error) as caught:
        Dag(nodes, arcs)
    assert str(caught.value) == message


def test_names_the_first_arc_that_closes_a_cycle_and_a_shortest_cycle():
    # E -> A closes A -> B -> E -> A, and the longer A -> C -> D -> E -> A as well;
    # F hangs below the cycle and B -> A, which closes a shorter one, comes later.
    arcs = ["AB", "BE", "AC", "CD", "DE", "EF", "EA", "BA"]
    with pytest.raises(CycleError) as caught:
        Dag(list("ABCDEF"), [tuple(arc) for arc in arcs])
    assert str(caught.value) == "arc E -> A closes a cycle: A -> B -> E -> A"


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda d: d.add("F", "A"), CycleError, "arc F -> A closes a cycle: A -> C -> F -> A"),
        (lambda d: d.add("A", "C"), GraphError, "add: arc A -> C is there already"),
        (lambda d: d.add("A", "A"), CycleError, "arc A -> A is a self-loop"),
        (lambda d: d.remove("C", "A"), GraphError, "remove: there is no arc C -> A"),
        (lambda d: d.reverse("A", "F"), GraphError, "reverse: there is no arc A -> F"),
        (
            lambda d: d.add("B", "F").reverse("B", "F"),
            CycleError,
            "arc F -> B closes a cycle: B -> C -> F -> B",
        ),
        (lambda d: d.subgraph(["A", "A"]), GraphError, "subgraph: node A is listed twice"),
        (
            lambda d: Dag.from_parents({"A": "BC"}),
            GraphError,
            "Dag: the parents of A must be a list of names, got 'BC'",
        ),
    ],
)
def test_refuses_moves_that_cannot_be_made(act, error, message):
    with pytest.raises(error) as caught:
        act(EXAMPLE)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "ask",
    [
        lambda d: d.parents("G"),
        lambda d: d.children("G"),
        lambda d: d.adjacent("G"),
        lambda d: d.ancestors("G"),
        lambda d: d.descendants("G"),
        lambda d: d.markov_blanket("G"),
        lambda d: d.has_arc("G", "A"),
        lambda d: d.has_arc("A", "G"),
        lambda d: d.add("G", "A"),
        lambda d: d.remove("G", "A"),
        lambda d: d.reverse("A", "G"),
        lambda d: d.subgraph(["A", "G"]),
        lambda d: d.parents(["A"]),
    ],
)
def test_refuses_unknown_nodes(ask):
    with pytest.raises(UnknownNameError, match=r"unknown node .*; known: F, E, D, C, B, A"):
        ask(EXAMPLE)


def test_a_long_chain_needs_no_recursion():
    names = [f"n{i:04}" for i in range(5000)]
    chain = Dag(names, pairwise(names))
    assert chain.topological_order() == tuple(names)
    assert len(chain.ancestors(names[-1])) == 4999
    assert not chain.d_separated(names[0], names[-1])
    assert chain.d_separated(names[0], names[-1], names[2500])
    assert chain.cpdag().edges == chain.arcs
    assert chain.cpdag().to_dag() == chain
    assert chain.skeleton().apply_meek_rules() == chain.skeleton()
    assert pickle.loads(pickle.dumps(chain)) == chain
    with pytest.raises(CycleError, match=r"arc n4999 -> n0000 closes .*\(4,988 more\)") as caught:
        chain.add(names[-1], names[0])
    assert len(str(caught.value)) < 300


def test_results_do_not_depend_on_the_hash_seed():
    program = """
from bestdag.graph.dag import Dag
dag = Dag.from_parents({"C": ["A", "B"], "D": ["B", "E"], "F": ["E", "G"], "E": ["G", "B"]})
print(dag.arcs, dag.topological_order(), dag.moral_graph().edges, dag.cpdag().to_dag().arcs)
print([member.arcs for member in dag.cpdag().members()], dag.cpdag().to_dot(), dag.v_structures())
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("given", [None, 5, "ab", ["a"]])
def test_what_is_not_a_mapping_of_parents_is_refused(given):
    with pytest.raises(GraphError, match=r"^Dag: from_parents needs a mapping .*, got "):
        Dag.from_parents(given)


def test_parents_that_are_no_list_are_refused():
    with pytest.raises(GraphError, match=r"^Dag: the parents of a must be a list of names, got"):
        Dag.from_parents({"a": None})


@pytest.mark.parametrize("given", [None, 5])
def test_what_is_not_a_list_of_nodes_is_refused(given):
    with pytest.raises(GraphError, match=rf"^Dag: nodes must be a list of names, got {given}$"):
        Dag(given)
