"""Which nodes stand before which: pairs, chains, and an order of all nodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from bestdag.errors import CycleError, GraphError
from bestdag.graph._names import arc_text, listing
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds.base import Pair, Statement, check_names, check_once
from bestdag.graph.knowledge.words import in_quotes

__all__ = ["Order", "Precedence", "TotalOrder"]


class Order(Pair):
    """Pairs (a, b), a before b.

    Before is transitive; required arcs, ancestor statements and the total order put nodes before
    others as well, and all must fit one order of the nodes. No arc leads from a later to an
    earlier node.
    """

    field, type_text = "order", "iterable of (node, node)"
    form, says = "A < B", "A before B"
    sign = "<"
    precedes = True

    def violations(self, dag: Dag) -> Iterable[str]:
        return ()  # seen by all pairs together

    @classmethod
    def joint_violations(cls, statements: Sequence[Statement], dag: Dag) -> Iterable[str]:
        if not any(isinstance(statement, cls) for statement in statements):
            return
        said = Precedence(statements)
        for parent, child in dag.arcs:
            path = said.path(child, parent)
            # A way of arcs and paths alone would say that one of those statements is broken.
            if path is not None and any(sign == cls.sign for sign, _ in path):
                yield f"order: arc {arc_text(parent, child)} leads back: {said.text(child, path)}"

    def imply(self, known: Implications, at: list[int]) -> None:
        known.before.append((at[0], at[1]))


class Precedence:
    """What is said to come after what: `steps` maps a node to those after it and their signs."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.steps: dict[str, dict[str, str]] = {}
        for statement in statements:
            if isinstance(statement, Pair) and statement.precedes:
                first, second = statement.value
                self.steps.setdefault(first, {}).setdefault(second, statement.sign)

    def path(self, start: str, end: str) -> list[tuple[str, str]] | None:
        """Return a shortest way, as (sign, name) pairs."""
        came: dict[str, tuple[str, str]] = {}
        queue = deque([start])
        while queue and end not in came:
            node = queue.popleft()
            for name, sign in self.steps.get(node, {}).items():
                if name not in came:
                    came[name] = (node, sign)
                    queue.append(name)
        if end not in came:
            return None
        path: list[tuple[str, str]] = []
        node = end
        while not path or node != start:
            before, sign = came[node]
            path.append((sign, node))
            node = before
        return path[::-1]

    @staticmethod
    def text(start: str, path: Sequence[tuple[str, str]]) -> str:
        """Write a way, such as ``A -> B < C``."""
        return listing([in_quotes(start), *(f"{sign} {in_quotes(n)}" for sign, n in path)], " ")


class TotalOrder(Statement):
    """Every node, in an order that all arcs follow."""

    field, type_text = "total_order", "iterable of str"
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
