"""Small parent sets, listed for some variables at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.table import ParentSets

__all__ = ["Candidates", "Limits", "with_set"]

# Sets up to this size are listed for every choice of promising parents.
_LISTED_SIZE = 3
# Without a native twin a score takes so many times longer.
_PYTHON_FACTOR = 100
# Sets scored in one portion, times rows (at least so many): a fraction of a second.
_SETS_TIMES_ROWS, _LEAST_ROWS = 2.5e9, 4000


class Limits(NamedTuple):
    """What single families must keep to, over the variables in name order."""

    allowed: npt.NDArray[np.bool_]  # [parent, child]
    required: npt.NDArray[np.bool_]
    max_parents: npt.NDArray[np.int32]


class Candidates:
    """All sets of at most three of the most promising parents, portion by portion.

    Parameters
    ----------
    scorer : LocalScores
    limits : Limits
    budget : int
        About so many sets are scored in all: as many parents are promising as that allows.
    """

    def __init__(self, scorer: LocalScores, limits: Limits, budget: int) -> None:
        self.names = list(scorer.names)
        self._scorer = scorer
        self._allowed = [np.flatnonzero(c).astype(np.int32) for c in limits.allowed.T]
        self._required = [frozenset(np.flatnonzero(c).tolist()) for c in limits.required.T]
        self._most = limits.max_parents.tolist()
        self._size = min(_LISTED_SIZE, max(self._most, default=0))
        factor = _PYTHON_FACTOR if scorer.native is None else 1
        self.n_promising = self._affordable_parents(max(1, budget // factor))
        at_once = _SETS_TIMES_ROWS / factor / max(_LEAST_ROWS, scorer.n_rows)
        self._step = max(1, int(at_once / _n_sets(self.n_promising, self._size)))
        self._next = 0

    @property
    def n_sets(self) -> int:
        """How many sets there are to list, about."""
        return len(self.names) * _n_sets(self.n_promising, self._size)

    @property
    def n_listed(self) -> int:
        """For how many variables sets have been listed."""
        return min(self._next, len(self.names))

    @property
    def is_done(self) -> bool:
        """Whether the sets of every variable have been listed."""
        return self._next >= len(self.names)

    def list_next(self, seconds_left: float) -> dict[int, ParentSets]:
        """List the sets of the next variables, by their numbers; fewer when time is short."""
        children = range(self._next, min(self._next + self._step, len(self.names)))
        self._next = children.stop
        promising = self._promising(children)
        required = {v: self._named(r) for v, r in zip(self.names, self._required, strict=True)}
        limits, candidates = {v: len(r) for v, r in required.items()}, dict(required)
        for child in children:
            name = self.names[child]
            limits[name] = min(self._size + len(required[name]), self._most[child])
            candidates[name] = promising[child]
        table = build_score_table(
            self._scorer,
            max_parents=limits,
            candidates=candidates,
            required=required,
            time_limit=None if math.isinf(seconds_left) else max(seconds_left, 1e-3),
        )
        return {child: table.child(child) for child in children}

    def _named(self, numbers: Iterable[int]) -> list[str]:
        return [self.names[p] for p in sorted(map(int, numbers))]

    def _affordable_parents(self, budget: int) -> int:
        """Return among how many parents all sets of this size can be listed for every child."""
        n = len(self.names)
        m = min(self._size, n - 1)
        while m < n - 1 and n * _n_sets(m + 1, self._size) <= budget:
            m += 1
        return m

    def _promising(self, children: Iterable[int]) -> dict[int, list[str]]:
        """For each child the parents that gain most on their own, and the required ones."""
        found = {}
        roots = [(v, tuple(sorted(self._required[v]))) for v in children]
        allowed = [self._allowed[v] for v, _ in roots]
        for (v, given), scores in zip(
            roots, self._scorer.numbered_changes(roots, allowed), strict=True
        ):
            gain = np.where(np.isin(self._allowed[v], given), -np.inf, scores)
            best = np.argsort(-gain, kind="stable")[: self.n_promising]
            found[v] = self._named({*self._allowed[v][best].tolist(), *given})
        return found


def _n_sets(n: int, size: int) -> int:
    return sum(math.comb(n, k) for k in range(size + 1))


def with_set(sets: ParentSets, score: float, parents: Sequence[int]) -> ParentSets:
    """Put in one more set, at its place."""
    if not math.isfinite(score):
        return sets
    place = int(np.searchsorted(-sets.scores, -score, side="right"))
    at = int(sets.offsets[place])
    ends = np.insert(sets.offsets[1:], place, at) + len(parents) * (
        np.arange(len(sets.scores) + 1) >= place
    )
    return ParentSets(
        np.insert(sets.scores, place, score),
        np.concatenate([[0], ends]).astype(np.int64),
        np.insert(sets.members, at, np.array(parents, np.int32)).astype(np.int32),
    )
