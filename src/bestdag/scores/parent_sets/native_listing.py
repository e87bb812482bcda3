"""Candidate parent sets listed by the native twin of a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.flat import flat_groups, joined_groups
from bestdag.scores.parent_sets.limits import ParentLimits

__all__ = ["CandidateSets", "NativeListing"]

_Sets = tuple[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateSets:
    """What is listed of the candidate parent sets, in flat arrays.

    Attributes
    ----------
    arrays : tuple
        (first_sets, scores, offsets, members).
    n_scored : int
        Families scored.
    is_complete : array of bool
        For each child, whether all its sets are listed.
    open_arrays : tuple
        Sets with upper bounds in place of scores: every set of a child that is neither listed nor
        dominated contains one of them and scores no more than its bound.
    is_bounded : array of bool
        For each child, whether that is so; False where nothing is known of what is not listed.
    """

    arrays: _Sets
    n_scored: int
    is_complete: npt.NDArray[np.bool_]
    open_arrays: _Sets
    is_bounded: npt.NDArray[np.bool_]


class NativeListing:
    """Candidate parent sets of every child, by a native kernel, listed bit by bit.

    Parameters
    ----------
    table : _core.Table
        The columns in name order.
    kernel : _core.Kernel
    limits : sequence of ParentLimits
        One for each variable, in name order.
    prune : bool
        Leave out every set that scores no more than one of its subsets.
    margin : float
        Where it is positive, only those that a subset beats by more than this.
    threads : int
    """

    def __init__(
        self,
        table: _core.Table,
        kernel: _core.Kernel,
        limits: Sequence[ParentLimits],
        *,
        prune: bool,
        margin: float,
        threads: int,
    ) -> None:
        self._threads = threads
        self._native = _core.CandidateListing(
            table,
            kernel,
            *flat_groups([limit.required for limit in limits]),
            *joined_groups([limit.allowed for limit in limits]),
            _bonuses(limits),
            np.array([limit.max_parents for limit in limits], np.int64),
            np.array([limit.bonus for limit in limits], np.float64),
            prune,
            margin,
        )

    def run(self, *, seconds: float, max_bytes: float, stops_at_memory: bool) -> None:
        """Go on for so long, or until all is listed; limits may be infinite.

        Every child gets its smallest set, however little time there is. Where memory runs out,
        the child at hand is ended as it is, or `_core.TooManySetsError` is raised.
        """
        self._native.run(seconds, max_bytes, stops_at_memory, self._threads)

    @property
    def n_bytes(self) -> int:
        """Memory taken so far."""
        return self._native.n_bytes

    @property
    def is_full(self) -> bool:
        """Whether memory ended the listing of a child."""
        return self._native.is_full

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to go on with."""
        return self._native.is_over

    def result(self, *, most_open: int, finish: bool) -> CandidateSets:
        """Return what there is, with so many open sets at most; `finish` empties the listing."""
        found, n_scored, is_complete, open_sets, is_bounded = self._native.result(
            most_open, finish, self._threads
        )
        return CandidateSets(
            found,
            int(n_scored.sum()),
            is_complete.astype(np.bool_),
            open_sets,
            is_bounded.astype(np.bool_),
        )


def _bonuses(limits: Sequence[ParentLimits]) -> npt.NDArray[np.float64]:
    """Return those of all allowed parents; nothing where they are all zero."""
    if not any(limit.bonuses.any() for limit in limits):
        return np.zeros(0)
    return np.concatenate(
        [limit.bonuses if len(limit.bonuses) else np.zeros(len(limit.allowed)) for limit in limits]
    )
