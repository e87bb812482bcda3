"""Each kind of statement: its documentation, and which graphs it leaves, looking at all."""

from inspect import getdoc, signature
from itertools import combinations, pairwise
from math import prod
from pathlib import Path

import networkx
import pytest
from hypothesis import HealthCheck, assume, given, settings

from bestdag.errors import GraphError
from bestdag.graph.enumeration import all_dags, n_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.knowledge.kinds import KINDS
from bestdag.graph.knowledge.text import parse_lines
from tests.conftest import examples
from tests.graph.definitions import steady
from tests.graph.knowledge.definitions import fulfils, graphs, satisfies, statements

ABCD = ("A", "B", "C", "D")


def n_left(knowledge, n_nodes):
    return sum(knowledge.allows(dag) for dag in all_dags(list("ABCDE"[:n_nodes])))


def has_arcs(graph, dag):
    return all(graph.has_edge(int(parent), int(child)) for parent, child in dag.arcs)


def n_allowed_dags(allowed):
    """Count the DAGs made of allowed arcs: free choices between components, all DAGs within."""
    graph = networkx.DiGraph(list(zip(*allowed.nonzero(), strict=True)))
    graph.add_nodes_from(range(len(allowed)))
    parts = [sorted(part) for part in networkx.strongly_connected_components(graph)]
    within = [sum(has_arcs(graph, dag) for dag in all_dags(map(str, part))) for part in parts]
    n_between = graph.number_of_edges() - sum(
        graph.subgraph(part).number_of_edges() for part in parts
    )
    return prod(within) << n_between


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_documented_and_its_example_is_read(kind):
    assert f"\n{kind.field} : {kind.type_text}\n    {getdoc(kind).splitlines()[0]}" in getdoc(
        Knowledge
    )
    assert f"\n``{kind.form}`` " in getdoc(Knowledge.parse)
    guide = (Path(__file__).parents[3] / "docs/howto/what-you-know.md").read_text()
    assert f"\n| `{kind.form}` |" in guide.replace("\\|", "|")
    assert list(parse_lines([kind.form])) == [kind.field]
    assert kind.check(kind.default) == kind.default == getattr(Knowledge(), kind.field)


def test_the_parameters_are_the_fields_of_the_kinds():
    assert list(signature(Knowledge).parameters) == [kind.field for kind in KINDS]
    with pytest.raises(TypeError, match=r"unknown key 'tier'.*did you mean 'tiers'"):
        Knowledge(tier=[["A"]])


# Each count is worked out by hand over the 25 DAGs of three nodes.
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, 25),
        # Each of three pairs is unjoined, or an arc one way or the other, so that by symmetry as
        # many DAGs have A -> B as B -> A. Without that edge the other two pairs are free: 9.
        ({"forbidden_edges": [("A", "B")]}, 9),
        ({"required_edges": [("A", "B")]}, 16),
        # A chain of two links, each unjoined or an arc either way.
        ({"skeleton": [("A", "B"), ("B", "C")]}, 9),
        ({"skeleton": []}, 1),
        ({"required_arcs": [("A", "B")]}, 8),
        ({"forbidden_arcs": [("A", "B")]}, 17),
        ({"order": [("B", "A")]}, 17),
        # B -> A not, C -> B not, C -> A not: 2^3.
        ({"order": [("A", "B"), ("B", "C")]}, 8),
        ({"total_order": ["A", "B", "C"]}, 8),
        # The 8 with A -> B, and A -> C -> B without an arc from A to B.
        ({"ancestors": [("A", "B")]}, 9),
        ({"non_ancestors": [("A", "B")]}, 16),
        # A is no child: A -> B, A -> C free, and the 3 DAGs over B, C.
        ({"roots": ["A"]}, 12),
        ({"leaves": ["A"]}, 12),
        ({"roots": ["A", "B"]}, 4),
        ({"max_parents": 0}, 1),
        # Forests of rooted trees on three labelled nodes: (3 + 1)^(3 - 1).
        ({"max_parents": 1}, 16),
        ({"max_parents": 2}, 25),
        ({"max_parents_of": {"A": 0}}, 12),
        # A tier of one above a tier of two: 2^2 arcs down, 3 DAGs within.
        ({"tiers": [["A"], ["B", "C"]]}, 12),
        ({"tiers": [["A"], ["B", "C"]], "within_tiers": False}, 4),
        # C is free; only the arc B -> A is out.
        ({"tiers": [["A"], ["B"]]}, 17),
        ({"tiers": [["A", "B"]]}, 25),
        ({"tiers": [["A", "B"]], "within_tiers": False}, 9),
    ],
)
def test_number_left_of_three_nodes(said, expected):
    assert n_left(Knowledge(**said), 3) == expected


