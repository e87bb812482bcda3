"""Score tables of scores that only Python can work out: any score, any prior over structures."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from bestdag.counts.engine import ParentLimits
from bestdag.errors import InvalidParameterError
from bestdag.graph._names import show
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["build_in_python", "require_sets"]

# Families scored at a time: enough to share the way into native code, and to look at the clock.
_BATCH = 2048

_Set = tuple[int, ...]


def build_in_python(
    scorer: Scorer,
    names: Sequence[str],
    limits: Sequence[ParentLimits],
    *,
    prune: bool,
    time_limit: float | None,
) -> ScoreTable:
    """Score every set within the limits; prune by comparing each with its subsets.

    All sets are scored, smaller ones first for every child, because nothing is known about the
    sets that contain a given one. A family whose score is minus infinity (a prior may forbid it)
    is left out.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    searches = [_Child(i, limit) for i, limit in enumerate(limits)]
    n_scored = 0
    for size, family in _batches(searches):
        if size > 0 and time.monotonic() >= deadline:
            break
        scores = scorer.families(
            [(names[search.child], [names[p] for p in parents]) for search, parents in family]
        )
        n_scored += len(family)
        for (search, parents), score in zip(family, scores.tolist(), strict=True):
            search.add(parents, score, prune=prune)
    complete = n_scored == sum(search.n_sets for search in searches)
    if complete:
        require_sets(names, [len(search.kept) for search in searches])
    return ScoreTable(
        names, [search.result() for search in searches], complete=complete, n_scored=n_scored
    )


def require_sets(names: Sequence[str], n_sets: Sequence[int]) -> None:
    """Refuse a child that no parent set is left for."""
    for name, n in zip(names, n_sets, strict=True):
        if n == 0:
            raise InvalidParameterError(
                f"score table: every parent set of {show(name)} scores minus infinity; the score "
                "or the prior over structures forbids them all"
            )


class _Child:
    """The sets of one child found so far."""

    def __init__(self, child: int, limit: ParentLimits) -> None:
        self.child = child
        self.limit = limit
        self.kept: dict[_Set, float] = {}
        self._best: dict[_Set, float] = {}  # over each set and its subsets
        self.max_chosen = limit.max_parents - len(limit.required)
        self.n_sets = sum(math.comb(len(limit.allowed), k) for k in range(self.max_chosen + 1))

    def sets(self, n_chosen: int) -> Iterator[_Set]:
        """Go through the sets with so many parents that are not required."""
        for chosen in combinations(self.limit.allowed, n_chosen):
            yield tuple(sorted((*self.limit.required, *chosen)))

    def add(self, parents: _Set, score: float, *, prune: bool) -> None:
        if score != score:
            raise InvalidParameterError("score table: a score is not a number")
        if not prune:
            if score > -math.inf:
                self.kept[parents] = score
            return
        required = set(self.limit.required)
        best = max(
            (
                self._best[(*parents[:k], *parents[k + 1 :])]
                for k in range(len(parents))
                if parents[k] not in required
            ),
            default=-math.inf,
        )
        if score > best:
            self.kept[parents] = score
        if len(parents) < self.limit.max_parents:
            self._best[parents] = max(score, best)

    def result(self) -> ParentSets:
        return ParentSets.of(list(self.kept.values()), list(self.kept))


def _batches(searches: Sequence[_Child]) -> Iterator[tuple[int, list[tuple[_Child, _Set]]]]:
    """Go through all families by size, so that a set comes after its subsets."""
    for size in range(max((search.max_chosen for search in searches), default=0) + 1):
        families = (
            (search, parents)
            for search in searches
            if size <= search.max_chosen
            for parents in search.sets(size)
        )
        while batch := list(islice(families, _BATCH)):
            yield size, batch
