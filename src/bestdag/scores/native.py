"""Local scores by the native twin of a score, many in one call."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine, FamilyArrays
from bestdag.counts.flat import flat_groups, group_ends
from bestdag.errors import DataError
from bestdag.machine import require_memory
from bestdag.scores.parent_sets.enumeration import n_parent_sets
from bestdag.scores.parent_sets.limits import ParentLimits
from bestdag.scores.parent_sets.native_listing import NativeListing

__all__ = ["NativeScores"]

_NONE = np.empty(0, np.int32)


class NativeScores:
    """Scores families of one data set by a kernel; knows no prior and remembers nothing.

    Counting and scoring are one here: rows are in memory. `CountedScores` has the same methods
    where they are not.

    Parameters
    ----------
    counts : CountingEngine
        The data.
    kernel : _core.Kernel
        The native twin of a score.
    """

    # Whether families that are asked for in one call share passes over the rows.
    shares_passes: ClassVar[bool] = False

    def __init__(self, counts: CountingEngine, kernel: _core.Kernel) -> None:
        self._counts = counts
        self._kernel = kernel
        self._threads = counts.threads

    @property
    def _table(self) -> _core.Table:
        return self._counts.table

    @property
    def change_source(self) -> Any:
        """What the order search takes scores of changes from."""
        return self.change_scorers

    def families(self, families: Iterable[tuple[str, Collection[str]]]) -> npt.NDArray[np.float64]:
        """Score families, each given as (child, parents)."""
        arrays = self._counts.encode(families)
        scores = np.empty(len(arrays[0]))
        _core.score_families(self._table, self._kernel, *arrays, scores, threads=self._threads)
        if not np.isfinite(scores).all():
            self._require_countable_parents(arrays)
        return scores

    def changes(
        self,
        families: Sequence[tuple[int, Sequence[int]]],
        candidates: Sequence[npt.NDArray[np.int32]],
        time_limit: float = math.inf,
    ) -> list[npt.NDArray[np.float64]]:
        """Score families after adding each candidate to the parents, or dropping it from them.

        Variables are numbers in name order, parents ascending. Each family has candidates of its
        own; one that is the child itself leaves the family as it is. What is not done after
        `time_limit` seconds is nan.
        """
        children = np.array([child for child, _ in families], np.int32)
        offsets, parents = flat_groups([parents for _, parents in families])
        ends = group_ends(candidates)
        members = candidates[0] if len(candidates) == 1 else np.concatenate([_NONE, *candidates])
        scores = np.full(len(members), math.nan)
        self.change_scorers.score(
            children, offsets, parents, ends, members, scores, self._threads, time_limit
        )
        return [scores[a:b] for a, b in itertools.pairwise(ends.tolist())]

    @cached_property
    def change_scorers(self) -> _core.ChangeScorers:
        """What scores changes of families, call after call."""
        return _core.ChangeScorers(self._table, self._kernel)

    def all_families(
        self, max_parents: int, seconds: float = math.inf
    ) -> npt.NDArray[np.float64] | None:
        """Score every family with at most `max_parents` parents; None when out of time.

        Row i belongs to the i-th variable by name; the columns are the sets of the other
        variables in the order of `parent_sets`.
        """
        n_variables = len(self._counts.variables)
        n_sets = n_parent_sets(n_variables, max_parents)
        n_families = n_variables * n_sets
        require_memory(
            "score", f"a list of {n_families:,} families", 8 * n_families, "use fewer parents"
        )
        scores = np.empty((n_variables, n_sets))
        is_done = _core.score_all_families(
            self._table,
            self._kernel,
            max_parents,
            scores.reshape(-1),
            threads=self._threads,
            seconds=seconds,
        )
        return scores if is_done else None

    def pairs(
        self,
        names: Sequence[str],
        given: Collection[str],
        out: npt.NDArray[np.float64],
        seconds: float,
    ) -> None:
        """Score variables given each other: `BulkScores.pair_scores` says more."""
        number = self._counts.number
        columns = np.array([number(name) for name in names], np.int32)
        common = np.array(sorted(number(name) for name in given), np.int32)
        _core.score_pairs(
            self._table,
            self._kernel,
            common,
            columns,
            seconds,
            out,
            threads=self._threads,
        )

    def candidate_listing(
        self, limits: Sequence[ParentLimits], *, prune: bool, margin: float
    ) -> NativeListing | None:
        """Begin to list candidate parent sets of every child; None where Python must do it."""
        return NativeListing(
            self._table,
            self._kernel,
            limits,
            prune=prune,
            margin=margin,
            threads=self._threads,
        )

    def total_cap(self) -> float:
        """Return what no network's score exceeds; infinite where nothing is known.

        The likelihood of any network is no more than that of the joint distribution in which each
        row is as likely as it is frequent.
        """
        return float(_core.total_cap(self._table, self._kernel))

    def forecast_every_set(self, *, leave_out: bool) -> tuple[float, float] | None:
        """Bytes and steps of `every_set` and a program over it; None where it is not possible."""
        return _core.forecast_every_set(self._table, self._kernel, leave_out, self._threads)

    def has_set_form(self) -> bool:
        """Whether `every_set` is possible, whatever it takes."""
        return _core.has_set_form(self._table, self._kernel)

    def every_set(self) -> _core.EverySet:
        """Values of all sets of columns, from which every local score comes; not yet computed.

        Needs a forecast that is not None, or `has_set_form`.
        """
        return _core.EverySet(self._table, self._kernel)

    def scores_of_every_set(
        self, seconds: float = math.inf
    ) -> Iterator[npt.NDArray[np.float64]] | None:
        """Score every family, variable after variable in name order; needs a forecast as above.

        Sets of the others are numbered by their bits, one for each other variable in name order.
        None when the values of all sets took longer than so many seconds.
        """
        sets = self.every_set()
        if not sets.compute(False, self._threads, seconds, None):
            return None
        return self._scores_from(sets)

    def _scores_from(self, sets: _core.EverySet) -> Iterator[npt.NDArray[np.float64]]:
        n = len(self._counts.variables)
        everybody = (1 << n) - 1
        program = _core.EverySetProgram(
            sets,
            np.zeros(n, np.uint64),
            np.array([everybody & ~(1 << v) for v in range(n)], np.uint64),
            np.full(n, n - 1, np.int64),
            np.zeros(n),
            np.zeros((0, 0)),
        )
        for v in range(n):
            scores = np.empty(1 << (n - 1))
            program.all_scores(v, self._threads, scores)
            yield scores

    def _require_countable_parents(self, arrays: FamilyArrays) -> None:
        """Refuse families with more parent configurations than a float can count."""
        children, offsets, parents = arrays
        variables = self._counts.variables
        for i, child in enumerate(children.tolist()):
            given = parents[offsets[i] : offsets[i + 1]].tolist()
            if math.isinf(math.prod((float(variables[p].arity) for p in given), start=1.0)):
                raise DataError(
                    f"score: {variables[child].name!r} with {len(given)} parents has more "
                    "than 1e308 parent configurations; use fewer parents"
                )
