"""Statements about two nodes, written with a sign between them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from bestdag.errors import CycleError, GraphError
from bestdag.graph.knowledge.kinds.base import Statement, check_items, check_name
from bestdag.graph.knowledge.words import in_quotes
from bestdag.wording import shown_value

__all__ = ["Pair"]


class Pair(Statement):
    """A statement about two nodes; its sign is made of the characters ``- < > ! ~``."""

    sign: ClassVar[str]
    turned_sign: ClassVar[str] = ""  # says the same with the names in the other order
    is_symmetric: ClassVar[bool] = False  # whether the order of the names does not matter
    precedes: ClassVar[bool] = False  # whether the first node comes before the second

    @classmethod
    def check(cls, value: Any) -> tuple[tuple[str, str], ...]:
        found: set[tuple[str, str]] = set()
        for item in check_items(cls.field, value, "pairs of names"):
            if not isinstance(item, (tuple, list)) or len(item) != 2:
                needed = f"{cls.field} must be a list of pairs of names"
                raise GraphError(f"Knowledge: {needed}, got {shown_value(item)}")
            first, second = (check_name(cls.field, name) for name in item)
            if first == second:
                text = f"{cls.field}: {cls((first, second)).text()} joins a node with itself"
                raise (CycleError if cls.precedes else GraphError)(f"Knowledge: {text}")
            turn = cls.is_symmetric and second < first
            found.add((second, first) if turn else (first, second))
        return tuple(sorted(found))

    def text(self, only: Collection[str] | None = None) -> str:
        return f" {self.sign} ".join(map(in_quotes, self.value))
