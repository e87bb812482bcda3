"""Jensen and Nielsen (2007), sections 7.1 and 7.2, and the exercises: numbers by hand."""

from itertools import product

import pytest

from bestdag import Dag, Knowledge, Oracle, StatedIndependences, independence_test, pc, read
from bestdag.constraint.orientation import Orientation, VStructure
from bestdag.graph.separation import d_separated

# Figures 7.3(c) and 7.6(a).
EXAMPLE = Dag(list("ABCDE"), [("A", "C"), ("A", "D"), ("B", "D"), ("C", "E"), ("D", "E")])


def questions(result):
    return [level.questions for level in result.levels]


def questions_of_size(result, size):
    return {t.question for t in result.tests if len(t.given) == size}


def test_questions_of_the_example_network_as_printed():
    result = pc(oracle=EXAMPLE, stable=False, v_structures="standard")
    assert questions(result) == [18, 30, 7]
    assert result.n_tests == 55
    # Ten pairs without condition, each asked about once and answered for both ends.
    assert questions_of_size(result, 0) == {
        f"I({a}, {b})" for a, b in product("ABCDE", repeat=2) if a < b
    }
    assert result.sepsets == {
        ("A", "B"): (),
        ("B", "C"): (),
        ("C", "D"): ("A",),
        ("A", "E"): ("C", "D"),
        ("B", "E"): ("C", "D"),
    }


def test_questions_of_the_example_network_stable():
    result = pc(oracle=EXAMPLE)
    assert questions(result) == [18, 34, 14]
    # B now asks about {A, D} before {C, D}; the list of Figure 7.3 omits this independence.
    assert result.sepsets["B", "E"] == ("A", "D")
    assert d_separated(EXAMPLE, "B", "E", ["A", "D"])


@pytest.mark.parametrize("stable", [True, False])
def test_figure_7_3_two_v_structures_and_one_free_link(stable):
    result = pc(oracle=EXAMPLE, stable=stable)
    assert result.pdag.arcs == (("A", "D"), ("B", "D"), ("C", "E"), ("D", "E"))
    assert result.pdag.edges == (("A", "C"),)
    assert result.pdag == EXAMPLE.cpdag()
    assert result.dag == EXAMPLE
    assert not result.conflicts


def test_figure_7_3_from_its_list_of_independences():
    listed = [
        ("A", "B", ""), ("B", "C", ""), ("A", "B", "C"), ("B", "C", "A"), ("C", "D", "A"),
        ("B", "C", "DA"), ("C", "D", "AB"), ("B", "E", "CD"), ("A", "E", "CD"),
        ("B", "C", "ADE"), ("A", "E", "BCD"), ("B", "E", "ACD"),
    ]  # fmt: skip
    result = pc(oracle=StatedIndependences("ABCDE", listed), stable=False)
    assert result.pdag == EXAMPLE.cpdag()


def test_example_7_1_the_sequence_of_rules():
    arcs = ["ED", "DA", "DB", "AC", "AB", "CF", "DF", "FG"]
    dag = Dag(list("ABCDEFG"), [tuple(arc) for arc in arcs])
    result = pc(oracle=dag, order=list("EDABCFG"))
    assert [(step.rule, "".join(step.arc)) for step in result.steps] == [
        ("rule 1", "CF"),
        ("rule 1", "DF"),
        ("rule 2", "FG"),
        ("rule 4", "ED"),
        ("rule 2", "DA"),
        ("rule 2", "DB"),
        ("rule 2", "AC"),
        ("rule 4", "AB"),
    ]
    assert result.dag == dag
    assert set(result.pdag.arcs) == {("C", "F"), ("D", "F"), ("F", "G")}


def test_figure_7_5_another_choice_gives_another_member_of_the_class():
    arcs = ["ED", "DA", "DB", "AC", "AB", "CF", "DF", "FG"]
    dag = Dag(list("ABCDEFG"), [tuple(arc) for arc in arcs])
    other = pc(oracle=dag, order=list("DEABCFG")).dag
    assert other.has_arc("D", "E")
    assert other.cpdag() == dag.cpdag()


# Figure 7.9: all pairs dependent, and all independent given the third.
TRIANGLE = StatedIndependences("ABC", [("A", "B", "C"), ("A", "C", "B"), ("B", "C", "A")])


