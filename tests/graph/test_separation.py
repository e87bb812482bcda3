"""d-separation against three other ways to decide it."""

import random
from itertools import combinations

import networkx
import pytest

from bestdag.errors import GraphError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.separation import d_connected
from tests.graph.definitions import blocks_every_trail, separated_in_moral_graph, subsets

# Jensen and Nielsen, Figures 7.3(c) and 7.6(a): A -> D <- B, A -> C, C -> E <- D.
FIGURE_7_3 = Dag.from_parents({"A": [], "B": [], "C": ["A"], "D": ["A", "B"], "E": ["C", "D"]})


def independences(dag):
    """All triples (x, y, given) of single nodes x < y that are d-separated."""
    return {
        (x, y, "".join(given))
        for x, y in combinations(sorted(dag.nodes), 2)
        for given in subsets(sorted(set(dag.nodes) - {x, y}))
        if dag.d_separated(x, y, given)
    }


def test_jensen_nielsen_section_7_1_1():
    printed = {
        *(("A", "B", ""), ("B", "C", ""), ("A", "B", "C"), ("B", "C", "A"), ("C", "D", "A")),
        *(("B", "C", "AD"), ("C", "D", "AB"), ("B", "E", "CD"), ("A", "E", "CD")),
        *(("B", "C", "ADE"), ("A", "E", "BCD"), ("B", "E", "ACD")),
    }
    # The text leaves one out: given A and D, B - D - E is blocked at D and
    # B - D - A - C - E, opened at D, is blocked at A.
    assert independences(FIGURE_7_3) == printed | {("B", "E", "AD")}


def test_jensen_nielsen_section_7_1_3():
    # What the PC algorithm finds at the first set size that separates a pair, and its skeleton.
    found = {("A", "B", ""), ("B", "C", ""), ("C", "D", "A"), ("A", "E", "CD"), ("B", "E", "CD")}
    assert found <= independences(FIGURE_7_3)
    separated = {(x, y) for x, y, _ in found}
    assert set(FIGURE_7_3.skeleton().edges) == set(combinations("ABCDE", 2)) - separated
    assert FIGURE_7_3.v_structures() == (("A", "D", "B"), ("C", "E", "D"))


def test_jensen_nielsen_theorem_7_1():
    # Two nodes are not linked if and only if the parents of one of them separate them.
    for dag in all_dags(["A", "B", "C", "D"]):
        for x, y in combinations(dag.nodes, 2):
            separable = any(
                other not in dag.parents(node)
                and dag.d_separated(x, y, [p for p in dag.parents(node) if p != other])
                for node, other in ((x, y), (y, x))
            )
            assert separable == (y not in dag.adjacent(x))


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_pairs_by_every_trail_and_by_the_moral_graph(n_nodes):
    for dag in all_dags("ABCD"[i] for i in range(n_nodes)):
        for x, y in combinations(dag.nodes, 2):
            for given in subsets(set(dag.nodes) - {x, y}):
                expected = blocks_every_trail(dag, x, y, given)
                assert dag.d_separated(x, y, given) == expected
                assert dag.d_separated(y, x, given) == expected
                assert separated_in_moral_graph(dag, [x], [y], given) == expected


@pytest.mark.parametrize("seed", range(60))
def test_sets_agree_with_networkx_and_the_moral_graph(seed):
    rng = random.Random(seed)
    names = [f"n{i:02}" for i in range(rng.randint(3, 25))]
    density = rng.choice([0.05, 0.15, 0.4])
    dag = Dag(names, [pair for pair in combinations(names, 2) if rng.random() < density])
    graph = dag.to_networkx()
    for _ in range(20):
        places = {name: rng.choice("xyzzz    ") for name in names}
        x, y, given = ({n for n in names if places[n] == place} for place in "xyz")
        got = dag.d_separated(x, y, given)
        assert got == networkx.is_d_separator(graph, x, y, given)
        assert got == separated_in_moral_graph(dag, x, y, given)


def test_the_descendant_of_a_collider_opens_it():
    dag = Dag.from_parents({"C": ["A", "B"], "D": ["C"], "E": ["D"]})
    assert dag.d_separated("A", "B")
    assert not dag.d_separated("A", "B", given="E")
    assert dag.d_separated("A", "E", given="D")
    assert d_connected(dag, ["A"], ["E"]) == {"A", "B", "C", "D"}


def test_a_name_of_several_letters_is_one_name():
    dag = Dag.from_parents({"wet": ["rain"]})
    assert not dag.d_separated("rain", "wet")


def test_nothing_is_separated_from_everything():
    assert FIGURE_7_3.d_separated([], "A")
    assert FIGURE_7_3.d_separated("A", [], given=["B"])


@pytest.mark.parametrize(
    ("x", "y", "given", "message"),
    [
        (["A", "B"], ["B"], [], "d_separated: node B is both in x and in y"),
        (["A"], ["B"], ["A"], "d_separated: node A is both in x and in given"),
        (["A"], ["B"], ["B", "C"], "d_separated: node B is both in y and in given"),
    ],
)
def test_refuses_overlapping_sets(x, y, given, message):
    with pytest.raises(GraphError) as caught:
        FIGURE_7_3.d_separated(x, y, given)
    assert str(caught.value) == message


@pytest.mark.parametrize("place", [0, 1, 2])
def test_refuses_unknown_names(place):
    sets = ["A", "B", "C"]
    sets[place] = "Q"
    with pytest.raises(UnknownNameError, match="unknown node 'Q'; known: A, B, C, D, E"):
        FIGURE_7_3.d_separated(*sets)
