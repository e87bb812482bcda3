"""The proof that the engine ``frontier`` leaves, and a check that does the search again.

The check shares no code with the engine. It reads the table again, rounds costs down to whole units
of a power of two with fractions, and looks layer by layer at the subsets that may be first in an
order of a better choice. Why these are all is in `kernels/exact/frontier_search.hpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, fsum

import numpy as np
from numpy.typing import NDArray

from bestdag.errors import CertificateError
from bestdag.scores.table import ScoreTable

__all__ = ["FrontierCertificate"]

_MOST_UNITS = 2**50  # a cost above the cutoff may be anything above it
_LARGEST_SUM = 2**61
_AT_ONCE = 1 << 16  # subsets in one array

Subsets = NDArray[np.uint64]
Units = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FrontierCertificate:
    """That no acyclic choice of parent sets scores more than ``score + resolution``.

    Attributes
    ----------
    parents : tuple of int
        The incumbent: for each child the position of its set in the table.
    score, resolution : float
        What is claimed, in nats.
    exponent : int
        A multiplier of m stands for m * 2**exponent nats.
    clusters : tuple of (members, k, multiplier)
        That guide the search.
    """

    parents: tuple[int, ...]
    score: float
    resolution: float
    exponent: int
    clusters: tuple[tuple[tuple[int, ...], int, int], ...]

    def verify(self, table: ScoreTable) -> None:
        """Do the search again.

        Raises
        ------
        CertificateError
            With the reason, when an order leads to a choice that is better than claimed.
        """
        _Check(table, self).run()


class _Check:
    def __init__(self, table: ScoreTable, claim: FrontierCertificate) -> None:
        self.n = n = table.n_variables
        if n > 64:
            raise CertificateError(f"certificate: {n} variables, and at most 64 can be checked")
        scores = [table.child(v).scores.tolist() for v in range(n)]
        self.masks = [
            np.array([_mask(members) for _, members in table.child(v)], np.uint64) for v in range(n)
        ]
        self._check_clusters(claim)
        self.clusters = [(np.uint64(_mask(ms)), k, value) for ms, k, value in claim.clusters]
        self._check_incumbent(claim, scores)
        unit = Fraction(2) ** claim.exponent
        best = [Fraction(max(child)) for child in scores]
        costs = [[b - Fraction(s) for s in child] for b, child in zip(best, scores, strict=True)]
        incumbent = sum((costs[v][k] for v, k in enumerate(claim.parents)), Fraction())
        # A choice that is better than claimed costs fewer whole units than this.
        self.cutoff = max(0, ceil((incumbent - Fraction(claim.resolution)) / unit))
        if self.cutoff >= _MOST_UNITS:
            raise CertificateError("certificate: the units are too small")
        self.costs = [
            np.array([min(_MOST_UNITS, cost // unit) for cost in child], np.int64)
            for child in costs
        ]

    def _check_clusters(self, claim: FrontierCertificate) -> None:
        for members, k, value in claim.clusters:
            distinct = set(members)
            is_valid = 1 <= k <= len(distinct) == len(members) and value >= 0
            if not is_valid or not distinct <= set(range(self.n)):
                raise CertificateError(
                    f"certificate: no valid cluster or multiplier: {members}, {k}, {value}"
                )
        if sum(k * value for _, k, value in claim.clusters) >= _LARGEST_SUM:
            raise CertificateError("certificate: multipliers are too large")

    def _check_incumbent(
        self, claim: FrontierCertificate, scores: Sequence[Sequence[float]]
    ) -> None:
        if len(claim.parents) != self.n or any(
            not 0 <= k < len(child) for k, child in zip(claim.parents, scores, strict=False)
        ):
            raise CertificateError("certificate: the incumbent needs one set per child")
        if claim.score != fsum(scores[v][k] for v, k in enumerate(claim.parents)):
            raise CertificateError(f"certificate: {claim.score} is not the incumbent's score")
        if not claim.resolution >= 0:
            raise CertificateError("certificate: the resolution is below 0")
        placed, before = 0, -1
        while placed != before:
            before = placed
            for v, k in enumerate(claim.parents):
                if not int(self.masks[v][k]) & ~placed:
                    placed |= 1 << v
        if placed != (1 << self.n) - 1:
            raise CertificateError("certificate: the incumbent has a cycle")

    def run(self) -> None:
        """Look at each subset that may be first in an order of a better choice."""
        reduced = [self._reduced(v) for v in range(self.n)]
        self.least = [int(child.min()) for child in reduced]
        total = sum(self.least) + sum(k * value for _, k, value in self.clusters)
        for v, child in enumerate(reduced):  # sets that may be in a better choice, cheapest first
            needed = np.flatnonzero(child < self.cutoff - total + self.least[v])
            needed = needed[np.argsort(self.costs[v][needed], kind="stable")]
            self.costs[v], self.masks[v] = self.costs[v][needed], self.masks[v][needed]
        if not all(map(len, self.costs)):
            return
        waiting: list[list[tuple[Subsets, Units]]] = [[] for _ in range(self.n + 1)]
        self._arrive(waiting, np.zeros(1, np.uint64), np.zeros(1, np.int64))
        for layer in waiting[:-1]:
            subsets, costs = _least_of_each(layer)
            for first in range(0, len(subsets), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                self._expand(waiting, subsets[some], costs[some])
            layer.clear()
        if any((costs < self.cutoff).any() for _, costs in waiting[-1]):
            raise CertificateError("certificate: a choice scores more than is claimed")

    def _reduced(self, child: int) -> Units:
        reduced = self.costs[child].copy()
        for inside, k, value in self.clusters:
            if int(inside) >> child & 1:
                reduced -= value * (_popcount(self.masks[child] & inside) < k)
        return reduced

    def _expand(
        self, waiting: list[list[tuple[Subsets, Units]]], subsets: Subsets, costs: Units
    ) -> None:
        """Add each variable to each of some subsets, with the cheapest set inside."""
        missing = [np.maximum(0, k - _popcount(subsets & inside)) for inside, k, _ in self.clusters]
        estimate = costs.copy()
        for v in range(self.n):
            estimate += self.least[v] * ~_has(subsets, v)
        for (_, _, value), count in zip(self.clusters, missing, strict=True):
            estimate += value * count
        for v in range(self.n):
            paid = np.full(len(subsets), self.least[v], np.int64)
            for (inside, _, value), count in zip(self.clusters, missing, strict=True):
                if int(inside) >> v & 1:
                    paid += value * (count > 0)
            room = self.cutoff - estimate + paid
            left = np.flatnonzero((estimate < self.cutoff) & ~_has(subsets, v))
            for cost, mask in zip(self.costs[v].tolist(), self.masks[v], strict=True):
                left = left[room[left] > cost]
                if not len(left):
                    break
                inside_them = (mask & ~subsets[left]) == 0
                here = left[inside_them]
                left = left[~inside_them]
                self._arrive(waiting, subsets[here] | _bit(v), costs[here] + cost)

    def _arrive(
        self, waiting: list[list[tuple[Subsets, Units]]], subsets: Subsets, costs: Units
    ) -> None:
        """Let variables follow whose cheapest set is inside, and sort subsets by size."""
        has_changed = len(subsets) > 0
        while has_changed:
            has_changed = False
            for v in range(self.n):
                follows = ((self.masks[v][0] & ~subsets) == 0) & ~_has(subsets, v)
                if follows.any():
                    has_changed = True
                    subsets = np.where(follows, subsets | _bit(v), subsets)
                    costs = np.where(follows, costs + self.costs[v][0], costs)
        sizes = _popcount(subsets)
        for size in np.unique(sizes).tolist():
            waiting[size].append((subsets[sizes == size], costs[sizes == size]))


def _least_of_each(layer: Sequence[tuple[Subsets, Units]]) -> tuple[Subsets, Units]:
    """Return each subset once, with its least cost."""
    if not layer:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    subsets = np.concatenate([part for part, _ in layer])
    costs = np.concatenate([part for _, part in layer])
    order = np.lexsort((costs, subsets))
    different, first = np.unique(subsets[order], return_index=True)
    return different, costs[order][first]


def _mask(members: Sequence[int]) -> int:
    return sum(1 << v for v in members)


def _bit(v: int) -> np.uint64:
    return np.uint64(1 << v)


def _has(subsets: Subsets, v: int) -> NDArray[np.bool_]:
    has: NDArray[np.bool_] = (subsets & _bit(v)) != 0
    return has


def _popcount(words: Subsets) -> Units:
    """Count the ones of each word, in pairs, fours, bytes."""
    words = words - ((words >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    words = (words & pairs) + ((words >> np.uint64(2)) & pairs)
    words = (words + (words >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    counts: Units = ((words * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64)
    return counts
