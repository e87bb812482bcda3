"""What statements imply for arcs, numbers of parents and paths over an order of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bestdag.graph.knowledge.words import in_quotes
from bestdag.machine import require_memory

__all__ = ["Implications", "IndexPair", "pairs_of"]

# The matrices of n x n truth values that live at the same time during propagation.
_N_MATRICES = 8

BoolMatrix = npt.NDArray[np.bool_]
IndexPair = tuple[int, int]


class Implications:
    """What follows from statements: the words in which each kind says what it implies.

    Statements change the attributes in one direction only: fewer allowed arcs, more required
    ones, lower limits, more pairs. With `is_open`, one more node, after those in `names`, stands
    for all that no statement names, so that a path may lead through it; as it may stand for
    several at once, its arcs cannot be required.

    Attributes
    ----------
    allowed, required : array of bool, n x n
        ``[p, c]``: the arc p -> c may be there; it must be there.
    limit : array of int32, n
        The most parents of each node.
    edges : list of (int, int)
        Pairs that an arc joins, in either direction.
    paths, no_paths : list of (int, int)
        Pairs with a directed path from the first to the second, and pairs without one.
    before : list of (int, int)
        Pairs whose first node comes before the second; read once, before anything is derived.
    is_ancestor : array of bool, n x n
        ``[a, d]``: a is an ancestor of d in every graph, as far as known. Derived; only read it.
    """

    def __init__(self, names: Sequence[str], *, is_open: bool) -> None:
        n = len(names) + is_open
        advice = "name fewer nodes"
        require_memory("Knowledge", f"{n:,} x {n:,} arcs", _N_MATRICES * n * n, advice)
        self.names = tuple(names)
        # By columns, because the parents of one child are looked up again and again.
        self.allowed: BoolMatrix = np.ones((n, n), dtype=bool, order="F")
        np.fill_diagonal(self.allowed, False)
        self.required: BoolMatrix = np.zeros((n, n), dtype=bool, order="F")
        self.limit: npt.NDArray[np.int32] = np.full(n, max(n - 1, 0), dtype=np.int32)
        self.edges: list[IndexPair] = []
        self.paths: list[IndexPair] = []
        self.no_paths: list[IndexPair] = []
        self.before: list[IndexPair] = []
        self.is_ancestor: BoolMatrix = np.zeros((n, n), dtype=bool)

    def show(self, node: int, sign: str = "", other: int = 0) -> str:
        """Write the name of a node, or two with a sign between them."""
        text = in_quotes(self.names[node])
        return f"{text} {sign} {in_quotes(self.names[other])}" if sign else text

    def reached(self, pairs: Iterable[IndexPair] = ()) -> BoolMatrix | None:
        """Return who is reached from whom along required arcs and pairs; None for a cycle."""
        n = len(self.required)
        children: dict[int, list[int]] = {}
        waiting = [0] * n
        for parent, child in (*pairs_of(self.required), *pairs):
            children.setdefault(parent, []).append(child)
            waiting[child] += 1
        order = [node for node in range(n) if waiting[node] == 0]
        for node in order:  # grows while it is walked
            for child in children.get(node, ()):
                waiting[child] -= 1
                if waiting[child] == 0:
                    order.append(child)
        if len(order) < n:
            return None
        reached = np.zeros((n, n), dtype=bool)
        for node in reversed(order):
            for child in children.get(node, ()):
                reached[node, child] = True
                reached[node] |= reached[child]
        return reached

    def has_path(self, source: int, target: int, outside: npt.NDArray[np.bool_]) -> bool:
        """Whether allowed arcs lead from source to target around the nodes outside."""
        arcs, inside = self.allowed, ~outside
        fresh = arcs[source] & inside
        # Among many arcs one or two nearly always lead there.
        if arcs[source, target] or (fresh & arcs[:, target]).any():
            return True
        reached = fresh.copy()
        while fresh.any() and not reached[target]:
            fresh = arcs[fresh].any(axis=0) & inside & ~reached
            reached |= fresh
        return bool(reached[target])


def pairs_of(matrix: BoolMatrix) -> list[IndexPair]:
    """Return the places that are True."""
    columns, rows = np.divmod(np.flatnonzero(matrix.T), max(len(matrix), 1))  # faster than nonzero
    return sorted(zip(rows.tolist(), columns.tolist(), strict=True))
