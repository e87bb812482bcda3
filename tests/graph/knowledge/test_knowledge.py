"""Knowledge: what it holds, how it is joined, what it resolves to."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings

from bestdag.errors import GraphError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from tests.conftest import examples
from tests.graph.definitions import steady
from tests.graph.knowledge.definitions import graphs, satisfies, statements

ABC = ("A", "B", "C")
FULL = {
    "required_arcs": [["A", "B"]],
    "forbidden_arcs": [["B", "C"]],
    "required_edges": [["C", "D"]],
    "forbidden_edges": [["D", "E"]],
    "tiers": [["A", "C"], ["B"]],
    "within_tiers": False,
    "order": [["A", "D"]],
    "ancestors": [["A", "E"]],
    "non_ancestors": [["E", "B"]],
    "roots": ["A"],
    "leaves": ["E"],
    "max_parents": 3,
    "max_parents_of": {"B": 2},
}


def built(said):
    """The Knowledge, or no example."""
    try:
        return Knowledge(**said)
    except GraphError:
        assume(False)


def test_equal_when_it_says_the_same():
    one = Knowledge(
        required_arcs=[("A", "B"), ("C", "D"), ("A", "B")],
        required_edges=[("F", "E")],
        tiers=[["C", "A"], ["B"]],
        roots=["A", "A"],
        max_parents_of={"B": 1, "A": 2},
    )
    other = Knowledge(
        required_arcs=(pair for pair in [["C", "D"], ["A", "B"]]),
        required_edges=[("E", "F")],
        tiers=(("A", "C"), ("B",)),
        roots=("A",),
        max_parents_of=[("A", 2), ("B", 1)],
    )
    assert one == other
    assert hash(one) == hash(other)
    assert one != Knowledge()
    assert one != "A -> B"
    assert Knowledge(order=[("A", "B")]) != Knowledge(order=[("B", "A")])
    assert Knowledge(max_parents=0) != Knowledge()


def test_holds_its_fields_sorted():
    known = Knowledge(**FULL)
    assert known.required_arcs == (("A", "B"),)
    assert known.tiers == (("A", "C"), ("B",))
    assert known.within_tiers is False
    assert known.max_parents == 3
    assert known.max_parents_of == (("B", 2),)
    assert known.total_order == ()
    assert Knowledge(total_order=["B", "A"]).total_order == ("B", "A")


def test_never_changes():
    known = Knowledge(roots=["A"])
    with pytest.raises(AttributeError, match="a Knowledge never changes: 'roots' cannot be set"):
        known.roots = ()
    with pytest.raises(AttributeError, match="never changes: 'roots' cannot be deleted"):
        del known.roots


def test_numpy_names_become_plain_text():
    known = Knowledge(required_arcs=[tuple(np.array(["A", "B"]))], roots=np.array(["A"]))
    assert {type(name) for name in (*known.required_arcs[0], *known.roots)} == {str}
    assert Knowledge(max_parents=np.int64(2)).to_dict() == {"max_parents": 2}


@pytest.mark.parametrize(
    "known", [Knowledge(), Knowledge(**FULL), Knowledge(total_order=["B", "A"])]
)
def test_pickles_and_copies(known):
    for same in (pickle.loads(pickle.dumps(known)), copy.copy(known), copy.deepcopy(known)):
        assert same == known
        assert hash(same) == hash(known)


def test_to_dict_says_only_what_is_said():
    assert Knowledge(**FULL).to_dict() == FULL
    assert Knowledge().to_dict() == {}
    assert Knowledge.from_dict(FULL) == Knowledge(**FULL)


def test_from_dict_refuses_an_unknown_key():
    with pytest.raises(UnknownNameError, match=r"unknown key 'required_arc'.*mean 'required_arcs'"):
        Knowledge.from_dict({"required_arc": []})
    with pytest.raises(UnknownNameError, match="unknown key 3"):
        Knowledge.from_dict({3: []})


def test_empty():
    assert Knowledge().is_empty
    assert Knowledge(roots=[], max_parents_of={}).is_empty
    assert not Knowledge(max_parents=0).is_empty
    assert str(Knowledge()) == "nothing known"
    assert repr(Knowledge()) == "Knowledge()"
    assert Knowledge().allows(Dag([]))
    assert Knowledge().for_nodes([]).allowed.shape == (0, 0)


def test_text_lists_the_statements():
    assert str(Knowledge(**FULL)).splitlines() == [
        "A -> B", "B !> C", "C -- D", "D !- E", "tiers: A C | B", "A < D", "A ~> E", "E !~> B",
        "roots: A", "leaves: E", "max_parents: 3", "max_parents B: 2", "within_tiers: no",
    ]  # fmt: skip
    assert eval(repr(Knowledge(**FULL))) == Knowledge(**FULL)
    many = Knowledge(forbidden_arcs=[("A", f"B{i}") for i in range(1234)])
    assert repr(many) == "<Knowledge: 1,234 statements>"


@settings(steady, max_examples=examples(40))
@given(statements(ABC), statements(ABC))
def test_the_union_leaves_the_graphs_that_both_leave(said, also):
    one, other = built(said), built(also)
    wanted = [
        dag
        for dag, arcs, paths in graphs(3)
        if satisfies(said, ABC, arcs, paths) and satisfies(also, ABC, arcs, paths)
    ]
    # Orders and arcs that fit no order of the nodes are refused, even with a graph for each.
    may_refuse = not wanted or "order" in said.keys() | also.keys()
    for field in ("tiers", "total_order"):
        may_refuse |= said.get(field, []) != [] != also.get(field, []) != said.get(field)
    try:
        union = one | other
    except GraphError:
        if not may_refuse:
            raise
        return
    found = [dag for dag, _, _ in graphs(3) if union.allows(dag)]
    if not (said.get("order") or also.get("order")):  # an order works with the other's arcs
        assert found == wanted
    assert set(found) <= set(wanted)
    assert other | one == union
    assert one | one == one
    assert one | Knowledge() == one == Knowledge() | one


def test_the_union_keeps_the_smaller_limit():
    one = Knowledge(max_parents=3, max_parents_of={"A": 1, "B": 2})
    other = Knowledge(max_parents=2, max_parents_of={"B": 1, "C": 0})
    for union in (one | other, other | one):
        assert union.max_parents == 2
        assert union.max_parents_of == (("A", 1), ("B", 1), ("C", 0))


def test_the_union_refuses_two_tierings_and_what_clashes():
    with pytest.raises(GraphError, match="two different tiers cannot be joined; give one"):
        _ = Knowledge(tiers=[["A"], ["B"]]) | Knowledge(tiers=[["C"], ["D"]])
    same = Knowledge(tiers=[["A"], ["B"]]) | Knowledge(tiers=[["A"], ["B"]], within_tiers=False)
    assert same.within_tiers is False
    with pytest.raises(GraphError, match="what clashes: A -> B; roots: B"):
        _ = Knowledge(required_arcs=[("A", "B")]) | Knowledge(roots=["B"])
    with pytest.raises(TypeError):
        _ = Knowledge() | {}


def test_for_nodes_follows_the_given_order_and_derives_what_follows():
    known = Knowledge(
        required_arcs=[("A", "B")], required_edges=[("B", "C"), ("C", "D")],
        forbidden_arcs=[("C", "B")], max_parents_of={"B": 1},
    ).for_nodes(["D", "C", "B", "A"])  # fmt: skip
    assert known.names == ("D", "C", "B", "A")
    arcs = {(known.names[p], known.names[c]) for p, c in np.argwhere(known.required)}
    assert arcs == {("A", "B"), ("B", "C")}  # the edge B -- C has one direction left
    refused = {(known.names[p], known.names[c]) for p, c in np.argwhere(~known.allowed)}
    # B is full with A; A and B are above C, so nothing leads back from C.
    assert refused - {(n, n) for n in "ABCD"} == {("B", "A"), ("D", "B"), ("C", "B"), ("C", "A")}
    assert known.required_edges == ((1, 0),)
    assert known.max_parents.tolist() == [3, 3, 1, 3]
    assert known.max_parents.dtype == np.int32
    assert known.allowed_parents(1).tolist() == [0, 2, 3]
    assert known.required_parents(1).tolist() == [2]


def test_a_non_ancestor_keeps_what_is_below_it_from_what_is_above_the_other():
    known = Knowledge.parse(["A -> B", "C ~> D", "A !~> D"]).for_nodes(["A", "B", "C", "D"])
    refused = {("ABCD"[p], "ABCD"[c]) for p, c in np.argwhere(~known.allowed) if p != c}
    back = {("B", "A"), ("D", "C")}
    assert refused == back | {("A", "C"), ("A", "D"), ("B", "C"), ("B", "D")}
    assert known.non_ancestors == ()  # no allowed path is left


def test_statements_that_arcs_settle_are_not_left_to_the_search():
    nodes = ["A", "B", "C", "D"]
    free = Knowledge(ancestors=[("A", "B")], non_ancestors=[("C", "A")]).for_nodes(nodes)
    assert free.has_ancestral
    assert free.ancestors == ((0, 1),)
    assert free.non_ancestors == ((2, 0),)  # C -> D -> A
    assert Knowledge(non_ancestors=[("C", "A")], leaves=["C"]).for_nodes(nodes).non_ancestors == ()
    settled = Knowledge(
        ancestors=[("A", "C")], required_arcs=[("A", "B"), ("B", "C")],
        non_ancestors=[("C", "A")],
    ).for_nodes(nodes)  # fmt: skip
    assert not settled.has_ancestral
    assert settled.ancestors == settled.non_ancestors == ()


def test_resolved_arrays_cannot_be_written_to_even_after_pickling():
    known = Knowledge(required_arcs=[("A", "B")], ancestors=[("A", "C")]).for_nodes(["A", "B", "C"])
    for same in (known, pickle.loads(pickle.dumps(known)), copy.deepcopy(known)):
        for array in (same.allowed, same.required, same.max_parents):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        assert np.array_equal(same.allowed, known.allowed)
        assert same.names == known.names
        assert same.ancestors == known.ancestors == ((0, 2),)


def test_names_must_be_nodes():
    known = Knowledge(required_arcs=[("Rain", "Wet")], tiers=[["Rain"], ["Wte"]])
    nodes = ["Rain", "Wet", "Slippery"]
    message = r"Knowledge: 'tiers: Wte': unknown node 'Wte'.*did you mean 'Wet'"
    for use in (known.for_nodes, lambda names: known.allows(Dag(names)),
                lambda names: known.violations(Dag(names))):  # fmt: skip
        with pytest.raises(UnknownNameError, match=message):
            use(nodes)
    with pytest.raises(GraphError, match="node A is listed twice"):
        Knowledge().for_nodes(["A", "A"])


def test_a_total_order_must_list_every_node():
    known = Knowledge(total_order=["A", "B"])
    with pytest.raises(
        GraphError, match=r"every node, and these are not in it: C, D; for some nodes use order"
    ):
        known.for_nodes(["A", "B", "C", "D"])
    assert known.for_nodes(["B", "A"]).allowed.tolist() == [[False, False], [True, False]]


def test_violations_in_words():
    known = Knowledge.parse(
        ["A -> B", "C !> D", "A -- C", "B !- E", "A ~> D", "C !~> E", "roots: F", "leaves: D",
         "tiers: D | C G", "within_tiers: no", "A < F", "max_parents: 1", "max_parents E: 0"]
    )  # fmt: skip
    chain = [("C", "D"), ("D", "E"), ("E", "B"), ("B", "F"), ("F", "A")]
    dag = Dag(list("ABCDEFG"), [*chain, ("G", "C"), ("C", "E")])
    assert known.violations(dag) == [
        "A -> B: the arc is missing",
        "C !> D: the arc is there",
        "A -- C: neither arc is there",
        "B !- E: arc E -> B is there",
        "tiers: arc C -> D leads up, from tier 2 to tier 1",
        "tiers: arc G -> C stays within tier 2",
        "A ~> D: no path leads there",
        "C !~> E: a path leads there",
        "roots: node F has parents: B",
        "leaves: node D has children: E",
        "max_parents: 1: node E has 2 parents",
        "max_parents E: 0: node E has 2 parents",
        "order: arc F -> A leads back: A < F",
    ]
    assert not known.allows(dag)


def test_violations_of_a_total_order_and_of_an_order_that_follows():
    chain = Dag(["A", "B", "C"], [("C", "B"), ("B", "A")])
    assert Knowledge(total_order=["A", "C", "B"]).violations(chain) == [
        "total_order: arc B -> A leads back"
    ]
    known = Knowledge(order=[("A", "B")], required_arcs=[("B", "C")])
    back = Dag(["A", "B", "C"], [("B", "C"), ("C", "A")])
    assert known.violations(back) == ["order: arc C -> A leads back: A < B -> C"]
    assert known.violations(back.reverse("C", "A")) == []
