"""Scores in bulk, for searches."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

import numpy as np
import numpy.typing as npt

from bestdag.counts.provider import CountProvider
from bestdag.data.schema import Variable
from bestdag.machine import require_memory
from bestdag.scores.family_scores import Family, FamilyScores, parent_set
from bestdag.scores.parent_sets.enumeration import parent_sets
from bestdag.scores.prior import SparsePrior

__all__ = ["BulkScores"]

# Families that a score of the user's own gets between two looks at the clock.
_BETWEEN_LOOKS = 16
# Families that share a pass over rows which are not in memory.
_PER_PASS = 1 << 16


class BulkScores:
    """What searches ask a scorer for beyond its public methods: ``scorer.bulk``.

    Variables are known by number, their place in `variables`, where many are asked for; time
    limits hold within a call. Nothing here is meant for users: it changes as searches need it.

    Attributes
    ----------
    native : NativeScores or None
        The work of the native twin alone, without the prior over structures; None where the score
        has no twin.
    """

    def __init__(self, scores: FamilyScores) -> None:
        self._scores = scores
        self.native = scores.native
        self._together = _BETWEEN_LOOKS if scores.counts.provider is None else _PER_PASS

    @property
    def provider(self) -> CountProvider | None:
        """Who counts, where the rows are not in memory."""
        return self._scores.counts.provider

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in name order."""
        return self._scores.counts.variables

    def lacking_support(
        self, families: Iterable[tuple[str, frozenset[str]]]
    ) -> list[tuple[str, frozenset[str]]]:
        """Return those of the families that are not admissible, each once."""
        return self._scores.family_support.lacking(families)

    def refusals(self) -> AbstractContextManager[None]:
        """Let the score say why its native twin refused a family."""
        return self._scores.refusals()

    def numbered_changes(
        self,
        families: Sequence[tuple[int, Sequence[int]]],
        candidates: Sequence[npt.NDArray[np.int32]],
        time_limit: float = math.inf,
    ) -> list[npt.NDArray[np.float64]]:
        """Score `Scorer.additions` to several families in one call.

        What is not done after `time_limit` seconds is nan.
        """
        if self.native is None:
            end = time.monotonic() + time_limit
            pairs = zip(families, candidates, strict=True)
            return [self._changes_until(end, family, group) for family, group in pairs]
        with self.refusals():
            found = self.native.changes(families, candidates, time_limit)
        prior = self._scores.structure_prior
        if isinstance(prior, SparsePrior):
            pairs = zip(families, candidates, strict=True)
            sizes = [_sizes(child, parents, group) for (child, parents), group in pairs]
            return [one + prior.per_arc * size for one, size in zip(found, sizes, strict=True)]
        if prior is not None:
            changed = map(self._changed, families, candidates)
            found = list(map(self._scores.with_prior, found, changed))
        return found

    def _changes_until(
        self,
        end: float,
        family: tuple[int, Sequence[int]],
        candidates: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.float64]:
        found = np.full(len(candidates), math.nan)
        if time.monotonic() >= end:
            return found
        families = self._changed(family, candidates)
        for first in range(0, len(families), self._together):
            if time.monotonic() >= end:
                break
            some = slice(first, first + self._together)
            found[some] = self._scores.remembered(families[some])
        return found

    def _changed(
        self, family: tuple[int, Sequence[int]], candidates: npt.NDArray[np.int32]
    ) -> list[Family]:
        names = [v.name for v in self.variables]
        own, given = names[family[0]], frozenset(names[p] for p in family[1])
        return [(own, (given ^ {names[c]}) - {own}) for c in candidates.tolist()]

    def pair_scores(
        self,
        names: Sequence[str],
        given: Collection[str] = (),
        *,
        out: npt.NDArray[np.float64] | None = None,
        time_limit: float = math.inf,
    ) -> npt.NDArray[np.float64]:
        """Score each variable with each other one as its parent; each pair is counted once.

        Parameters
        ----------
        names : sequence of str
        given : collection of str
            Parents that every variable has; none of `names`.
        out : array, optional
            Filled instead of a new array: what is done before Ctrl-C is in it.
        time_limit : float
            Seconds; what is not done by then is nan.

        Returns
        -------
        array, n x n
            ``[i, j]`` is the score of variable j with the parents i and `given`, and ``[j, j]``
            that of variable j with the parents `given`.
        """
        n = len(names)
        require_memory("score", f"{n:,} x {n:,} scores", 16 * n * n, "use fewer variables")
        common = parent_set("each variable", given)
        scores = np.empty((n, n)) if out is None else out
        scores.fill(math.nan)
        if self.native is None:
            self._pair_scores_in_python(names, common, scores, time_limit)
            return scores
        priors = None
        prior = self._scores.structure_prior
        if isinstance(prior, SparsePrior):
            priors = np.full((n, n), prior.per_arc * (len(common) + 1))
            np.fill_diagonal(priors, prior.per_arc * len(common))
        elif prior is not None:
            priors = np.zeros((n, n))
            for i, one in enumerate(names):
                priors[i] = self._scores.with_prior(priors[i], _pairs_of(one, names, common))
        try:
            with self.refusals():
                self.native.pairs(names, common, scores, time_limit)
        finally:
            if priors is not None:
                scores += priors
        return scores

    def _pair_scores_in_python(
        self,
        names: Sequence[str],
        given: frozenset[str],
        out: npt.NDArray[np.float64],
        time_limit: float,
    ) -> None:
        end = time.monotonic() + time_limit
        step = max(1, self._together // max(1, len(names)))
        for first in range(0, len(names), step):
            if time.monotonic() >= end:
                return
            some = names[first : first + step]
            families = [family for name in some for family in _pairs_of(name, names, given)]
            out[first : first + step] = self._scores.computed(families).reshape(len(some), -1)

    def all_families(
        self, max_parents: int, seconds: float = math.inf
    ) -> dict[str, npt.NDArray[np.float64]] | None:
        """Score every family with at most `max_parents` parents: `Scorer.all_families`.

        None when that took longer than so many seconds.
        """
        end = time.monotonic() + seconds
        names = [v.name for v in self.variables]

        def families(child: str) -> Iterator[Family]:
            others = [name for name in names if name != child]
            return ((child, parents) for parents in parent_sets(others, max_parents))

        if self.native is None:
            found = {}
            for child in names:
                listed, parts = list(families(child)), []
                for first in range(0, len(listed), self._together):
                    if time.monotonic() >= end:
                        return None
                    parts.append(self._scores.computed(listed[first : first + self._together]))
                found[child] = np.concatenate(parts)
            return found
        with self.refusals():
            scores = self.native.all_families(max_parents, seconds)
        if scores is None:
            return None
        return {
            child: self._scores.with_prior(row, families(child))
            for child, row in zip(names, scores, strict=True)
        }

    def upper_bounds(self, families: Sequence[Family]) -> npt.NDArray[np.float64] | None:
        """Bound the scores of all families with more parents than each of these, without prior.

        By the score's own ``upper_bound(counts)``; None when it has none.
        """
        bound = getattr(self._scores.score, "upper_bound", None)
        if bound is None:
            return None
        return np.array([float(bound(counts)) for counts in self._scores.counts.count(families)])


def _sizes(
    child: int, parents: Sequence[int], candidates: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Return how many parents a family has after each candidate was added or dropped."""
    change = np.where(np.isin(candidates, np.array(parents, np.int32)), -1, 1)
    return len(parents) + np.where(candidates == child, 0, change)


def _pairs_of(parent: str, names: Sequence[str], given: frozenset[str]) -> Iterator[Family]:
    """List the families of `pair_scores` with this parent."""
    return ((name, given | {parent} if name != parent else given) for name in names)
