"""The pairs that arcs may join."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from bestdag.errors import GraphError
from bestdag.graph._names import arc_text
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds.arcs import ForbiddenEdges
from bestdag.graph.knowledge.kinds.base import Statement
from bestdag.graph.knowledge.words import Line, in_quotes

__all__ = ["Skeleton"]


class Skeleton(Statement):
    """Pairs that arcs may join; no arc joins any others.

    An empty list allows no arc at all.
    """

    field, type_text = "skeleton", "iterable of (node, node), optional"
    form, says = "skeleton: A B | B C", "arcs run along these links only"
    keyword = "skeleton"
    default = None
    is_whole = is_long = True

    @classmethod
    def check(cls, value: Any) -> tuple[tuple[str, str], ...] | None:
        if value is None:
            return None
        try:
            return ForbiddenEdges.check(value)
        except GraphError as error:
            raise type(error)(str(error).replace(ForbiddenEdges.field, cls.field)) from None

    @classmethod
    def join(cls, one: Any, other: Any) -> Any:
        both = {frozenset(pair) for pair in other}
        return [pair for pair in one if frozenset(pair) in both]

    @classmethod
    def read(cls, line: Line) -> list[list[str]]:
        groups = line.groups_of_names() if line.tail else []
        for group in groups:
            if len(group) != 2:
                raise line.error("a link has two names, as in skeleton: A B | B C")
        return groups

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({name for pair in self.value for name in pair}))

    def text(self, only: Collection[str] | None = None) -> str:
        pairs = (pair for pair in self.value if only is None or not set(pair).isdisjoint(only))
        return f"skeleton: {' | '.join(' '.join(map(in_quotes, pair)) for pair in pairs)}".rstrip()

    def violations(self, dag: Dag) -> Iterable[str]:
        links = {frozenset(pair) for pair in self.value}
        off = (arc for arc in dag.arcs if frozenset(arc) not in links)
        return (f"arc {arc_text(*arc)} runs along no link" for arc in off)

    def imply(self, known: Implications, at: list[int]) -> None:
        index = dict(zip(self.names(), at, strict=True))
        linked = np.zeros_like(known.allowed)
        for one, other in self.value:
            linked[index[one], index[other]] = linked[index[other], index[one]] = True
        known.allowed &= linked
