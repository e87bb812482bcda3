"""Arcs that must be there, and arcs that must not."""

from __future__ import annotations

from collections.abc import Iterable

from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds.pair import Pair

__all__ = ["ForbiddenArcs", "RequiredArcs"]


class RequiredArcs(Pair):
    """Arcs that must be there."""

    field, given = "required_arcs", "iterable of (parent, child)"
    form, says = "A -> B", "required arc, also B <- A"
    sign, turned_sign = "->", "<-"
    is_positive = precedes = True

    def violations(self, dag: Dag) -> Iterable[str]:
        return () if dag.has_arc(*self.value) else ("the arc is missing",)

    def imply(self, known: Implications, at: list[int]) -> None:
        known.required[at[0], at[1]] = True


class ForbiddenArcs(Pair):
    """Arcs that must not be there."""

    field, given = "forbidden_arcs", "iterable of (parent, child)"
    form, says = "A !> B", "forbidden arc"
    sign = "!>"

    def violations(self, dag: Dag) -> Iterable[str]:
        return ("the arc is there",) if dag.has_arc(*self.value) else ()

    def imply(self, known: Implications, at: list[int]) -> None:
        known.allowed[at[0], at[1]] = False