@pytest.mark.parametrize(
    "said",
    [
        {"required_arcs": [("A", "B"), ("C", "B")]},
        {"forbidden_arcs": [("A", "B"), ("D", "A")]},
        {"required_edges": [("A", "B"), ("C", "D"), ("A", "C")]},
        {"forbidden_edges": [("B", "A"), ("C", "D")]},
        {"skeleton": [("A", "B"), ("D", "B"), ("C", "D")]},
        {"tiers": [["B", "D"], ["A", "C"]]},
        {"tiers": [["B", "D"], ["A"]], "within_tiers": False},
        {"order": [("A", "B"), ("B", "C"), ("D", "C")]},
        {"total_order": ["C", "A", "D", "B"]},
        {"ancestors": [("A", "B"), ("B", "C")]},
        {"non_ancestors": [("A", "B"), ("C", "D")]},
        {"roots": ["A", "C"]},
        {"leaves": ["A", "C"]},
        {"max_parents": 1},
        {"max_parents_of": {"A": 0, "B": 2}},
        {"order": [("A", "B")], "required_arcs": [("B", "C")]},  # so no C -> A
        {"order": [("A", "B")], "ancestors": [("B", "C")]},
    ],
)
def test_leaves_exactly_the_graphs_of_its_definition(said):
    knowledge = Knowledge(**said)
    wanted = {dag for dag, arcs, paths in graphs(4) if satisfies(said, ABCD, arcs, paths)}
    assert {dag for dag, _, _ in graphs(4) if knowledge.allows(dag)} == wanted
    resolved = knowledge.for_nodes(ABCD)
    assert {g[0] for g in graphs(4) if fulfils(resolved, ABCD, g[1], g[2])} == wanted
    assert 0 < len(wanted) < n_dags(4)


# Section 7.3 of Jensen and Nielsen (2007): a linear order leaves 2^(n (n - 1) / 2).
@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4, 5])
def test_a_linear_order_leaves_a_power_of_two(n_nodes):
    names = list("EDCBA"[-n_nodes:])
    assert n_left(Knowledge(total_order=names), n_nodes) == 2 ** (n_nodes * (n_nodes - 1) // 2)


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_pairs_that_make_a_linear_order_leave_as_many(n_nodes):
    names = list("DCBA"[-n_nodes:])
    for pairs in (pairwise(names), combinations(names, 2)):
        assert n_left(Knowledge(order=pairs), n_nodes) == 2 ** (n_nodes * (n_nodes - 1) // 2)


def test_a_linear_order_over_ten_nodes_leaves_3_5_e13():
    names = [f"X{i}" for i in range(10)]
    for known in (
        Knowledge(total_order=names),
        Knowledge(order=pairwise(names)),
    ):
        count = n_allowed_dags(known.for_nodes(names).allowed)
        assert count == 2**45
        assert round(count / 1e12, 1) == 35.2


R, T, D, S = ("R1", "R2"), ("T1", "T2"), ("D1", "D2", "D3"), ("S1", "S2", "S3")
ALL = R + T + D + S


def test_the_hierarchy_of_figure_7_15_leaves_about_1e15():
    # Within R and T 3 DAGs each, within D and S 25 each; 37 pairs downward:
    # R-T 4, R-D 6, R-S 6, T-D 6, T-S 6, D-S 9.
    count = n_allowed_dags(Knowledge(tiers=[R, T, D, S]).for_nodes(ALL).allowed)
    assert count == 3**2 * 25**2 * 2**37 == 773_094_113_280_000
    assert f"{count:.0e}" == "8e+14"  # "approximately 10^15", of 4.2 10^18 in all
    assert f"{n_dags(10):.1e}" == "4.2e+18"


def test_without_arcs_in_tiers_only_the_pairs_downward_are_left():
    known = Knowledge(tiers=[R, T, D, S], within_tiers=False).for_nodes(ALL)
    assert n_allowed_dags(known.allowed) == 2**37


def test_three_missing_links_within_d_divide_by_25():
    tiers = Knowledge(tiers=[R, T, D, S])
    independent = tiers | Knowledge(forbidden_edges=combinations(D, 2))
    counts = [n_allowed_dags(known.for_nodes(ALL).allowed) for known in (tiers, independent)]
    assert counts[0] == 25 * counts[1]


def test_two_tiers_counted_one_by_one_agree_with_the_formula():
    known = Knowledge(tiers=[["A", "B"], ["C", "D"]])
    assert n_left(known, 4) == n_allowed_dags(known.for_nodes(ABCD).allowed) == 3 * 3 * 2**4


@settings(steady, max_examples=examples(100))
@given(statements(ABCD))
def test_statements_arrays_and_definition_agree_on_every_graph(said):
    wanted = {dag for dag, arcs, paths in graphs(4) if satisfies(said, ABCD, arcs, paths)}
    try:
        knowledge = Knowledge(**said)
        resolved = knowledge.for_nodes(ABCD)
    except GraphError:
        if wanted:
            raise
        return
    assert {dag for dag, _, _ in graphs(4) if knowledge.allows(dag)} == wanted
    assert {g[0] for g in graphs(4) if fulfils(resolved, ABCD, g[1], g[2])} == wanted


@settings(steady, max_examples=examples(40), suppress_health_check=[HealthCheck.filter_too_much])
@given(statements(("A", "B", "C")))
def test_what_is_refused_when_built_no_graph_with_more_nodes_satisfies(said):
    assume(not said.get("total_order"))  # which says that there are no more nodes
    assume(is_refused(said))
    assert not any(satisfies(said, ABCD, arcs, paths) for _, arcs, paths in graphs(4))


def is_refused(said):
    try:
        Knowledge(**said)
    except GraphError:
        return True
    return False
