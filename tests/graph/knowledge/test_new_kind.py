"""A new kind of statement is one class and one entry in the list: nothing else knows of it."""

from collections.abc import Iterable

import numpy as np
import pytest

from bestdag.errors import CycleError, FormatError, GraphError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds import KINDS
from bestdag.graph.knowledge.kinds.base import Pair
from tests.graph.knowledge.definitions import fulfils, graphs

ABC, ABCD = list("ABC"), list("ABCD")


class IndirectAncestors(Pair):
    """Pairs (a, b) with a directed path from a to b, and no arc."""

    field, type_text = "indirect_ancestors", "iterable of (node, node)"
    form, says = "A ~~> B", "A is an ancestor of B and not a parent"
    sign = "~~>"
    is_positive = precedes = True

    def violations(self, dag: Dag) -> Iterable[str]:
        above, below = self.value
        if dag.has_arc(above, below):
            yield "the arc is there"
        elif above not in dag.ancestors(below):
            yield "no path leads there"

    def imply(self, known: Implications, at: list[int]) -> None:
        known.paths.append((at[0], at[1]))
        known.allowed[at[0], at[1]] = False

    @classmethod
    def propagate(cls, known: Implications) -> str | None:
        for _, below in known.paths:  # who has an ancestor has a parent
            parents = np.flatnonzero(known.allowed[:, below])
            if len(parents) == 1 and parents[0] < len(known.names):
                known.required[parents[0], below] = True
        return None


@pytest.fixture(autouse=True)
def _listed():
    KINDS.insert(2, IndirectAncestors)
    yield
    KINDS.remove(IndirectAncestors)


def test_is_read_from_text_and_written():
    known = Knowledge.parse(["A ~~> 'two words' ~~> C", "C !> A"])
    assert known.indirect_ancestors == (("A", "two words"), ("two words", "C"))
    assert str(known).splitlines() == ["C !> A", 'A ~~> "two words"', '"two words" ~~> C']
    assert Knowledge.parse(str(known).splitlines()) == known
    assert eval(repr(known)) == known
    with pytest.raises(FormatError, match=r"a statement is like .*, A ~~> B, "):
        Knowledge.parse(["A ~~>"])


def test_is_read_from_files_and_saved(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text('\nindirect_ancestors = [["A", "C"]]\nroots = ["A"]\n')
    known = Knowledge.load(path)
    assert known == Knowledge(indirect_ancestors=[("A", "C")], roots=["A"])
    known.save(tmp_path / "known.json")
    assert Knowledge.load(tmp_path / "known.json") == known
    path.write_text('\nindirect_ancestors = ["A"]\n')
    with pytest.raises(GraphError, match="line 2: indirect_ancestors must be a list of pairs"):
        Knowledge.load(path)


def test_is_compared_and_joined():
    one, other = Knowledge(indirect_ancestors=[("A", "B")]), Knowledge.parse("A ~~> C")
    assert one != other
    assert (one | other).indirect_ancestors == (("A", "B"), ("A", "C"))
    assert hash(one | other) == hash(other | one)


def test_a_graph_is_checked_against_it():
    known = Knowledge(indirect_ancestors=[("A", "C")])
    assert known.violations(Dag(ABC, [("A", "C")])) == ["A ~~> C: the arc is there"]
    assert known.violations(Dag(ABC, [("A", "B")])) == ["A ~~> C: no path leads there"]
    assert known.violations(Dag(ABC, [("A", "B"), ("B", "C")])) == []
    with pytest.raises(UnknownNameError, match="'A ~~> C': unknown node 'A'"):
        known.allows(Dag(["B", "C"]))


def test_it_is_propagated_together_with_the_others():
    nodes = Knowledge.parse(["A ~~> C", "D !> C"]).for_nodes(ABCD)
    required = [(nodes.names[p], nodes.names[c]) for p, c in np.argwhere(nodes.required)]
    assert required == [("B", "C")]  # the only parent that C may have
    assert not nodes.allowed[2, :2].any()  # A and B are above C
    assert nodes.ancestors == ((0, 2),)


@pytest.mark.parametrize("more", [[], ["D !> C"], ["A -- D", "leaves: D"]])
def test_the_searches_get_exactly_the_graphs_of_its_definition(more):
    known = Knowledge.parse(["A ~~> C", *more])
    resolved = known.for_nodes(ABCD)
    allowed = {dag for dag, _, _ in graphs(4) if known.allows(dag)}
    assert {dag for dag, *rest in graphs(4) if fulfils(resolved, ABCD, *rest)} == allowed
    assert allowed


def test_what_clashes_with_it_is_named():
    with pytest.raises(GraphError, match=r"what clashes: A -> C; A ~~> C$"):
        Knowledge.parse(["A -> C", "A ~~> C", "A ~~> B", "leaves: D"])
    with pytest.raises(CycleError, match="these statements close a cycle: A ~~> B < A"):
        Knowledge.parse(["A ~~> B", "B < A"])
    with pytest.raises(GraphError, match="no allowed path leads there over these 2 nodes"):
        Knowledge.parse(["A ~~> B"]).for_nodes(["A", "B"])
