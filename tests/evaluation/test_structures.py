"""Structures compared: every number against a count over pairs of nodes."""

import pickle
import re
from itertools import combinations

import pytest

from bestdag import Dag, GraphError, Network, Pdag, compare, random_dag
from bestdag.examples import example
from bestdag.graph.enumeration import all_dags

ABC = ("A", "B", "C")


def mark(graph, x, y):
    """Read one pair of a graph from its arcs and edges."""
    edges = getattr(graph, "edges", ())
    if (x, y) in edges or (y, x) in edges:
        return "--"
    return "->" if (x, y) in graph.arcs else "<-" if (y, x) in graph.arcs else ""


def shd(one, other):
    return sum(mark(one, x, y) != mark(other, x, y) for x, y in combinations(one.nodes, 2))


def test_every_pair_of_dags_over_three_nodes():
    every = list(all_dags(ABC))
    for true in every:
        for learned in every:
            found = compare(true, learned)
            assert found.shd_dag == shd(true, learned)
            assert found.shd_cpdag == shd(true.cpdag(), learned.cpdag())
            assert (found.shd_cpdag == 0) == true.is_equivalent(learned)
            moral = set(true.moral_graph().edges) ^ set(learned.moral_graph().edges)
            assert found.moral_mismatches == len(moral)
            n_apart = len(found.added) + len(found.removed) + len(found.reversed)
            assert found.shd_dag == n_apart
            assert set(found.added) == {
                arc for arc in learned.arcs if not {arc, arc[::-1]} & set(true.arcs)
            }
            assert set(found.removed) == {
                arc for arc in true.arcs if not {arc, arc[::-1]} & set(learned.arcs)
            }
            assert set(found.reversed) == {a for a in true.arcs if a[::-1] in learned.arcs}
            if true.is_equivalent(learned):
                assert found.within_class == found.reversed


def test_arcs_that_differ_only_within_the_class():
    true = Dag(list("ABCDE"), [("A", "B"), ("C", "D"), ("E", "D")])
    learned = Dag(list("ABCDE"), [("B", "A"), ("D", "C"), ("E", "D")])
    found = compare(true, learned)
    assert found.reversed == (("A", "B"), ("C", "D"))
    assert found.within_class == (("A", "B"),)  # C -> D is in a v-structure of the true one
    # A - B is an edge of both classes; C, D and E, D are arcs of the one and edges of the other.
    assert (found.shd_dag, found.shd_cpdag) == (2, 2)
    assert found.moral_mismatches == 1  # C and E, parents of D


def test_precision_and_recall_by_hand():
    true = Dag(list("ABCD"), [("A", "B"), ("B", "C"), ("C", "D")])
    learned = Dag(list("ABCD"), [("A", "B"), ("C", "B")])
    found = compare(true, learned)
    assert found.skeleton.to_dict() == {"precision": 1.0, "recall": 2 / 3, "f1": 0.8}
    assert found.arcs.to_dict() == {"precision": 0.5, "recall": 1 / 3, "f1": 0.4}
    # One v-structure was learned, none is there: nothing to find was missed.
    assert found.v_structures.to_dict() == {"precision": 0.0, "recall": 1.0, "f1": 0.0}


def test_shares_of_nothing_are_one():
    empty = compare(Dag(ABC), Dag(ABC))
    assert empty.skeleton.to_dict() == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    missed = compare(Dag(ABC, [("A", "B")]), Dag(ABC)).arcs
    assert (missed.precision, missed.recall, missed.f1) == (1.0, 0.0, 0.0)


def test_classes_as_they_are_given():
    dag = Dag(ABC, [("A", "B"), ("B", "C")])
    found = compare(dag, dag.cpdag())
    assert (found.shd_dag, found.shd_cpdag, found.moral_mismatches) == (None, 0, 0)
    assert found.undirected == (("A", "B"), ("B", "C"))
    assert compare(dag.cpdag(), dag).directed == (("A", "B"), ("B", "C"))
    collider = Dag(ABC, [("A", "B"), ("C", "B")]).cpdag()
    assert compare(dag.cpdag(), collider).shd_cpdag == 2
    assert compare(dag, collider).shd_dag == 1  # without edges its arcs are those of a DAG
    half = Pdag(ABC, [("A", "B")], [("B", "C")])  # no CPDAG: taken as it is
    assert compare(half, dag).shd_cpdag == 1