@pytest.mark.parametrize(
    ("settings", "links"),
    [
        ({"stable": False}, {("B", "C")}),
        ({"stable": False, "necessary_path": True}, {("A", "C"), ("B", "C")}),
        ({"stable": True}, set()),
        ({"stable": True, "repair": True}, {("A", "C"), ("B", "C")}),
        ({"stable": False, "repair": True}, {("A", "C"), ("B", "C")}),
    ],
)
def test_figure_7_9_an_uncertain_region(settings, links):
    result = pc(oracle=TRIANGLE, **settings)
    assert set(result.skeleton.edges) == links
    kinds = [conflict.kind for conflict in result.conflicts]
    if settings.get("necessary_path"):
        assert kinds == []  # nothing was removed that another removal explains
    else:
        assert kinds == ["uncertain region"]
        said = result.conflicts[0].resolution
        assert ("kept" if settings.get("repair") else "a repair would keep") in said


def test_the_repair_of_figure_7_9_is_a_chain():
    result = pc(oracle=TRIANGLE, repair=True)
    assert result.pdag.edges == (("A", "C"), ("B", "C"))
    assert not result.dag.v_structures()


# Figure 7.10: A - B - C - D with I(A, C), I(A, D) and I(B, D).
CHAIN = StatedIndependences("ABCD", [("A", "C", ""), ("A", "D", ""), ("B", "D", "")])


@pytest.mark.parametrize("rule", ["standard", "conservative", "majority"])
@pytest.mark.parametrize("stable", [True, False])
def test_figure_7_10_two_v_structures_fight_over_a_link(rule, stable):
    result = pc(oracle=CHAIN, necessary_path=True, stable=stable, v_structures=rule)
    assert result.skeleton.edges == (("A", "B"), ("B", "C"), ("C", "D"))
    (conflict,) = result.conflicts
    assert conflict.kind == "v-structures"
    assert conflict.variables == ("B", "C", "D")
    assert "a hidden common cause of B and C would explain it" in conflict.text
    assert conflict.resolution == "the stronger one stays"
    assert result.dag.v_structures() == (("A", "B", "C"),)
    assert "hidden common cause" in result.explain("B", "C")


def test_figure_7_11_the_hidden_cause_gives_these_answers():
    hidden = Dag(list("ABCDE"), [("A", "B"), ("E", "B"), ("E", "C"), ("D", "C")])
    seen = Observed(hidden, "ABCD")
    assert all(seen.is_independent(a, b, ()) for a, b in ("AC", "AD", "BD"))
    (conflict,) = pc(oracle=seen).conflicts
    assert "hidden common cause of B and C" in conflict.text


class Observed:
    """Answers of a graph about some of its nodes; the others are hidden."""

    def __init__(self, dag, nodes):
        self._oracle = Oracle(dag)
        self.nodes = tuple(nodes)

    def is_independent(self, one, other, given):
        return self._oracle.is_independent(one, other, given)


def test_figure_7_12_hidden_causes_look_like_a_v_structure():
    dag = Dag(list("ABCDE"), [("D", "A"), ("D", "B"), ("E", "B"), ("E", "C")])
    result = pc(oracle=Observed(dag, "ABC"))
    assert result.sepsets == {("A", "C"): ()}
    assert result.pdag.arcs == (("A", "B"), ("C", "B"))


def test_two_light_switches_an_exact_test_misses_the_links():
    rows = list(product("01", repeat=2)) * 25
    data = read({"A": [a for a, _ in rows], "B": [b for _, b in rows],
                 "C": [str(a == b) for a, b in rows]})  # fmt: skip
    truth = Dag(["A", "B", "C"], [("A", "C"), ("B", "C")])
    for pair in ("AB", "AC", "BC"):
        answer = independence_test(data, *pair)
        assert answer.statistic == pytest.approx(0, abs=1e-9)
        assert answer.is_independent
    assert not d_separated(truth, "A", "C")
    assert not independence_test(data, "A", "C", ["B"]).is_independent
    assert pc(data).skeleton.edges == ()


