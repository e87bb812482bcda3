"""Parent sets listed in Python: for any score and any prior over structures."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, islice

from bestdag.errors import InvalidParameterError, NotEnoughMemoryError
from bestdag.graph._names import show
from bestdag.machine import readable_size
from bestdag.progress import OutOfTimeError, until
from bestdag.scores.parent_sets.limits import ParentLimits
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["PythonListing", "require_sets", "too_many_sets"]

# Families scored at a time: enough to share the way into native code, and few enough to look at
# the clock every so many seconds.
_FEW, _MANY, _SECONDS_PER_BATCH = 16, 2048, 0.02
# Where rows are not in memory: families that share a pass.
_PER_PASS = 1 << 15

# Of a set that is scored, in the two lists it may be in; and of each of its members.
_BYTES_PER_SET, _BYTES_PER_MEMBER = 350, 8

_Set = tuple[int, ...]


class PythonListing:
    """Scores every set within the limits; prunes by comparing each with its subsets.

    All sets are scored, smaller ones first for every child, because nothing is known about the
    sets that contain a given one. A family whose score is minus infinity (a prior may forbid it)
    is left out.

    Parameters
    ----------
    scorer, names, limits, prune, margin
        As for `ParentSetListing`.
    bonuses : sequence of float or None
        The most that the prior over structures adds to a family of each child, if that is known.
    """

    def __init__(
        self,
        scorer: Scorer,
        names: Sequence[str],
        limits: Sequence[ParentLimits],
        *,
        prune: bool,
        margin: float,
        bonuses: Sequence[float] | None,
    ) -> None:
        self._scorer = scorer
        self._is_one_pass = scorer.bulk.provider is not None
        self._names = names
        self._prune = prune
        self._margin = margin
        self._bonuses = bonuses
        self._children = [_Child(i, limit) for i, limit in enumerate(limits)]
        self._families = _by_size(self._children)
        self._next: deque[_Sized] = deque(islice(self._families, _FEW))
        self._bounds: list[float] | None = None
        self._n_together = _FEW
        self.n_bytes = 0  # memory taken so far
        self.is_full = False  # whether memory ended it

    @property
    def is_over(self) -> bool:
        """Whether every set is scored, or memory ran out."""
        return self.is_full or not self._next

    def run(self, seconds: float, max_bytes: float, *, anytime: bool) -> None:
        """Go on for so long; every child gets its smallest set."""
        deadline = time.monotonic() + seconds
        if self._bounds is None and self._bonuses is not None:
            self._bounds = self._upper_bounds(self._bonuses)
        while self._next:
            start = time.monotonic()
            size = self._next[0][0]
            if size > 0 and (start >= deadline or self.is_full):
                return
            batch = [(child, parents) for _, child, parents in self._next]
            families = [
                (self._names[c.child], [self._names[p] for p in parents]) for c, parents in batch
            ]
            try:
                with until(deadline if size > 0 and self._is_one_pass else math.inf):
                    scores = self._scorer.families(families)
            except OutOfTimeError:
                return
            for (child, parents), score in zip(batch, scores.tolist(), strict=True):
                child.add(parents, score, prune=self._prune, margin=self._margin)
                self._next.popleft()  # so that an interrupt leaves nothing to be done twice
                self.n_bytes += _BYTES_PER_SET + _BYTES_PER_MEMBER * len(parents)
            took = max(time.monotonic() - start, 1e-9)
            self._n_together = int(self._n_together * min(2.0, _SECONDS_PER_BATCH / took))
            self._n_together = min(max(self._n_together, _FEW), _MANY)
            if self._is_one_pass:
                self._n_together = _PER_PASS
            self._next = deque(islice(self._families, self._n_together))
            self.is_full = self.n_bytes > max_bytes
            if self.is_full and not anytime:
                raise too_many_sets(size, max_bytes)

    def _upper_bounds(self, bonuses: Sequence[float]) -> list[float] | None:
        """Bound all larger sets of each child, if the score can."""
        smallest = [
            (self._names[c.child], [self._names[p] for p in c.limit.required])
            for c in self._children
        ]
        bounds = self._scorer.bulk.upper_bounds(smallest)
        if bounds is None:
            return None
        return [bound + bonus for bound, bonus in zip(bounds.tolist(), bonuses, strict=True)]

    def table(self) -> ScoreTable:
        """Return what is listed."""
        children = self._children
        complete = all(child.is_complete for child in children)
        if complete:
            require_sets(self._names, [len(child.kept) for child in children])
        open_sets: list[ParentSets | None] | None = None
        if self._bounds is not None:
            open_sets = [
                child.open_set(bound) for child, bound in zip(children, self._bounds, strict=True)
            ]
        return ScoreTable(
            self._names,
            [child.result() for child in children],
            complete=complete,
            n_scored=sum(child.n_scored for child in children),
            open_sets=open_sets,
        )


def too_many_sets(size: int, max_bytes: float) -> NotEnoughMemoryError:
    """Say that the sets of this size do not fit."""
    what = f"score table: the sets of {size} parents need more than {readable_size(max_bytes)}"
    fewer = max(0, size - 1)
    return NotEnoughMemoryError(f"{what}; set max_parents to {fewer} or less").with_option(
        f"{what}; pass --max-parents {fewer} or less"
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
        self.n_scored = 0

    @property
    def is_complete(self) -> bool:
        """Whether every set is scored."""
        return self.n_scored == _n_sets(len(self.limit.allowed), self.max_chosen)

    def sets(self, n_chosen: int) -> Iterator[_Set]:
        """Go through the sets with so many parents that are not required."""
        for chosen in combinations(self.limit.allowed.tolist(), n_chosen):
            yield tuple(sorted((*self.limit.required, *chosen)))

    def add(self, parents: _Set, score: float, *, prune: bool, margin: float) -> None:
        self.n_scored += 1
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
        if score > best or (margin > 0 and score >= best - margin and score > -math.inf):
            self.kept[parents] = score
        if len(parents) < self.limit.max_parents:
            self._best[parents] = max(score, best)

    def result(self) -> ParentSets:
        return ParentSets.of(list(self.kept.values()), list(self.kept))

    def open_set(self, bound: float) -> ParentSets | None:
        """Cover what is not scored by the smallest set; None when its bound is none."""
        if self.is_complete:
            return ParentSets.of([], [])
        return ParentSets.of([bound], [self.limit.required]) if math.isfinite(bound) else None


@cache
def _n_sets(n: int, most: int) -> int:
    if most >= n:
        return 1 << n
    return sum(math.comb(n, k) for k in range(most + 1))


_Sized = tuple[int, _Child, _Set]


def _by_size(children: Sequence[_Child]) -> Iterator[_Sized]:
    """Go through all families by size, so that a set comes after its subsets."""
    for size in range(max((child.max_chosen for child in children), default=0) + 1):
        for child in children:
            if size <= child.max_chosen:
                for parents in child.sets(size):
                    yield size, child, parents
