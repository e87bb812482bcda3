"""Knowledge in short lines of text: the grammar, and what it refuses."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bestdag.errors import BestdagError, FormatError, GraphError, UnknownNameError
from bestdag.graph.knowledge import Knowledge
from tests.conftest import examples
from tests.graph.definitions import steady
from tests.graph.knowledge.definitions import statements


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("A -> B", {"required_arcs": [("A", "B")]}),
        ("A<-B", {"required_arcs": [("B", "A")]}),
        ("  A->B  ", {"required_arcs": [("A", "B")]}),
        ("A -> B <- C", {"required_arcs": [("A", "B"), ("C", "B")]}),
        ("A !> B", {"forbidden_arcs": [("A", "B")]}),
        ("A--B", {"required_edges": [("A", "B")]}),
        ("A !- B", {"forbidden_edges": [("A", "B")]}),
        ("A < B < C", {"order": [("A", "B"), ("B", "C")]}),
        ("A ~> B", {"ancestors": [("A", "B")]}),
        ("A!~>B", {"non_ancestors": [("A", "B")]}),
        ("roots: A, B", {"roots": ["A", "B"]}),
        ("leaves:C", {"leaves": ["C"]}),
        ("max_parents: 3", {"max_parents": 3}),
        ("max_parents A, 'B C': 1", {"max_parents_of": {"A": 1, "B C": 1}}),
        ("tiers: A B | C | D", {"tiers": [["A", "B"], ["C"], ["D"]]}),
        ("tiers: A, B|C", {"tiers": [["A", "B"], ["C"]]}),
        ("total_order: C B A", {"total_order": ["C", "B", "A"]}),
        ("x-ray -> a.b_c", {"required_arcs": [("x-ray", "a.b_c")]}),
        ("'two words' -> \"it's\"", {"required_arcs": [("two words", "it's")]}),
        (r'"a\"b" !> "tab\t"', {"forbidden_arcs": [('a"b', "tab\t")]}),
        ('"A -> B" -> "roots: C"', {"required_arcs": [("A -> B", "roots: C")]}),
        ("Größe < 年", {"order": [("Größe", "年")]}),
        ("roots -> leaves", {"required_arcs": [("roots", "leaves")]}),
        ("'' !> A", {"forbidden_arcs": [("", "A")]}),
    ],
)
def test_reads(line, said):
    assert Knowledge.parse([line]) == Knowledge(**said)


def test_lines_add_up():
    lines = [
        "A -> B", "A -> C", "roots: A", "roots: D", "max_parents: 3", "max_parents: 2",
        "max_parents B: 2", "max_parents B: 1", "tiers: A D | B", "within_tiers: no",
    ]  # fmt: skip
    assert Knowledge.parse(lines).to_dict() == {
        "required_arcs": [["A", "B"], ["A", "C"]], "tiers": [["A", "D"], ["B"]],
        "within_tiers": False, "roots": ["A", "D"], "max_parents": 2, "max_parents_of": {"B": 1},
    }  # fmt: skip
    assert Knowledge.parse("A -> B") == Knowledge.parse(["A -> B"])
    assert Knowledge.parse([]).is_empty


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "a statement is like A -> B"),
        ("A", "a statement is like A -> B"),
        ("A B", "a statement is like A -> B"),
        ("A ->", "a statement is like A -> B"),
        ("-> B", "a statement is like A -> B"),
        ("A -> -> B", "a statement is like A -> B"),
        ("A, B -> C", "a statement is like A -> B"),
        ("A <-> B", "cannot parse '> B'"),
        ("A > B", "cannot parse '> B'"),
        ("A ; B", "cannot parse '; B'"),
        ("A => B", "the signs are !-, !>, !~>, --, ->, <, <-, ~>, as in a -> b"),
        ('"A -> B', "a quote is not closed"),
        ("A -> 'B", "a quote is not closed"),
        (r'"\q" -> B', "an escape that JSON does not know"),
        ("'roots': A", "a name with a colon needs quotes"),
        (": A", "a name with a colon needs quotes"),
        ("roots:", "a name is missing"),
        ("roots: A,", "a name is missing"),
        ("roots: A,,B", "a name is needed where ',' stands"),
        ("roots: A -> B", "a name is needed where '->' stands"),
        ("roots: A: B", "a name is needed where ':' stands"),
        ("roots A: B", "roots is followed by a colon"),
        ("tiers: A | | B", "a name is missing"),
        ("tiers: A |", "a name is missing"),
        ("max_parents: x", "max_parents needs a whole number"),
        ("max_parents: -1", "max_parents needs a whole number"),
        ("max_parents: 1 2", "max_parents needs a whole number"),
        ("max_parents: 99999999999", "max_parents needs a whole number"),
        ("within_tiers: perhaps", "within_tiers needs yes or no"),
    ],
)
def test_refuses_in_one_line_with_the_text(line, message):
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        Knowledge.parse(["A -> B", line])
    assert str(caught.value).startswith(f"Knowledge: cannot read {line!r}: ")
    assert "\n" not in str(caught.value)


def test_refuses_an_unknown_keyword_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"cannot read 'root: A'.*did you mean 'roots'"):
        Knowledge.parse(["root: A"])


def test_refuses_what_can_be_said_only_once():
    with pytest.raises(FormatError, match="tiers is said twice"):
        Knowledge.parse(["tiers: A | B", "tiers: C | D"])
    with pytest.raises(FormatError, match="a statement must be text, got 3"):
        Knowledge.parse([3])


def test_a_huge_line_makes_a_short_message():
    with pytest.raises(FormatError) as caught:
        Knowledge.parse(["A " * 100_000])
    assert len(str(caught.value)) < 500


@settings(steady, max_examples=examples(100))
@given(statements(("A", "B C", '"->"', "it's\n")))
def test_the_text_of_knowledge_reads_back(said):
    try:
        known = Knowledge(**said)
    except GraphError:
        assume(False)
    assume(not known.is_empty)
    assert Knowledge.parse(str(known).splitlines()) == known


@settings(steady, max_examples=examples(100))
@given(st.text(), st.text())
def test_any_name_reads_back(one, other):
    assume(one != other)
    known = Knowledge(
        forbidden_arcs=[(one, other)], max_parents_of={one: 3}, tiers=[[one], [other]]
    )
    assert Knowledge.parse(str(known).splitlines()) == known


@settings(steady, max_examples=examples(100))
@given(st.text("AB ->!~<,|:'\"\\rots3\n"))
def test_any_text_is_read_or_refused(line):
    refusal = ""
    try:
        Knowledge.parse([line])
    except BestdagError as error:
        refusal = str(error)
    assert "\n" not in refusal
