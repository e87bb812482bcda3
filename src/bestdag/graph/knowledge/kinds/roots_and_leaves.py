"""Nodes without parents, and nodes without children."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bestdag.graph._names import listing
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds.base import Statement, check_names
from bestdag.graph.knowledge.words import in_quotes

__all__ = ["Leaves", "Roots"]


class Roots(Statement):
    """Nodes without parents."""

    field, type_text = "roots", "iterable of str"
    form, says = "roots: A, B", "nodes without parents"
    keyword = "roots"
    is_long = True

    @classmethod
    def check(cls, value: Any) -> tuple[str, ...]:
        return tuple(sorted(set(check_names(cls.field, value))))

    def violations(self, dag: Dag) -> Iterable[str]:
        return _unless_none(self.value[0], "parents", dag.parents(self.value[0]))

    def imply(self, known: Implications, at: list[int]) -> None:
        known.limit[at] = 0


class Leaves(Roots):
    """Nodes without children."""

    field, type_text = "leaves", "iterable of str"
    form, says = "leaves: C", "nodes without children"
    keyword = "leaves"

    def violations(self, dag: Dag) -> Iterable[str]:
        return _unless_none(self.value[0], "children", dag.children(self.value[0]))

    def imply(self, known: Implications, at: list[int]) -> None:
        known.allowed[at] = False


def _unless_none(name: str, kind: str, group: Iterable[str]) -> Iterable[str]:
    shown = listing(map(in_quotes, group), ", ")
    return (f"node {in_quotes(name)} has {kind}: {shown}",) if shown else ()