def test_proposition_7_2_needs_faithfulness():
    """Three essential links A -> B, A -> C, B -> C, and two do as well: A -> B <- C."""
    share = {("0", "0"): 1, ("0", "1"): 5, ("1", "0"): 7, ("1", "1"): 8}  # of B = 1, in tenths
    rows = [(a, "1" if k < 100 * n else "0", c) for (a, c), n in share.items() for k in range(1000)]
    data = read(dict(zip("ABC", map(list, zip(*rows, strict=True)), strict=True)))
    # No link of the complete graph can go: each end depends on the other given the third node.
    for one, other, rest in ("ABC", "ACB", "BCA"):
        assert not independence_test(data, one, other, [rest]).is_independent
    assert not independence_test(data, "A", "B").is_independent
    # And yet two links represent the same distribution.
    assert independence_test(data, "A", "C").statistic == pytest.approx(0, abs=1e-8)
    found = pc(data)
    assert found.pdag.arcs == (("A", "B"), ("C", "B"))
    assert found.pdag.edges == ()


def test_exercise_7_3_one_graph():
    stated = [("A", "B", "E"), ("A", "C", "E"), ("A", "D", "E"), ("B", "E", "CD"), ("C", "D", "")]
    for stable in (True, False):
        result = pc(oracle=StatedIndependences("ABCDE", stated), stable=stable)
        arcs = (("C", "B"), ("C", "E"), ("D", "B"), ("D", "E"), ("E", "A"))
        assert result.pdag.arcs == result.dag.arcs == arcs
        assert not result.conflicts


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("n", range(2, 9))
def test_exercise_7_4_the_most_questions(n, stable):
    nodes = list("ABCDEFGH"[:n])
    complete = Dag(nodes, [(a, b) for a in nodes for b in nodes if a < b])
    result = pc(oracle=complete, stable=stable)
    assert result.n_tests == n * (n - 1) * 2 ** (n - 2)
    # Both ends have the same neighbours: each question comes twice, and is answered once.
    assert sum(level.tests for level in result.levels) == result.n_tests // 2


def test_figure_7_8_the_necessary_path_saves_questions():
    """D hangs on B alone: no path between A and B passes it."""
    dag = Dag(list("ABCD"), [("A", "B"), ("A", "C"), ("C", "B"), ("B", "D")])
    full, fewer = (pc(oracle=dag, necessary_path=path) for path in (False, True))
    assert full.pdag == fewer.pdag == dag.cpdag()
    assert sum(questions(fewer)) < sum(questions(full))
    asked = {(t.one, t.other) for t in fewer.tests[: sum(x.tests for x in fewer.levels)]
             if len(t.given) == 2}  # fmt: skip
    assert not asked  # at that level every set of two has a node off the paths


def test_v_structures_that_close_a_cycle_are_left_out():
    """Three v-structures along a triangle, each arc with a helper of its own."""
    names = ("A", "B", "C", "X", "Y", "Z")
    import numpy as np

    adjacency = np.zeros((6, 6), np.uint8)
    for one, other in ((0, 1), (1, 2), (0, 2), (3, 1), (4, 2), (5, 0)):
        adjacency[one, other] = adjacency[other, one] = 1
    graph = Orientation(names, adjacency)
    graph.introduce(
        [
            VStructure(0, 1, 3, 1.0, -0.1),
            VStructure(1, 2, 4, 1.0, -0.2),
            VStructure(2, 0, 5, 1.0, -0.3),
        ]
    )
    assert [c.kind for c in graph.conflicts] == ["v-structures"]
    assert "closes a directed cycle" in graph.conflicts[0].text
    assert set(graph.arcs()) == {("A", "B"), ("X", "B"), ("B", "C"), ("Y", "C")}


def test_a_square_without_v_structures_cannot_be_directed():
    """A chordless cycle: whatever the directions, there is a v-structure that no test found."""
    stated = [("A", "C", "BD"), ("B", "D", "AC")]
    result = pc(oracle=StatedIndependences("ABCD", stated))
    assert result.pdag.arcs == ()
    assert len(result.pdag.edges) == 4
    assert {c.kind for c in result.conflicts} == {"no direction"}
    assert any("which no test supports" in c.text for c in result.conflicts)
    assert len(result.dag.arcs) == 4


def test_knowledge_takes_the_place_of_rule_4():
    result = pc(oracle=EXAMPLE, knowledge=Knowledge(required_arcs=[("C", "A")]))
    assert ("C", "A") in result.pdag.arcs
    assert result.steps[0] == ("knowledge", ("C", "A"), "required")
