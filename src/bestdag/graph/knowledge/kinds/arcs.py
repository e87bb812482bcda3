"""Required and forbidden arcs and edges."""

from __future__ import annotations

from collections.abc import Iterable

from bestdag.graph._names import arc_text
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications, IndexPair
from bestdag.graph.knowledge.kinds.base import Pair

__all__ = ["ForbiddenArcs", "ForbiddenEdges", "RequiredArcs", "RequiredEdges"]


class RequiredArcs(Pair):
    """Arcs that must be there."""

    field, type_text = "required_arcs", "iterable of (parent, child)"
    form, says = "A -> B", "required arc, also B <- A"
    sign, turned_sign = "->", "<-"
    is_positive = precedes = True

    def violations(self, dag: Dag) -> Iterable[str]:
        return () if dag.has_arc(*self.value) else ("the arc is missing",)

    def imply(self, known: Implications, at: list[int]) -> None:
        known.required[at[0], at[1]] = True


class ForbiddenArcs(Pair):
    """Arcs that must not be there."""

    field, type_text = "forbidden_arcs", "iterable of (parent, child)"
    form, says = "A !> B", "forbidden arc"
    sign = "!>"

    def violations(self, dag: Dag) -> Iterable[str]:
        return ("the arc is there",) if dag.has_arc(*self.value) else ()

    def imply(self, known: Implications, at: list[int]) -> None:
        known.allowed[at[0], at[1]] = False


class RequiredEdges(Pair):
    """Pairs joined by an arc in either direction."""

    field, type_text = "required_edges", "iterable of (node, node)"
    form, says = "A -- B", "required edge, in either direction"
    sign = "--"
    is_symmetric = is_positive = True

    def violations(self, dag: Dag) -> Iterable[str]:
        is_there = dag.has_arc(*self.value) or dag.has_arc(*self.value[::-1])
        return () if is_there else ("neither arc is there",)

    def imply(self, known: Implications, at: list[int]) -> None:
        known.edges.append((at[0], at[1]))

    @classmethod
    def propagate(cls, known: Implications) -> str | None:
        for one, other in known.edges:
            forward, backward = known.allowed[one, other], known.allowed[other, one]
            if not forward and not backward:
                edge = known.show(one, cls.sign, other)
                return f"edge {edge} is required and neither direction can be there"
            if not (forward and backward):
                known.required[(one, other) if forward else (other, one)] = True
        return None

    @staticmethod
    def left_open(known: Implications) -> tuple[IndexPair, ...]:
        """Return the edges that may still run either way."""
        required = known.required
        return tuple((i, j) for i, j in known.edges if not required[i, j] and not required[j, i])


class ForbiddenEdges(Pair):
    """Pairs not joined at all."""

    field, type_text = "forbidden_edges", "iterable of (node, node)"
    form, says = "A !- B", "forbidden edge, in both directions"
    sign = "!-"
    is_symmetric = True

    def violations(self, dag: Dag) -> Iterable[str]:
        arcs = (self.value, self.value[::-1])
        return (f"arc {arc_text(*arc)} is there" for arc in arcs if dag.has_arc(*arc))

    def imply(self, known: Implications, at: list[int]) -> None:
        known.allowed[at, at[::-1]] = False
