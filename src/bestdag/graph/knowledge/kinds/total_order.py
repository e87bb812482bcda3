"""An order of all nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from bestdag.errors import CycleError, GraphError
from bestdag.graph._names import arc_text, listing
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds.base import Statement, check_names, check_once
from bestdag.graph.knowledge.kinds.pair import Pair
from bestdag.graph.knowledge.words import in_quotes

__all__ = ["TotalOrder"]


class TotalOrder(Statement):
    """Every node, in an order that all arcs follow."""

    field, given = "total_order", "iterable of str"
    form, says = "total_order: A, B, C", "every node, in an order that all arcs follow"
    keyword = "total_order"
    is_whole = is_single = is_long = names_every_node = True

    @classmethod
    def check(cls, value: Any) -> tuple[str, ...]:
        names = check_names(cls.field, value)
        check_once(cls.field, names)
        return tuple(names)

    def check_with(self, statements: Sequence[Statement]) -> None:
        place = {name: i for i, name in enumerate(self.value)}
        for statement in statements:
            for name in statement.names():
                if name not in place:
                    where = f"'{statement.text({name})}'"
                    raise _incomplete(f"{in_quotes(name)} of {where} is not in it")
            if isinstance(statement, Pair) and statement.precedes:
                first, second = statement.value
                if place[first] > place[second]:
                    against = f"'{self.text({first, second})}'"
                    raise CycleError(f"Knowledge: {statement.text()} runs against {against}")

    def check_nodes(self, nodes: Collection[str]) -> None:
        missing = sorted(set(nodes).difference(self.value))
        if missing:
            shown = listing(map(in_quotes, missing), ", ")
            raise _incomplete(f"these are not in it: {shown}")

    def violations(self, dag: Dag) -> Iterable[str]:
        place = {name: i for i, name in enumerate(self.value)}
        back = (arc for arc in dag.arcs if place[arc[0]] > place[arc[1]])
        return (f"arc {arc_text(*arc)} leads back" for arc in back)

    def imply(self, known: Implications, at: list[int]) -> None:
        known.allowed[np.ix_(at, at)] &= np.triu(np.ones((len(at), len(at)), dtype=bool), 1)


def _incomplete(what: str) -> GraphError:
    return GraphError(
        f"Knowledge: total_order must list every node, and {what}; for some nodes use order (A < B)"
    )
