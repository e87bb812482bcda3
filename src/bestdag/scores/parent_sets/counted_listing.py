"""Parent sets listed level by level, where counts come from elsewhere: a batch for each level."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from bestdag.counts.flat import flat_groups
from bestdag.errors import InvalidParameterError
from bestdag.scores.counted import CountedScores
from bestdag.scores.parent_sets.limits import ParentLimits
from bestdag.scores.parent_sets.python_listing import require_sets, too_many_sets
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["CountedListing"]

# Families counted in one batch, at most; with a time limit, the first one, and so many seconds.
_MOST_TOGETHER, _FEW, _SECONDS_PER_BATCH = 1 << 17, 256, 0.5
# Of a set that is scored, in the lists it may be in; and of each of its members.
_BYTES_PER_SET, _BYTES_PER_MEMBER = 450, 8
# More open sets than this are covered by one.
_MOST_OPEN = 2_000
# Rounding in a bound, of N ln N.
_RELATIVE_SLACK = 1e-13

_Set = tuple[int, ...]


class CountedListing:
    """Candidate parent sets by size, each level of all children in as few passes as possible.

    A set is scored only if all its subsets with one parent less are open: their bounds say that a
    larger set may score more than what they have.

    Parameters
    ----------
    scorer : Scorer
        Over a provider of counts; its prior, if any, is a sum over arcs.
    names : sequence of str
    limits : sequence of ParentLimits
        With the terms of the prior.
    prune, margin
        As for `ParentSetListing`.
    """

    def __init__(
        self,
        scorer: Scorer,
        names: Sequence[str],
        limits: Sequence[ParentLimits],
        *,
        prune: bool,
        margin: float,
    ) -> None:
        twin = scorer.bulk.native
        assert isinstance(twin, CountedScores)
        self._twin = twin
        self._scorer = scorer
        self._names = names
        n = float(scorer.dataset.total_weight)
        slack = _RELATIVE_SLACK * n * math.log(n + 2.0) + margin
        arities = [v.arity for v in scorer.variables]
        self._children = [
            _Child(
                i,
                limit,
                arities,
                prune=prune,
                margin=margin,
                slack=slack,
                has_support=bool(scorer.support),
            )
            for i, limit in enumerate(limits)
        ]
        self._n_together = _FEW
        self._level: Iterator[_Wanted] = iter(())
        self._waiting: deque[_Wanted] = deque()
        self._begin_level()
        self.n_bytes = 0  # memory taken so far
        self.is_full = False  # whether memory ended it

    @property
    def is_over(self) -> bool:
        """Whether every set is scored or closed, or memory ran out."""
        return self.is_full or not self._waiting

    def run(self, seconds: float, max_bytes: float, *, anytime: bool) -> None:
        """Go on for so long; every child gets its smallest set."""
        deadline = time.monotonic() + seconds
        while self._waiting:
            size = self._waiting[0].child.size
            left = math.inf if size == 0 else deadline - time.monotonic()
            if left <= 0 or (self.is_full and size > 0) or not self._score(left):
                return
            if math.isinf(seconds):
                self._n_together = _MOST_TOGETHER
            self._refill()
            self.is_full = self.n_bytes > max_bytes
            if self.is_full and not anytime:
                raise too_many_sets(size, max_bytes)

    def table(self) -> ScoreTable:
        """Return what is listed."""
        children = self._children
        complete = not self._waiting
        if complete:
            require_sets(self._names, [len(child.kept) for child in children])
        return ScoreTable(
            self._names,
            [ParentSets.of(list(c.kept.values()), list(c.kept)) for c in children],
            complete=complete,
            n_scored=sum(child.n_scored for child in children),
            open_sets=None if complete else [c.open_sets() for c in children],
        )

    def _score(self, seconds: float) -> bool:
        """Score what waits; False when time ran out before all was."""
        start = time.monotonic()
        batch = list(self._waiting)
        arrays = (
            np.array([wanted.child.number for wanted in batch], np.int32),
            *flat_groups([wanted.parents for wanted in batch]),
        )
        growth = np.array([wanted.child.growth for wanted in batch])
        bounds = np.full(len(batch), math.inf)
        with self._scorer.bulk.refusals():
            scores = self._twin.numbered(arrays, time_limit=seconds, growth=growth, bounds=bounds)
        is_late = time.monotonic() - start >= seconds
        values = zip(batch, scores.tolist(), bounds.tolist(), strict=True)
        for wanted, score, bound in values:
            if score != score:
                if is_late:
                    return False
                raise InvalidParameterError("score table: a score is not a number")
            wanted.child.add(wanted, score, bound)
            self._waiting.popleft()  # so that an interrupt leaves nothing to be done twice
            self.n_bytes += _BYTES_PER_SET + _BYTES_PER_MEMBER * len(wanted.parents)
        took = max(time.monotonic() - start, 1e-9)
        n = self._n_together * min(8.0, _SECONDS_PER_BATCH / took)
        self._n_together = int(min(max(n, _FEW), _MOST_TOGETHER))
        return True

    def _refill(self) -> None:
        """Take the next sets of this level, or of the next when all of it is scored."""
        self._waiting = deque(islice(self._level, self._n_together))
        while not self._waiting:
            n_growing = sum(child.grow() for child in self._children)
            if n_growing == 0:
                return
            self._begin_level()

    def _begin_level(self) -> None:
        self._level = (wanted for child in self._children for wanted in child.wanted())
        self._waiting = deque(islice(self._level, max(len(self._names), self._n_together)))


class _Wanted(NamedTuple):
    """A set to be scored."""

    child: _Child
    chosen: _Set  # places among the child's candidates
    parents: list[int]
    best: float  # score of a subset
    bound: float  # the least of the subsets' bounds


class _Child:
    """The sets of one child: those that are kept, and the open ones of the last level."""

    def __init__(
        self,
        number: int,
        limit: ParentLimits,
        arities: Sequence[int],
        *,
        prune: bool,
        margin: float,
        slack: float,
        has_support: bool,
    ) -> None:
        self.number = number
        self._has_support = has_support
        self._limit = limit
        self._candidates = limit.allowed.tolist()
        self._bonuses = limit.bonuses.tolist() or [0.0] * len(self._candidates)
        self._positive = math.fsum(max(0.0, bonus) for bonus in self._bonuses)
        self._most = min(len(self._candidates), limit.max_parents - len(limit.required))
        self._prune, self._margin, self._slack = prune, margin, slack
        self.growth = float(min((arities[p] for p in self._candidates), default=1))
        self.size = 0  # of the sets that are scored now, without the required parents
        self.kept: dict[tuple[int, ...], float] = {}
        self.n_scored = 0
        self._open: dict[_Set, tuple[float, float]] = {}  # one smaller: best score, bound
        self._next: dict[_Set, tuple[float, float]] = {}
        self._is_done = False

    def wanted(self) -> Iterator[_Wanted]:
        """Go through the sets of this level, all of whose subsets are open."""
        if self._is_done:
            return
        if self.size == 0:
            yield self._made((), -math.inf, math.inf)
            return
        lasts: dict[_Set, list[int]] = {}
        if self.size == 1:
            lasts[()] = list(range(len(self._candidates)))
        for chosen in self._open if self.size > 1 else ():
            lasts.setdefault(chosen[:-1], []).append(chosen[-1])
        for prefix, members in lasts.items():
            members.sort()
            pairs = ((m,) for m in members) if self.size == 1 else combinations(members, 2)
            for pair in pairs:
                chosen = (*prefix, *pair)
                values = [self._open.get(chosen[:k] + chosen[k + 1 :]) for k in range(len(chosen))]
                if None in values:
                    continue
                best = max(value[0] for value in values if value)
                bound = min(value[1] for value in values if value)
                if not self._prune or bound + self._slack > best:
                    yield self._made(chosen, best, bound)

    def _made(self, chosen: _Set, best: float, bound: float) -> _Wanted:
        return _Wanted(self, chosen, self._parents(chosen), best, bound)

    def _parents(self, chosen: _Set) -> list[int]:
        return sorted([*self._limit.required, *(self._candidates[k] for k in chosen)])

    def add(self, wanted: _Wanted, score: float, bound: float) -> None:
        """Take the score of a set and the bound of those that contain it, without the prior."""
        self.n_scored += 1
        if score == -math.inf and self._has_support:  # so do all that contain it
            return
        terms = [self._bonuses[k] for k in wanted.chosen]
        score += self._limit.bonus + sum(terms)
        is_kept = score > -math.inf
        if self._prune and self._margin > 0:
            is_kept = is_kept and score + self._margin >= wanted.best
        elif self._prune:
            is_kept = score > wanted.best
        if is_kept:
            self.kept[tuple(wanted.parents)] = score
        if self.size >= self._most:
            return
        left = self._positive - math.fsum(max(0.0, term) for term in terms)
        bound += self._limit.bonus + sum(terms) + max(0.0, left)
        bound = min(bound, wanted.bound)
        best = max(score, wanted.best)
        if not self._prune or bound + self._slack > best:
            self._next[wanted.chosen] = (best, bound)

    def grow(self) -> bool:
        """Go on to the next level; whether there is one."""
        self._open, self._next = self._next, {}
        self._is_done = not self._open
        self.size += 1
        return not self._is_done

    def open_sets(self) -> ParentSets | None:
        """Cover what is not scored yet; None when its bound is none."""
        if self._is_done:
            return ParentSets.of([], [])
        bounds = {chosen: bound for chosen, (_, bound) in self._open.items() if bound > -math.inf}
        if any(bound == math.inf for bound in bounds.values()) or (self.size <= 1 and not bounds):
            return None
        if len(bounds) > _MOST_OPEN:
            bounds = {(): max(bounds.values())}
        return ParentSets.of(list(bounds.values()), [self._parents(c) for c in bounds])
