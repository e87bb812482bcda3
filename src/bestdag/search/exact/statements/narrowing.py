"""Parts of a score table: limits on the sets of single children, and what is left of the table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["Limit", "Narrowed", "Narrower"]

_BITS = 64

_Limited = tuple[int, frozenset["Limit"]]


class Limit(NamedTuple):
    """The parents of `child` include all, none or some (at least one) of `members`."""

    child: int
    kind: Literal["all", "none", "some"]
    members: tuple[int, ...]


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
