"""Pairs with a directed path from the first node to the second, and pairs without one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications, IndexPair
from bestdag.graph.knowledge.kinds.base import Pair

__all__ = ["Ancestors", "NonAncestors"]


class Ancestors(Pair):
    """Pairs (a, b) with a directed path from a to b."""

    field, type_text = "ancestors", "iterable of (node, node)"
    form, says = "A ~> B", "A is an ancestor of B"
    sign = "~>"
    is_positive = precedes = True

    def violations(self, dag: Dag) -> Iterable[str]:
        above, below = self.value
        return () if above in dag.ancestors(below) else ("no path leads there",)

    def imply(self, known: Implications, at: list[int]) -> None:
        known.paths.append((at[0], at[1]))

    @classmethod
    def contradiction(cls, known: Implications) -> str | None:
        separated = np.zeros_like(known.allowed)
        for pair in known.no_paths:
            separated[pair] = True
        for above, below in known.paths:
            # Nothing on the way is below the end or above the start, or separated from either.
            outside = known.is_ancestor[below] | known.is_ancestor[:, above]
            outside |= separated[above] | separated[:, below]
            if not known.has_path(above, below, outside):
                text = known.show(above, "is to be an ancestor of", below)
                return f"{text} and no allowed path leads there"
        return None

    @staticmethod
    def left_open(known: Implications) -> tuple[IndexPair, ...]:
        """Return the pairs that the required arcs do not see to already."""
        implied = known.reached()
        assert implied is not None
        return tuple(pair for pair in known.paths if not implied[pair])


class NonAncestors(Pair):
    """Pairs (a, b) without a directed path from a to b."""

    field, type_text = "non_ancestors", "iterable of (node, node)"
    form, says = "A !~> B", "A is not an ancestor of B"
    sign = "!~>"

    def violations(self, dag: Dag) -> Iterable[str]:
        above, below = self.value
        return ("a path leads there",) if above in dag.ancestors(below) else ()

    def imply(self, known: Implications, at: list[int]) -> None:
        known.no_paths.append((at[0], at[1]))
        known.allowed[at[0], at[1]] = False

    @classmethod
    def propagate(cls, known: Implications) -> str | None:
        for one, other in known.no_paths:
            if known.is_ancestor[one, other]:
                text = known.show(one, "is an ancestor of", other)
                return f"it cannot be both that {text} and that it is not"
            below, above = known.is_ancestor[one].copy(), known.is_ancestor[:, other].copy()
            if below.any() or above.any():  # the arc itself is not allowed anyway
                below[one] = above[other] = True
                known.allowed[np.ix_(below, above)] = False
        return None

    @staticmethod
    def left_open(known: Implications) -> tuple[IndexPair, ...]:
        """Return the pairs that acyclic allowed arcs could still join by a path."""
        reached = known.is_ancestor
        return tuple(
            (i, j)
            for i, j in known.no_paths
            if not reached[j, i] and known.has_path(i, j, reached[j] | reached[:, i])
        )
