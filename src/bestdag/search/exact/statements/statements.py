"""Statements that no single family decides, and how to split a problem that breaks one.

A split is a list of alternatives, each a few limits on single children. Every graph that keeps to
the statement keeps to one of them, and the graph at hand keeps to none:

* a required edge: the arc one way, or the other;
* a path that must not be: its first arc is missing, or the first is there and the second is
  missing, and so on;
* an ancestor a of b, and a set of nodes with b and without a that no arc enters: the first node of
  the set has a parent outside, or the first has none and the second has one, and so on. A path
  from a to b enters the set somewhere.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag.graph.knowledge import NodeKnowledge
from bestdag.search.exact.statements.narrowing import Limit

__all__ = ["Split", "Statements"]

Alternatives = list[tuple[Limit, ...]]

# Arcs that are not there have at least this length, so that sets no arc enters can be told.
_SHORTEST = 1e-6


@dataclass(frozen=True, slots=True)
class Split:
    """Why a problem was split.

    Attributes
    ----------
    edge : pair of int, optional
        A required edge.
    path : tuple of int, optional
        The nodes of a path that must not be.
    entered : tuple of int, optional
        Nodes of which one must have a parent outside.
    """

    edge: tuple[int, int] | None = None
    path: tuple[int, ...] = ()
    entered: tuple[int, ...] = ()

    def alternatives(self, n: int) -> Alternatives:
        """List the cases; n is the number of nodes."""
        if self.edge is not None:
            a, b = self.edge
            return [(Limit(b, "all", (a,)),), (Limit(a, "all", (b,)),)]
        if self.path:
            there = [Limit(c, "all", (p,)) for p, c in itertools.pairwise(self.path)]
            gone = [Limit(x.child, "none", x.members) for x in there]
        else:
            outside = tuple(v for v in range(n) if v not in set(self.entered))
            there = [Limit(v, "none", outside) for v in self.entered]
            gone = [Limit(v, "some", outside) for v in self.entered]
        return [(*there[:i], limit) for i, limit in enumerate(gone)]


@dataclass(frozen=True, slots=True)
class Statements:
    """Required edges that may run either way, and who is an ancestor of whom, or is not."""

    n: int
    required_edges: tuple[tuple[int, int], ...]
    ancestors: tuple[tuple[int, int], ...]
    non_ancestors: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, nodes: NodeKnowledge) -> Statements:
        """Take what is left open."""
        return cls(len(nodes.names), nodes.required_edges, nodes.ancestors, nodes.non_ancestors)

    @property
    def is_empty(self) -> bool:
        """Whether families decide everything."""
        return not (self.required_edges or self.ancestors or self.non_ancestors)

    @property
    def need_more_arcs(self) -> bool:
        """Whether a graph can break a statement by having too few arcs."""
        return bool(self.required_edges or self.ancestors)

    def are_kept(self, parents: Sequence[Sequence[int]]) -> bool:
        """Whether a graph keeps to all of them."""
        return self._broken_edge(parents) is None and not any(
            (a in _above(parents, b)) is not wanted
            for pairs, wanted in ((self.ancestors, True), (self.non_ancestors, False))
            for a, b in pairs
        )

    def is_valid(self, split: Split) -> bool:
        """Whether every graph that keeps to the statements is in one of the split's cases."""
        if split.edge is not None:
            return split.edge in self.required_edges
        if split.path:
            ends = split.path[0], split.path[-1]
            return len(split.path) > 1 and ends in self.non_ancestors
        inside = set(split.entered)
        return any(b in inside and a not in inside for a, b in self.ancestors)

    def split(
        self, parents: Sequence[Sequence[int]], lengths: npt.NDArray[np.float64]
    ) -> Split | None:
        """Split what a graph breaks; None when it keeps to everything.

        ``lengths[p, c]`` is about what the arc p -> c would cost, infinite when it cannot be.
        """
        edge = self._broken_edge(parents)
        if edge is not None:
            return Split(edge=edge)
        paths = [_shortest_path(parents, a, b) for a, b in self.non_ancestors]
        found = [path for path in paths if path]
        if found:
            return Split(path=min(found, key=len))
        for a, b in self.ancestors:
            if a not in _above(parents, b):
                return Split(entered=_not_entered(parents, lengths, a, b))
        return None

    def way(
        self, parents: Sequence[Sequence[int]], lengths: npt.NDArray[np.float64]
    ) -> tuple[Limit, ...] | None:
        """Arcs of a short way for the first ancestor that is missing, to be there all at once."""
        for a, b in self.ancestors:
            if a not in _above(parents, b):
                distance, before = _distances(_with_arcs(parents, lengths), a)
                if not np.isfinite(distance[b]):
                    return None
                path = [b]
                while path[-1] != a:
                    path.append(before[path[-1]])
                return tuple(Limit(c, "all", (p,)) for c, p in itertools.pairwise(path))
        return None

    def _broken_edge(self, parents: Sequence[Sequence[int]]) -> tuple[int, int] | None:
        joined = ((a in parents[b] or b in parents[a]) for a, b in self.required_edges)
        return next(
            (e for e, there in zip(self.required_edges, joined, strict=True) if not there), None
        )


def _above(parents: Sequence[Sequence[int]], node: int) -> set[int]:
    found: set[int] = set()
    waiting = list(parents[node])
    while waiting:
        v = waiting.pop()
        if v not in found:
            found.add(v)
            waiting.extend(parents[v])
    return found


def _shortest_path(parents: Sequence[Sequence[int]], a: int, b: int) -> tuple[int, ...]:
    """Nodes from a to b along arcs; empty when there is no way."""
    after = {b: b}
    waiting = [b]
    for v in waiting:
        for p in parents[v]:
            if p not in after:
                after[p] = v
                waiting.append(p)
    if a not in after:
        return ()
    path = [a]
    while path[-1] != b:
        path.append(after[path[-1]])
    return tuple(path)


def _not_entered(
    parents: Sequence[Sequence[int]], lengths: npt.NDArray[np.float64], a: int, b: int
) -> tuple[int, ...]:
    """Nodes with b and without a that no arc enters, and that are costly to enter.

    By distance from a along arcs of these lengths (those there have length 0): where the distances
    up to that of b leave the widest gap, every arc across is at least as long as the gap.
    """
    distance, _ = _distances(_with_arcs(parents, lengths), a)
    levels = np.unique(distance[distance <= distance[b]])
    with np.errstate(invalid="ignore"):
        widest = int(np.argmax(np.diff(levels)))
    level = levels[widest + 1]
    return tuple(np.flatnonzero(distance >= level).tolist())


def _with_arcs(
    parents: Sequence[Sequence[int]], lengths: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Lengths where the arcs that are there have length 0, and the others are longer."""
    lengths = np.maximum(lengths, _SHORTEST)
    for child, group in enumerate(parents):
        lengths[list(group), child] = 0.0
    return lengths


def _distances(
    lengths: npt.NDArray[np.float64], start: int
) -> tuple[npt.NDArray[np.float64], dict[int, int]]:
    """Shortest ways from one node (Dijkstra 1959), and the node before each on its way."""
    before: dict[int, int] = {}
    distance = np.full(len(lengths), np.inf)
    distance[start] = 0.0
    waiting, done = [(0.0, start)], set()
    while waiting:
        d, v = heapq.heappop(waiting)
        if v in done:
            continue
        done.add(v)
        nearer = d + lengths[v]
        for w in np.flatnonzero(nearer < distance).tolist():
            distance[w], before[w] = nearer[w], v
            heapq.heappush(waiting, (float(nearer[w]), w))
    return distance, before