@pytest.mark.parametrize("seed", range(5))
def test_moral_graphs_of_classes_are_those_of_their_members(seed):
    one = random_dag(9, "order", arc_probability=0.3, seed=seed)
    other = random_dag(9, "order", arc_probability=0.3, seed=seed + 100)
    found = compare(one.cpdag(), other.cpdag())
    moral = set(one.moral_graph().edges) ^ set(other.moral_graph().edges)
    assert found.moral_mismatches == len(moral) == compare(one, other).moral_mismatches


def test_the_order_of_nodes_and_the_numbers_of_networks_do_not_matter():
    net = Network.load(example("asia.bif"))
    turned = Dag(net.dag.nodes[::-1], net.dag.arcs[::-1])
    assert compare(net, turned).shd_dag == 0
    assert compare(net, turned).to_dict() == compare(turned, net).to_dict()


def test_other_nodes_are_refused_by_name():
    with pytest.raises(GraphError, match=r"the learned structure lacks 'C'.*rename"):
        compare(Dag(ABC), Dag(list("AB")))
    with pytest.raises(GraphError, match="the true structure lacks 'D'"):
        compare(Dag(ABC), Dag(list("ABCD")))
    with pytest.raises(GraphError, match="needs a Dag, a Pdag or a Network, got 3"):
        compare(Dag(ABC), 3)


def test_results_print_pickle_and_never_change():
    found = compare(Dag(ABC, [("A", "B")]), Dag(ABC, [("B", "A"), ("B", "C")]))
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(AttributeError):
        found.shd_dag = 3
    text = str(found)
    assert "SHD 2 between DAGs, 1 between classes" in text
    assert "A, B: A -> B | B -> A (same class)" in text
    assert "B, C: none | B -> C" in text


def test_one_drawing_has_both():
    true = Dag(list("ABCD"), [("A", "B"), ("B", "C"), ("C", "D")])
    learned = Dag(list("ABCD"), [("A", "B"), ("D", "C"), ("A", "D")])
    dot = compare(true, learned).to_dot()
    assert '"A" -> "B" [color=black, style=solid];' in dot
    assert '"B" -> "C" [color=red, style=dashed];' in dot
    assert '"A" -> "D" [color=blue, style=solid];' in dot
    assert '"D" -> "C" [color=orange, style=dotted];' in dot  # in both classes an edge
    assert dot.count("->") == 4
    collider = Dag(list("ABCD"), [("A", "B"), ("C", "B"), ("C", "D")])
    assert '"C" -> "B" [color=orange, style=solid];' in compare(true, collider).to_dot()
    edge = compare(true, true.cpdag()).to_dot()
    assert '"A" -> "B" [color=orange, style=solid, dir=none];' in edge


def test_one_picture_has_both():
    true = Dag(list("ABCD"), [("A", "B"), ("B", "C"), ("C", "D")])
    learned = Dag(list("ABCD"), [("A", "B"), ("D", "C"), ("A", "D")])
    picture = compare(true, learned).plot().svg
    lines = re.findall(r'class="arc (\w+)".*?<title>(.*?)</title>', picture)
    assert lines == [
        ("both", "A → B"),
        ("added", "A → D"),
        ("removed", "B → C"),
        ("within", "D → C"),
    ]
    for said in ("in both", "added", "missing", "other direction, same class", "SHD 3"):
        assert f">{said}</text>" in picture
    edges = compare(true, true.cpdag()).plot().svg
    assert re.findall(r'class="arc turned".*?<title>(.*?)</title>', edges)[0] == "A — B"
    assert 'class="head"' not in edges
    assert compare(Dag(ABC), Dag(ABC)).plot().svg.count("<rect") == 3
