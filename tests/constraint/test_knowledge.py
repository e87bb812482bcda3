"""What the user knows enters both phases, and what the tests say against it is reported."""

import pytest

from bestdag import Dag, Knowledge, Network, StatedIndependences, pc
from bestdag.examples import example
from tests.constraint.test_oracle import random_dags

CHAIN = Dag(list("ABCD"), [("A", "B"), ("B", "C"), ("C", "D")])


def test_required_arcs_stay_against_the_tests_and_that_is_said():
    result = pc(oracle=CHAIN, knowledge=["A -> D"])
    assert ("A", "D") in result.pdag.arcs
    (conflict,) = [c for c in result.conflicts if c.kind == "knowledge"]
    assert conflict.variables == ("A", "D")
    assert "A and D must be linked, though I(A, D | " in conflict.text
    assert conflict.resolution == "the link stays"
    assert "your constraints require it, though I(A, D | " in result.explain("A", "D")


def test_required_edges_stay():
    result = pc(oracle=CHAIN, knowledge=["A -- D"])
    assert ("A", "D") in result.skeleton.edges
    assert [c.kind for c in result.conflicts if c.variables == ("A", "D")] == ["knowledge"]


def test_forbidden_edges_go_against_the_tests_and_that_is_said():
    result = pc(oracle=CHAIN, knowledge=["B !- C"])
    assert ("B", "C") not in result.skeleton.edges
    (conflict,) = [c for c in result.conflicts if c.variables == ("B", "C")]
    assert "must not be linked, though no set of neighbours separates them" in conflict.text
    assert "your constraints forbid it" in result.explain("B", "C")


def test_a_forbidden_edge_that_the_tests_agree_with_is_no_conflict():
    result = pc(oracle=CHAIN, knowledge=["A !- C", "A !- D"])
    assert result.pdag == CHAIN.cpdag()
    assert not result.conflicts
    assert "I(A, C | B) holds as well" in result.explain("A", "C")


def test_directions_follow_from_tiers_and_arcs():
    result = pc(oracle=CHAIN, knowledge=["tiers: A | B C D"])
    assert result.pdag.arcs == CHAIN.arcs  # A -> B, and no v-structure after it
    assert [step.rule for step in result.steps] == ["knowledge", "rule 2", "rule 2"]
    result = pc(oracle=CHAIN, knowledge=["D -> C"])
    assert result.pdag.arcs == (("B", "A"), ("C", "B"), ("D", "C"))
    result = pc(oracle=CHAIN, knowledge=["C !> D"])
    assert ("D", "C") in result.pdag.arcs


def test_v_structures_against_the_knowledge_are_left_out_and_reported():
    collider = Dag(list("ABC"), [("A", "C"), ("B", "C")])
    result = pc(oracle=collider, knowledge=["C -> A"])
    assert ("C", "A") in result.pdag.arcs
    (conflict,) = result.conflicts
    assert conflict.kind == "knowledge"
    assert "A -> C <- B contradicts C -> A, which your constraints require" in conflict.text
    assert conflict.resolution == "C -> A stays"


def test_statements_about_paths_and_parents_are_checked_at_the_end():
    result = pc(oracle=CHAIN, knowledge=["D ~> A"])
    said = [c.text for c in result.conflicts if c.kind == "knowledge"]
    assert result.dag.has_arc("A", "B") == bool(said)
    collider = Dag(list("ABC"), [("A", "C"), ("B", "C")])
    (conflict,) = pc(oracle=collider, knowledge=["max_parents: 1"]).conflicts
    assert conflict.text.startswith("the Dag breaks max_parents")


def test_directions_that_only_a_cycle_would_allow_are_reported():
    triangle = StatedIndependences("ABC", [])
    result = pc(oracle=triangle, knowledge=["A !> B", "B !> C", "C !> A"])
    assert any("the only direction allowed, and closes a cycle" in c.text for c in result.conflicts)
    assert len(result.dag.arcs) == 3


@pytest.mark.parametrize("stable", [True, False])
def test_true_knowledge_gives_more_directions_and_no_conflict(stable):
    for number, dag in enumerate(random_dags(60, seed=8)):
        order = dag.topological_order()
        half = len(order) // 2
        tiers = [list(part) for part in (order[:half], order[half:]) if part]
        known = Knowledge(tiers=tiers, required_arcs=dag.arcs[: number % 3])
        result = pc(oracle=dag, knowledge=known, stable=stable)
        assert result.skeleton == dag.skeleton()
        assert not result.conflicts
        assert set(dag.cpdag().arcs) <= set(result.pdag.arcs)
        assert set(result.pdag.arcs) <= set(dag.arcs) | set(result.dag.arcs)
        # What both say holds in the truth: nothing directed is wrong.
        assert all(dag.has_arc(*arc) for arc in result.pdag.arcs)
        assert known.allows(result.dag)
        assert result.dag.cpdag() == dag.cpdag()


def test_later_tiers_are_not_conditioned_on():
    net = Network.load(example("asia.bif"))
    tiers = "tiers: asia smoke | tub lung bronc | either | xray dysp"
    result = pc(oracle=net.dag, knowledge=[tiers])
    assert result.skeleton == net.dag.skeleton()
    late = {"xray", "dysp"}
    assert not any(late & set(t.given) for t in result.tests if not late & {t.one, t.other})
