"""Local scores of families: by the native twin or the formula, with the prior, remembered."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.errors import GraphError, InvalidParameterError
from bestdag.machine import memory_left
from bestdag.scores.base import RefusingScore, Score, checked_value, kernel_for
from bestdag.scores.counted import CountedScores
from bestdag.scores.family_support import FamilySupport
from bestdag.scores.native import NativeScores
from bestdag.scores.prior import StructurePrior
from bestdag.scores.support import Support

__all__ = ["Family", "FamilyScores", "parent_set"]

# Scores are remembered up to so many bytes, and fewer where they would take more than this share of
# the memory there is, which is looked up once, when there are many. A full memory is emptied, never
# searched. Of a family, and of each of its parents in a set of names:
_MOST_BYTES, _ALWAYS_BYTES, _SHARE_OF_MEMORY = 8e8, 3e6, 0.1
_BYTES_PER_SCORE, _BYTES_PER_PARENT = 600, 110

Family = tuple[str, Collection[str]]
_Key = tuple[str, frozenset[str]]


class FamilyScores:
    """What `Scorer` and `BulkScores` share: one data set, one score, a prior, a limit of support.

    Attributes
    ----------
    native : NativeScores or None
        The bulk work of the native twin; None where the score has no twin.
    """

    def __init__(
        self,
        counts: CountingEngine,
        score: Score,
        structure_prior: StructurePrior | None,
        support: Support,
    ) -> None:
        self.counts = counts
        self.score = score
        self.structure_prior = structure_prior
        self.support = support
        kernel = kernel_for(score, counts.variables)
        if kernel is not None:
            kernel = support.kernel(kernel, counts.variables, counts.dataset.total_weight)
        self.native: NativeScores | None = None
        if kernel is not None:
            kind = NativeScores if counts.provider is None else CountedScores
            self.native = kind(counts, kernel)
        self._remembered: dict[_Key, float] = {}
        self._n_bytes, self._most_bytes = 0.0, _ALWAYS_BYTES  # of what is remembered

    def remembered(self, families: Iterable[Family]) -> npt.NDArray[np.float64]:
        """Score families; those that are new in one native call."""
        keys = [(child, parent_set(child, parents)) for child, parents in families]
        new = [key for key in dict.fromkeys(keys) if key not in self._remembered]
        if new:
            n_bytes = _bytes_of(new)
            if self._n_bytes + n_bytes > self._most_bytes == _ALWAYS_BYTES:  # looked up once
                room = self._n_bytes + _SHARE_OF_MEMORY * memory_left()
                self._most_bytes = min(_MOST_BYTES, room)
            if self._n_bytes + n_bytes > self._most_bytes:
                self._remembered.clear()
                self._n_bytes = 0
                new = list(dict.fromkeys(keys))
                n_bytes = _bytes_of(new)
            self._n_bytes += n_bytes
            self._remembered.update(zip(new, self.computed(new).tolist(), strict=True))
        return np.array([self._remembered[key] for key in keys], dtype=np.float64)

    def computed(self, families: Sequence[Family]) -> npt.NDArray[np.float64]:
        """Score families without remembering them."""
        if self.native is not None:
            with self.refusals():
                scores = self.native.families(families)
        else:
            counted = self.counts.count(families)
            scores = np.array([self._by_formula(counts) for counts in counted])
        return self.with_prior(scores, families)

    @cached_property
    def family_support(self) -> FamilySupport:
        """Which families have support, whatever the score."""
        return FamilySupport(self.counts, self.support)

    def _by_formula(self, counts: FamilyCounts) -> float:
        """Score one family; minus infinity where it lacks support."""
        if self.support and not self.support.has(counts, self.counts.dataset.total_weight):
            return -math.inf
        return checked_value(self.score, counts)

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Let the score say why its native twin refused a family."""
        try:
            yield
        except _core.RefusedFamilyError as error:
            child, parents, n_bytes = error.args
        else:
            return
        assert isinstance(self.score, RefusingScore)
        variables = self.counts.variables
        given = [variables[parent] for parent in parents]
        self.score.refuse(variables[child], given, n_bytes)

    def with_prior(
        self, scores: npt.NDArray[np.float64], families: Iterable[Family]
    ) -> npt.NDArray[np.float64]:
        """Add the logarithm of the prior over structures, if there is one."""
        if self.structure_prior is None:
            return scores
        return scores + [self.log_prior(child, frozenset(parents)) for child, parents in families]

    def log_prior(self, child: str, parents: frozenset[str]) -> float:
        """Return what the prior over structures adds to a family; there must be one."""
        assert self.structure_prior is not None
        value = self.structure_prior.family(child, parents)
        if not value < math.inf:  # nan too
            raise InvalidParameterError(
                f"structure prior: the logarithm for {child!r} given {sorted(parents)} must be a "
                f"number below infinity, got {value!r}"
            )
        return value


def _bytes_of(keys: Sequence[_Key]) -> float:
    return float(sum(_BYTES_PER_SCORE + _BYTES_PER_PARENT * len(parents) for _, parents in keys))


def parent_set(child: str, parents: Collection[str]) -> frozenset[str]:
    """Return the parents as a set; a text is refused, which is a collection of letters."""
    if isinstance(parents, str):
        raise GraphError(
            f"family of {child!r}: parents must be a list of names, got the text {parents!r}"
        )
    return frozenset(parents)
