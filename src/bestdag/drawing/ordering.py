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
        work.place = _depth_first(layers, pieces) if start == 0 else _shuffled(layers, rng)
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
        n = sum(map(len, layers))
        self.level = np.empty(n, dtype=np.int64)
        for number, layer in enumerate(self.layers):
            self.level[layer] = number
        self.place = np.empty(n, dtype=np.int64)
        self.place[np.concatenate(self.layers)] = np.arange(n)
        self.upper, self.lower = np.array(pieces).reshape(-1, 2).T
        # Neighbours above and below.
        self.sides = [_Side(self.lower, self.upper, n), _Side(self.upper, self.lower, n)]
        local = self.place - np.array([0, *np.cumsum([len(x) for x in layers])])[self.level]
        self.local = [[_Local(layer, side, local) for layer in self.layers] for side in self.sides]

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
        for one in self.local[0][1:] if sweep % 2 == 0 else self.local[1][-2::-1]:
            one.sort(self.place, is_turned=sweep % 4 >= 2)

    def ordered(self) -> Layers:
        """Return the layers from left to right."""
        return [layer[np.argsort(self.place[layer])].tolist() for layer in self.layers]

    def crossings(self) -> int:
        """Count pairs of pieces that cross."""
        order = np.lexsort((self.place[self.lower], self.place[self.upper]))
        found = 0
        seen: list[int] = []
        # Ends in lower layers have higher places: pieces of different layers never count.
        for end in self.place[self.lower][order].tolist():
            found += len(seen) - bisect_right(seen, end)
            insort(seen, end)
        return found

    def _transpose(self) -> None:
        """Let neighbours change places as long as that takes crossings away."""
        for _ in range(_MOST_PASSES):
            if not sum(self._exchange(k // 2, k % 2) for k in range(4)):
                break

    def _exchange(self, layer_parity: int, parity: int) -> int:
        """Exchange neighbours that are better the other way round; pairs do not touch."""
        slots = np.empty_like(self.place)
        slots[self.place] = np.arange(len(slots))
        left, right = slots[:-1], slots[1:]
        mask = (self.level[left] == self.level[right]) & (self.level[left] % 2 == layer_parity)
        mask &= np.arange(len(left)) % 2 == parity
        for side in self.sides:
            mask &= side.degree[left] * side.degree[right] <= _MOST_PAIRS
        left, right = left[mask], right[mask]
        gain = sum(side.gain(left, right, self.place) for side in self.sides)
        better = gain > 0
        one, other = left[better], right[better]
        self.place[one], self.place[other] = self.place[other], self.place[one]
        return len(one)


class _Side:
    """The neighbours of each thing in the layer above, or below."""

    def __init__(self, own: np.ndarray, other: np.ndarray, n: int) -> None:
        order = np.lexsort((other, own))
        self.near = other[order]
        self.degree = np.bincount(own, minlength=n)
        self.start = np.cumsum(self.degree) - self.degree

    def gain(self, left: np.ndarray, right: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return how many crossings each pair has more than the other way round."""
        n_right = self.degree[right]
        n = self.degree[left] * n_right
        pair = np.repeat(np.arange(len(left)), n)
        number = np.arange(len(pair)) - np.repeat(np.cumsum(n) - n, n)
        of_left, of_right = np.divmod(number, n_right[pair])
        one = place[self.near[self.start[left][pair] + of_left]]
        other = place[self.near[self.start[right][pair] + of_right]]
        return np.bincount(pair, np.sign(one - other), len(left))


class _Local:
    """One layer, and its neighbours on one side."""

    def __init__(self, layer: np.ndarray, side: _Side, local: np.ndarray) -> None:
        degree = side.degree[layer]
        self.things = layer[degree > 0]  # the others stay where they are
        self.degree = degree[degree > 0]
        self.own = np.repeat(np.arange(len(self.things)), self.degree)
        spans = [side.near[side.start[t] : side.start[t] + side.degree[t]] for t in self.things]
        self.near = np.concatenate(spans) if spans else np.empty(0, dtype=np.int64)

    def sort(self, place: np.ndarray, *, is_turned: bool) -> None:
        """Sort by the mean place of the neighbours; equal ones stay in order, or are turned."""
        if not len(self.things):
            return
        means = np.bincount(self.own, place[self.near]) / self.degree
        at = place[self.things]
        order = np.lexsort((-at if is_turned else at, means))
        place[self.things[order]] = np.sort(at)


def _shuffled(layers: Layers, rng: random.Random) -> np.ndarray:
    slots = [thing for layer in layers for thing in sorted(layer, key=lambda _: rng.random())]
    return _places(slots)


def _depth_first(layers: Layers, pieces: Sequence[Piece]) -> np.ndarray:
    """Return the places that a walk through the graph gives, depth first."""
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
    return _places([thing for layer in layers for thing in sorted(layer, key=met.__getitem__)])


def _places(slots: list[int]) -> np.ndarray:
    place = np.empty(len(slots), dtype=np.int64)
    place[slots] = np.arange(len(slots))
    return place
