"""networkx both ways, and DOT."""

import re

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.errors import CycleError, GraphError
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from tests.graph.definitions import all_pdags, dags, steady


@steady
@given(dags())
def test_dag_through_networkx_and_back(dag):
    graph = dag.to_networkx()
    assert type(graph) is networkx.DiGraph
    assert list(graph.nodes) == list(dag.nodes)
    assert set(graph.edges) == set(dag.arcs)
    back = Dag.from_networkx(graph)
    assert back == dag
    assert back.nodes == dag.nodes


def test_pdag_through_networkx_and_back():
    for graph in all_pdags(3):
        assert Pdag.from_networkx(graph.to_networkx()) == graph


def test_an_edge_is_a_pair_of_opposite_arcs():
    graph = Pdag(["A", "B", "C"], [("A", "B")], [("B", "C")]).to_networkx()
    assert set(graph.edges) == {("A", "B"), ("B", "C"), ("C", "B")}


def test_an_undirected_graph_is_a_pdag_with_edges_only():
    graph = networkx.Graph([("B", "A"), ("B", "C")])
    assert Pdag.from_networkx(graph) == Pdag(["A", "B", "C"], [], [("A", "B"), ("B", "C")])
    with pytest.raises(GraphError, match=r"Dag.from_networkx: needs a directed graph"):
        Dag.from_networkx(graph)


def test_attributes_are_not_read():
    graph = networkx.DiGraph()
    graph.add_edge("A", "B", weight=3)
    graph.add_node("C", colour="red")
    assert Dag.from_networkx(graph) == Dag(["A", "B", "C"], [("A", "B")])


@pytest.mark.parametrize("kind", [Dag, Pdag])
def test_refuses_graphs_it_cannot_hold(kind):
    with pytest.raises(GraphError, match=r"from_networkx: a node's name must be text, got 1"):
        kind.from_networkx(networkx.DiGraph([(1, 2)]))
    with pytest.raises(GraphError, match=r"from_networkx: needs a networkx graph, got list"):
        kind.from_networkx([("A", "B")])
    with pytest.raises(GraphError, match="A -> B is listed twice"):
        kind.from_networkx(networkx.MultiDiGraph([("A", "B"), ("A", "B")]))
    with pytest.raises(CycleError, match="A -> A is a self-loop"):
        kind.from_networkx(networkx.DiGraph([("A", "A")]))
    with pytest.raises(CycleError, match="closes a cycle"):
        kind.from_networkx(networkx.DiGraph([("A", "B"), ("B", "C"), ("C", "A")]))


def test_opposite_arcs_are_no_dag():
    with pytest.raises(CycleError, match="arc B -> A closes a cycle: A -> B -> A"):
        Dag.from_networkx(networkx.DiGraph([("A", "B"), ("B", "A")]))


def test_dot_of_a_dag_and_of_a_pdag():
    dag = Dag(["B", "A", "C"], [("A", "B")])
    assert dag.to_dot() == 'digraph {\n  "B";\n  "A";\n  "C";\n  "A" -> "B";\n}'
    pdag = Pdag(["A", "B", "C"], [("A", "B")], [("C", "B")])
    assert pdag.to_dot().splitlines()[-3:] == ['  "A" -> "B";', '  "B" -> "C" [dir=none];', "}"]


def read_dot_names(text):
    """Read quoted names as Graphviz does: backslash-quote is a quote, other pairs stay."""
    names = re.findall(r'"((?:\\.|[^"\\])*)"', text, flags=re.DOTALL)
    return [re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL) for name in names]


@steady
@given(st.lists(st.text(st.sampled_from('ab"\\\n;->{} é'), max_size=6), unique=True, max_size=5))
def test_dot_keeps_every_name_apart(names):
    assert read_dot_names(Dag.empty(names).to_dot()) == names


def test_dot_shows_html_entities_as_they_are():
    assert Dag.empty(["a&lt;b"]).to_dot().splitlines()[1] == '  "a&lt;b" [label="a&amp;lt;b"];'


def test_dot_cannot_hold_nul():
    with pytest.raises(GraphError, match="to_dot: DOT has no way to write the NUL"):
        Dag.empty(["a\0b"]).to_dot()
