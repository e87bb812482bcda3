"""The most parents that nodes have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bestdag.errors import GraphError, require_count
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds.base import Statement, check_items, check_name, check_once
from bestdag.graph.knowledge.words import Line, in_quotes
from bestdag.wording import shown_value

__all__ = ["MaxParents", "MaxParentsOf"]


class MaxParents(Statement):
    """The most parents that any node has."""

    field, type_text = "max_parents", "int, optional"
    form, says = "max_parents: 3", "the most parents of any node"
    default = None
    keyword = "max_parents"
    is_whole = True

    @classmethod
    def check(cls, value: Any) -> int | None:
        return None if value is None else require_count("Knowledge", cls.field, value)

    @classmethod
    def join(cls, one: int, other: int) -> int:
        return min(one, other)

    @classmethod
    def read(cls, line: Line) -> int:
        return _whole_number(line)

    def names(self) -> tuple[str, ...]:
        return ()

    def text(self, only: Collection[str] | None = None) -> str:
        return f"max_parents: {self.value}"

    def violations(self, dag: Dag) -> Iterable[str]:
        return (text for name in dag.nodes for text in _too_many(name, self.value, dag))

    def imply(self, known: Implications, at: list[int]) -> None:
        np.minimum(known.limit, min(self.value, len(known.limit)), out=known.limit)


class MaxParentsOf(Statement):
    """The most parents of single nodes; where `max_parents` is smaller, that holds."""

    field, type_text = "max_parents_of", "mapping of str to int"
    form, says = "max_parents A, B: 1", "the most parents of these nodes"
    keyword = "max_parents"
    has_head = True

    @classmethod
    def check(cls, value: Any) -> tuple[tuple[str, int], ...]:
        items = value.items() if isinstance(value, Mapping) else value
        limits: list[tuple[str, int]] = []
        for item in check_items(cls.field, items, "pairs (node, number), or a mapping"):
            if not isinstance(item, (tuple, list)) or len(item) != 2:
                needed = f"{cls.field} must give a number per node"
                raise GraphError(f"Knowledge: {needed}, got {shown_value(item)}")
            name = check_name(cls.field, item[0])
            what = f"{cls.field} of {in_quotes(name)}"
            limits.append((name, require_count("Knowledge", what, item[1])))
        check_once(cls.field, (name for name, _ in limits))
        return tuple(sorted(limits))

    @classmethod
    def plain(cls, value: Any) -> dict[str, int]:
        return dict(value)

    @classmethod
    def join(cls, one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
        return one | {name: min(n, one.get(name, n)) for name, n in other.items()}

    @classmethod
    def read(cls, line: Line) -> dict[str, int]:
        return dict.fromkeys(line.names(line.head), _whole_number(line))

    def names(self) -> tuple[str, ...]:
        return (self.value[0],)

    def text(self, only: Collection[str] | None = None) -> str:
        return f"max_parents {in_quotes(self.value[0])}: {self.value[1]}"

    def violations(self, dag: Dag) -> Iterable[str]:
        return _too_many(self.value[0], self.value[1], dag)

    def imply(self, known: Implications, at: list[int]) -> None:
        known.limit[at] = min(self.value[1], int(known.limit[at[0]]))


def _whole_number(line: Line) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", line.only_word()):
        raise line.error("max_parents needs a whole number, as in max_parents: 3")
    return int(line.only_word())


def _too_many(name: str, limit: int, dag: Dag) -> Iterator[str]:
    n_parents = len(dag.parents(name))
    if n_parents > limit:
        yield f"node {in_quotes(name)} has {n_parents:,} parents"
