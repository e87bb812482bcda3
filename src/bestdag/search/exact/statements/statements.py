"""Statements that no single family decides, how to split a problem that breaks one, and the parts.

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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.graph.knowledge import NodeKnowledge
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["Limit", "Narrowed", "Narrower", "Split", "Statements"]


class Limit(NamedTuple):
    """The parents of `child` include all, none or some (at least one) of `members`."""

    child: int
    kind: Literal["all", "none", "some"]
    members: tuple[int, ...]


Alternatives = list[tuple[Limit, ...]]

# Arcs that are not there have at least this length, so that sets no arc enters can be told.
_SHORTEST = 1e-6
_BITS = 64

_Limited = tuple[int, frozenset["Limit"]]


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


# What limits leave of a table.


class Narrowed(NamedTuple):
    """What limits leave of a table, without the sets that a subset beats.

    ``origins[i][k]`` is the position in the whole table of set k of child i.
    """

    table: ScoreTable
    origins: tuple[npt.NDArray[np.int64], ...]


class Narrower:
    """Narrows one table again and again; children whose limits come again cost nothing."""

    def __init__(self, table: ScoreTable) -> None:
        self._table = table
        self._n = table.n_variables
        self._needed: dict[_Limited, npt.NDArray[np.int64]] = {}
        self._best: dict[_Limited, npt.NDArray[np.float64]] = {}

    def allowed(self, child: int, limits: Iterable[Limit]) -> npt.NDArray[np.bool_]:
        """Which sets of a child keep to its limits."""
        sets = self._table.child(child)
        kept = np.ones(len(sets), dtype=bool)
        owner = np.repeat(np.arange(len(sets)), np.diff(sets.offsets))
        for limit in limits:
            inside = np.zeros(self._n, dtype=bool)
            inside[list(limit.members)] = True
            n_inside = np.bincount(owner[inside[sets.members]], minlength=len(sets))
            if limit.kind == "all":
                kept &= n_inside == len(limit.members)
            elif limit.kind == "none":
                kept &= n_inside == 0
            else:
                kept &= n_inside > 0
        return kept

    def narrowed(self, limits: Iterable[Limit]) -> Narrowed | None:
        """Return what is left; None when no acyclic choice is."""
        children, origins = [], []
        for child, mine in enumerate(self._by_child(limits)):
            kept = self._undominated(child, mine)
            if not len(kept):
                return None
            children.append(_taken(self._table.child(child), kept))
            origins.append(kept)
        if not _has_acyclic_choice(children):
            return None
        table = ScoreTable(self._table.names, children, complete=self._table.complete)
        return Narrowed(table, tuple(origins))

    def best_with(self, limits: Iterable[Limit]) -> npt.NDArray[np.float64]:
        """Return the best score of each child (columns) with each parent (rows), -inf for none."""
        columns = []
        for key in enumerate(self._by_child(limits)):
            if key not in self._best:
                sets = self._table.child(key[0])
                owner = np.repeat(np.arange(len(sets)), np.diff(sets.offsets))
                kept = self.allowed(*key)[owner]
                best = np.full(self._n, -np.inf)
                np.maximum.at(best, sets.members[kept], sets.scores[owner[kept]])
                self._best[key] = best
            columns.append(self._best[key])
        return np.stack(columns, axis=1)

    def _by_child(self, limits: Iterable[Limit]) -> list[frozenset[Limit]]:
        mine: list[set[Limit]] = [set() for _ in range(self._n)]
        for limit in limits:
            mine[limit.child].add(limit)
        return [frozenset(some) for some in mine]

    def _undominated(self, child: int, limits: frozenset[Limit]) -> npt.NDArray[np.int64]:
        key = child, limits
        if key not in self._needed:
            sets = self._table.child(child)
            positions = np.flatnonzero(self.allowed(child, limits))
            words = _words(sets, self._n)[positions]
            sizes = np.diff(sets.offsets)[positions]
            self._needed[key] = positions[_minimal(words, sizes)]
        return self._needed[key]


def _words(sets: ParentSets, n: int) -> npt.NDArray[np.uint64]:
    words = np.zeros((len(sets), -(-n // _BITS)), dtype=np.uint64)
    owner = np.repeat(np.arange(len(sets)), np.diff(sets.offsets))
    bits = np.left_shift(np.uint64(1), (sets.members % _BITS).astype(np.uint64))
    np.bitwise_or.at(words, (owner, sets.members // _BITS), bits)
    return words


def _minimal(words: npt.NDArray[np.uint64], sizes: npt.NDArray[np.int64]) -> list[int]:
    """Return the numbers of the sets that contain no earlier one; they come best first."""
    largest = sizes.max(initial=0)
    left = np.arange(len(sizes))
    kept = []
    while len(left):
        first, left = int(left[0]), left[1:]
        kept.append(first)
        if sizes[first] < largest:  # the largest are inside no other
            contains = ((words[left] & words[first]) == words[first]).all(axis=1)
            left = left[~contains]
    return kept


def _taken(sets: ParentSets, positions: npt.NDArray[np.int64]) -> ParentSets:
    if len(positions) == len(sets):
        return sets
    sizes = np.diff(sets.offsets)
    taken = np.zeros(len(sets), dtype=bool)
    taken[positions] = True
    offsets = np.zeros(len(positions) + 1, np.int64)
    np.cumsum(sizes[positions], out=offsets[1:])
    return ParentSets(sets.scores[positions], offsets, sets.members[np.repeat(taken, sizes)])


def _has_acyclic_choice(children: list[ParentSets]) -> bool:
    """Place every variable that has a set among those placed; the others never can be."""
    placed = np.zeros(len(children), dtype=bool)
    left = list(range(len(children)))
    while left:
        ready = [v for v in left if _has_set_inside(children[v], placed)]
        if not ready:
            return False
        placed[ready] = True
        left = [v for v in left if not placed[v]]
    return True


def _has_set_inside(sets: ParentSets, placed: npt.NDArray[np.bool_]) -> bool:
    outside = np.concatenate([[0], np.cumsum(~placed[sets.members])])
    return bool((outside[sets.offsets[1:]] == outside[sets.offsets[:-1]]).any())
