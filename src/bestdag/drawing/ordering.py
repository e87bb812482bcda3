"""The order within layers, with few crossings."""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections.abc import Sequence

import numpy as np

__all__ = ["count_crossings", "ordered"]

Layers = list[list[int]]
Piece = tuple[int, int]

# Sweeps without fewer crossings before a start is given up, most sweeps of one, and how many starts
# there are: fewer with more pieces.
_PATIENCE = 8
_MOST_SWEEPS = 100
_MOST_STARTS, _PIECES_OF_ALL = 8, 12_000
_MOST_PASSES = 30
# With more pieces layers are only sorted, so often; crossings are beyond number there.
_MOST_PIECES, _N_PLAIN_SWEEPS = 20_000, 8
# Neighbours with more pairs of pieces stay where sorting puts them.
_MOST_PAIRS = 10_000


def ordered(layers: Layers, pieces: Sequence[Piece]) -> Layers:
    """Order things within their layers.

    Several starts, of which the best is kept: the first goes through the graph depth first, the
    others begin in random order, the same in each call. From there layers are sorted in turn by
    where their neighbours are, down and up (Sugiyama, Tagawa and Toda 1981, "Methods for visual
    understanding of hierarchical system structures"), and neighbours in a layer change places
    where that takes crossings away (Gansner et al. 1993, section 3).

    Parameters
    ----------
    layers : list of list of int
        Things 0, 1, ...
    pieces : sequence of (int, int)
        Each joins a thing to one in the next layer, the upper one first.

    Examples
    --------
    >>> ordered([[0, 1], [2, 3]], [(0, 3), (1, 2)])
    [[0, 1], [3, 2]]
    """
    if not pieces:
        return layers
    work = _Ordering(layers, pieces)
    rng = random.Random(0)
    if len(pieces) > _MOST_PIECES:
        for sweep in range(_N_PLAIN_SWEEPS):
            work.sort(sweep)
        return work.ordered()
    best, least = work.place, -1
    for start in range(min(_MOST_STARTS, max(1, _PIECES_OF_ALL // len(pieces)))):
        work.begin(_shuffled(layers, rng) if start else _depth_first(layers, pieces))
        place, crossings = work.untangle()
        if least < 0 or crossings < least:
            best, least = place, crossings
        if not least:
            break
    work.place = best
    return work.ordered()


def count_crossings(layers: Layers, pieces: Sequence[Piece]) -> int:
    """Count pairs of pieces that cross.

    Examples
    --------
    >>> count_crossings([[0, 1], [2, 3]], [(0, 3), (1, 2)])
    1
    """
    return _Ordering(layers, pieces).crossings()


class _Ordering:
    """Things in layers; `place` counts them from the left of the first layer to the last one."""

    def __init__(self, layers: Layers, pieces: Sequence[Piece]) -> None:
        self.layers = [np.array(layer) for layer in layers]
        sizes = [len(layer) for layer in layers]
        n = sum(sizes)
        self.slots = np.concatenate(self.layers)  # which thing is at each place
        self.place = np.empty(n, dtype=np.int64)
        self.place[self.slots] = np.arange(n)
        self.upper, self.lower = np.array(pieces).reshape(-1, 2).T
        self.near = _Neighbours(self.upper, self.lower, n)
        # Places of left neighbours in pairs that do not touch each other, in every other layer.
        level = np.repeat(np.arange(len(layers)), sizes)
        is_pair = level[:-1] == level[1:]
        kind = 2 * (level[:-1] % 2) + np.arange(n - 1) % 2
        self.phases = [np.flatnonzero(is_pair & (kind == k)) for k in range(4)]
        self.sides = [[_Local(x, self.near, side) for x in self.layers] for side in (0, 1)]

    def begin(self, slots: Sequence[int]) -> None:
        """Put things at places."""
        self.slots = np.array(slots)
        self.place[self.slots] = np.arange(len(slots))

    def untangle(self) -> tuple[np.ndarray, int]:
        """Improve the places until that takes nothing away any more."""
        self._transpose()
        best, least = self.place.copy(), self.crossings()
        waited = 0
        for sweep in range(_MOST_SWEEPS):
            if not least or waited >= _PATIENCE:
                break
            self.sort(sweep)
            self._transpose()
            crossings = self.crossings()
            waited += 1
            if crossings < least:
                best, least, waited = self.place.copy(), crossings, 0
        return best, least

    def sort(self, sweep: int) -> None:
        """Sort all layers by those above, or in odd sweeps from below by those below."""
        for one in self.sides[0][1:] if sweep % 2 == 0 else self.sides[1][-2::-1]:
            one.sort(self.place, self.slots, is_turned=sweep % 4 >= 2)

    def ordered(self) -> Layers:
        """Return the layers from left to right."""
        return [layer[np.argsort(self.place[layer])].tolist() for layer in self.layers]

    def crossings(self) -> int:
        """Count pairs of pieces that cross."""
        order = np.lexsort((self.place[self.lower], self.place[self.upper]))
        n_crossings = 0
        seen: list[int] = []
        # Ends in lower layers have higher places: pieces of different layers never count.
        for end in self.place[self.lower][order].tolist():
            n_crossings += len(seen) - bisect_right(seen, end)
            insort(seen, end)
        return n_crossings

    def _transpose(self) -> None:
        """Let neighbours change places as long as that takes crossings away."""
        for _ in range(_MOST_PASSES):
            if not sum(map(self._exchange, range(4))):
                break

    def _exchange(self, phase: int) -> int:
        """Exchange neighbours that are better the other way round; pairs do not touch."""
        at = self.phases[phase]
        left, right = self.slots[at], self.slots[at + 1]
        better = np.flatnonzero(self.near.gain(left, right, self.place) > 0)
        at, left, right = at[better], left[better], right[better]
        self.slots[at], self.slots[at + 1] = right, left
        self.place[left], self.place[right] = at + 1, at
        return len(at)


class _Neighbours:
    """The neighbours of each thing: those above, and after those of all things those below."""

    def __init__(self, upper: np.ndarray, lower: np.ndarray, n: int) -> None:
        own = np.concatenate([lower, upper + n])
        other = np.concatenate([upper, lower])
        order = np.lexsort((other, own))
        self.near = other[order]
        self.degree = np.bincount(own, minlength=2 * n)
        self.start = np.cumsum(self.degree) - self.degree
        self.n = n

    def of(self, things: np.ndarray, side: int) -> np.ndarray:
        """Return the neighbours of things, one after the other."""
        first = (self.start[thing + side * self.n] for thing in things)
        last = (self.start[t + side * self.n] + self.degree[t + side * self.n] for t in things)
        neighbours = [self.near[a:b] for a, b in zip(first, last, strict=True)]
        return np.concatenate(neighbours) if neighbours else np.empty(0, dtype=np.int64)

    def gain(self, left: np.ndarray, right: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return how many crossings each pair has more than the other way round."""
        one, other = np.concatenate([left, left + self.n]), np.concatenate([right, right + self.n])
        n_other = self.degree[other]
        n = self.degree[one] * n_other
        n[n > _MOST_PAIRS] = 0
        pair = np.repeat(np.arange(len(one)), n)
        number = np.arange(len(pair)) - np.repeat(np.cumsum(n) - n, n)
        of_one, of_other = np.divmod(number, n_other[pair])
        a = place[self.near[self.start[one][pair] + of_one]]
        b = place[self.near[self.start[other][pair] + of_other]]
        gains = np.bincount(pair, np.sign(a - b), len(one))
        return gains[: len(left)] + gains[len(left) :]


class _Local:
    """One layer, and its neighbours on one side."""

    def __init__(self, layer: np.ndarray, near: _Neighbours, side: int) -> None:
        degree = near.degree[layer + side * near.n]
        self.things = layer[degree > 0]  # the others stay where they are
        self.degree = degree[degree > 0]
        self.own = np.repeat(np.arange(len(self.things)), self.degree)
        self.near = near.of(self.things, side)

    def sort(self, place: np.ndarray, slots: np.ndarray, *, is_turned: bool) -> None:
        """Sort by the mean place of the neighbours; equal ones stay in order, or are turned."""
        if not len(self.things):
            return
        means = np.bincount(self.own, place[self.near]) / self.degree
        at = place[self.things]
        order = np.lexsort((-at if is_turned else at, means))
        at.sort()
        slots[at] = self.things[order]
        place[slots[at]] = at


def _shuffled(layers: Layers, rng: random.Random) -> list[int]:
    return [thing for layer in layers for thing in sorted(layer, key=lambda _: rng.random())]


def _depth_first(layers: Layers, pieces: Sequence[Piece]) -> list[int]:
    """Return all layers, each in the order in which a walk through the graph meets its things."""
    near: list[list[int]] = [[] for layer in layers for _ in layer]
    for upper, lower in pieces:
        near[upper].append(lower)
        near[lower].append(upper)
    met: dict[int, int] = {}
    for root in (thing for layer in layers for thing in layer):
        stack = [root]
        while stack:
            thing = stack.pop()
            if thing not in met:
                met[thing] = len(met)
                stack += [other for other in reversed(near[thing]) if other not in met]
    return [thing for layer in layers for thing in sorted(layer, key=met.__getitem__)]
