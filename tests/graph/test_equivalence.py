"""Equivalence classes: CPDAG, members and extension against their definitions."""

import random

import pytest
from hypothesis import given

from bestdag.errors import GraphError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.pdag import Pdag
from tests.graph.definitions import agreed, classes, dags, steady


# Numbers of classes: Gillispie and Perlman (2002), Table 1.
@pytest.mark.parametrize(("n_nodes", "n_classes"), [(1, 1), (2, 2), (3, 11), (4, 185)])
def test_number_of_classes(n_nodes, n_classes):
    assert len(classes(n_nodes)) == n_classes


def test_number_of_cpdags_over_five_nodes():
    assert len({dag.cpdag() for dag in all_dags("ABCDE"[i] for i in range(5))}) == 8782


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4])
def test_cpdag_directs_the_arcs_that_all_members_agree_on(n_nodes):
    for group in classes(n_nodes):
        expected = agreed(group)
        for dag in group:
            assert dag.cpdag() == expected


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4])
def test_equivalent_within_a_class_and_nowhere_else(n_nodes):
    # Theorem 2.13 of Carvalho (2009).
    firsts = []
    for group in classes(n_nodes):
        first = min(group, key=lambda dag: dag.arcs)
        assert all(first.is_equivalent(dag) for dag in group)
        firsts.append(first)
    for position, one in enumerate(firsts):
        assert not any(one.is_equivalent(other) for other in firsts[position + 1 :])


def test_graphs_over_other_nodes_are_not_equivalent():
    assert not Dag.empty(["A"]).is_equivalent(Dag.empty(["B"]))
    assert not Dag.empty(["A"]).is_equivalent(Dag.empty(["A", "B"]))
    assert Dag.empty(["A", "B"]).is_equivalent(Dag.empty(["B", "A"]))


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4])
def test_members_and_extension_stay_in_the_class(n_nodes):
    for group in classes(n_nodes):
        cpdag = agreed(group)
        assert cpdag.is_cpdag()
        assert cpdag.to_dag() in group
        members = cpdag.members()
        assert len(members) == len(group)
        assert set(members) == group
        assert list(members) == sorted(members, key=lambda dag: dag.arcs)


def test_an_arc_can_be_compelled_without_being_in_a_v_structure():
    # Carvalho (2009), after Definition 2.15: Z -> W. Only Y -> U can be turned.
    dag = Dag(["X", "Y", "Z", "W", "U"], [("X", "Z"), ("Z", "W"), ("Y", "Z"), ("Y", "U")])
    assert dag.v_structures() == (("X", "Z", "Y"),)
    assert dag.cpdag().arcs == (("X", "Z"), ("Y", "Z"), ("Z", "W"))
    assert dag.cpdag().edges == (("U", "Y"),)
    assert dag.cpdag().members() == (dag.reverse("Y", "U"), dag)


def test_trees_of_one_skeleton_are_one_class():
    # Carvalho (2009), after Theorem 2.13: the essential graph of a tree is its skeleton,
    # and a tree with n nodes has n members, one for each root.
    tree = Dag.from_parents({"B": ["A"], "C": ["A"], "D": ["B"], "E": ["B"], "F": ["E"]})
    assert tree.cpdag() == tree.skeleton()
    members = tree.cpdag().members()
    roots = {dag.topological_order()[0] for dag in members}
    assert len(members) == 6
    assert roots == set("ABCDEF")


def test_a_complete_graph_has_a_member_for_each_order():
    names = list("ABCDE")
    complete = Dag.from_parents({name: names[:i] for i, name in enumerate(names)})
    assert complete.cpdag().arcs == ()
    assert len(complete.cpdag().members()) == 120


def test_members_multiply_over_separate_pieces_and_are_never_cut_short():
    # A chain of 3 (3 members), an edge (2), an isolated node, a v-structure (1): 6 in all.
    dag = Dag.from_parents({"B": ["A"], "C": ["B"], "E": ["D"], "F": [], "I": ["G", "H"]})
    cpdag = dag.cpdag()
    assert len(cpdag.members(limit=6)) == 6
    with pytest.raises(GraphError) as caught:
        cpdag.members(limit=5)
    message = "members: the class has more than 5 members; pass a higher limit= to list them all"
    assert str(caught.value) == message
    with pytest.raises(InvalidParameterError, match="members: limit must be"):
        cpdag.members(limit=0)


def test_a_class_beyond_counting_is_refused_without_listing_it():
    names = [f"n{i:03}" for i in range(400)]
    edges = Dag(names, zip(names[::2], names[1::2], strict=True))  # 2^200 members
    clique = Dag.from_parents({name: names[:i] for i, name in enumerate(names[:100])})  # 100!
    for dag in (edges, clique):
        with pytest.raises(GraphError, match="more than 10,000 members"):
            dag.cpdag().members()


def test_a_limit_between_the_first_estimate_and_the_number_of_members():
    # A square with one diagonal. Estimate: 4 nodes can be roots, a triangle has 3! orders.
    cpdag = Pdag(list("ABCD"), [], [("A", "B"), ("A", "C"), ("B", "C"), ("B", "D"), ("C", "D")])
    (group,) = [group for group in classes(4) if agreed(group) == cpdag]
    assert len(group) > 6
    assert len(cpdag.members(limit=len(group))) == len(group)
    for limit in range(1, len(group)):
        with pytest.raises(GraphError, match=f"more than {limit} members"):
            cpdag.members(limit=limit)


def test_members_needs_a_cpdag():
    with pytest.raises(GraphError, match="members: the graph is not the CPDAG"):
        Pdag(["A", "B"], [("A", "B")]).members()


@steady
@given(dags(max_nodes=5))
def test_the_members_of_the_class_of_a_dag_include_it(dag):
    cpdag = dag.cpdag()
    members = cpdag.members()
    assert dag in members
    assert len(set(members)) == len(members)
    assert all(member.cpdag() == cpdag and member.is_equivalent(dag) for member in members)


@steady
@given(dags())
def test_chickering_labels_agree_with_meek_rules(dag):
    collided = {arc for x, z, y in dag.v_structures() for arc in ((x, z), (y, z))}
    pattern = Pdag(dag.nodes, collided, [arc for arc in dag.arcs if arc not in collided])
    assert pattern.apply_meek_rules() == dag.cpdag()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_thousand_nodes(seed):
    rng = random.Random(seed)
    names = [f"n{i:03}" for i in range(1000)]
    rng.shuffle(names)
    arcs = {(names[rng.randrange(i)], names[i]) for i in range(1, 1000) for _ in range(seed)}
    dag = Dag(sorted(names), sorted(arcs))
    cpdag = dag.cpdag()
    assert cpdag.apply_meek_rules() == cpdag
    assert cpdag.is_cpdag()
    assert cpdag.to_dag().is_equivalent(dag)
    assert len(cpdag.arcs) + len(cpdag.edges) == len(dag.arcs)
