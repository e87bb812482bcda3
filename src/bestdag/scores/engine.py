"""The bulk engine: local scores by the native kernel of a score, many in one call.

From rows in memory counting and scoring are one; from rows that are elsewhere the kernel gets the
counts of a provider. Neither knows priors over structures, and only `CountedScores` remembers.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine, collapsed_bytes
from bestdag.counts.provider import FamilyArrays, batches, flat_groups, group_ends
from bestdag.errors import DataError
from bestdag.machine import has_memory, memory_left, require_memory
from bestdag.progress import OutOfTimeError, until
from bestdag.scores.base import Score, kernel_for
from bestdag.scores.parent_sets.limits import n_parent_sets
from bestdag.scores.support import Family, Support

__all__ = ["CountedScores", "FamilySupport", "NativeScores", "native_scores"]

_NONE = np.empty(0, np.int32)
_Floats = npt.NDArray[np.float64]
_NOTHING = np.zeros(0)
# Different rows of this size are brought into memory for a bound, which is in a moment.
_QUICK_BYTES = 3e7
# Scores that are remembered, and the families of one question that are looked up among them: a few
# cost a pass as many do.
_MOST_KNOWN, _MOST_RECALLED = 1 << 17, 1 << 10


def native_scores(counts: CountingEngine, score: Score, support: Support) -> NativeScores | None:
    """Return the engine of a score within a limit of support; None where it has no kernel."""
    kernel = kernel_for(score, counts.variables)
    return None if kernel is None else _within_support(counts, kernel, support)


def _within_support(counts: CountingEngine, kernel: _core.Kernel, support: Support) -> NativeScores:
    if support:
        number = {variable.name: i for i, variable in enumerate(counts.variables)}
        exempt = support.exempt
        offsets, parents = flat_groups([sorted(map(number.__getitem__, p)) for _, p in exempt])
        children = np.array([number[child] for child, _ in exempt], np.int32)
        most = support.most_cells(counts.dataset.total_weight)
        kernel = _core.within_support(kernel, most, children, offsets, parents)
    kind = NativeScores if counts.provider is None else CountedScores
    return kind(counts, kernel)


class NativeScores:
    """Scores families of one data set by a kernel; knows no prior and remembers nothing.

    Counting and scoring are one here: rows are in memory. `CountedScores` has the same methods
    where they are not.

    Parameters
    ----------
    counts : CountingEngine
        The data.
    kernel : _core.Kernel
        The native kernel of a score.
    """

    # Whether the families of one call share passes over the rows.
    shares_passes: ClassVar[bool] = False

    def __init__(self, counts: CountingEngine, kernel: _core.Kernel) -> None:
        self._counts = counts
        self._kernel = kernel
        self._threads = self.threads = counts.threads

    @property
    def arities(self) -> list[int]:
        """States of each variable."""
        return self._counts.arities

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
        common_parents: Collection[str],
        out: npt.NDArray[np.float64],
        seconds: float,
    ) -> None:
        """Score each variable with each other one as a parent, see `LocalScores.pair_scores`."""
        number = self._counts.number
        columns = np.array([number(name) for name in names], np.int32)
        common = np.array(sorted(number(name) for name in common_parents), np.int32)
        _core.score_pairs(
            self._table,
            self._kernel,
            common,
            columns,
            seconds,
            out,
            threads=self._threads,
        )

    def listing(self, *limits: Any) -> _core.CandidateListing | None:
        """Begin to list candidate parent sets; None where the listing is fed by `bounded`."""
        return _core.CandidateListing(self._table, self._kernel, *limits)

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
        """Whether `every_set` is possible, at any price."""
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
        all_variables = (1 << n) - 1
        program = _core.EverySetProgram(
            sets,
            np.zeros(n, np.uint64),
            np.array([all_variables & ~(1 << v) for v in range(n)], np.uint64),
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
            group = parents[offsets[i] : offsets[i + 1]].tolist()
            if math.isinf(math.prod((float(variables[p].arity) for p in group), start=1.0)):
                raise DataError(
                    f"score: {variables[child].name!r} with {len(group)} parents has more "
                    "than 1e308 parent configurations; use fewer parents"
                )


class CountedScores(NativeScores):
    """Scores families by a kernel from the counts of a provider, a batch in one pass.

    What needs rows (values of every set, the likelihood of the joint distribution) takes the
    different rows of the table, if they fit into memory.

    Parameters
    ----------
    counts : CountingEngine
        With a provider.
    kernel : _core.Kernel
    """

    shares_passes: ClassVar[bool] = True

    def families(self, families: Iterable[tuple[str, Collection[str]]]) -> _Floats:
        """Score families, each given as (child, parents)."""
        arrays = self._counts.encode(families)
        scores = self.numbered(arrays)
        if not np.isfinite(scores).all():
            self._require_countable_parents(arrays)
        return scores

    def numbered(
        self,
        families: FamilyArrays,
        *,
        time_limit: float = math.inf,
        growth: _Floats = _NOTHING,
        bounds: _Floats = _NOTHING,
    ) -> _Floats:
        """Score families by number; what is not done after `time_limit` seconds is nan.

        With `growth`, the least arity of one more parent of each family, `bounds` receives what
        no family with more parents exceeds.
        """
        if len(families[0]) <= _MOST_RECALLED and not len(growth):
            return self._recalled(families, time_limit)
        return self._scored(families, time_limit, growth, bounds)

    def _recalled(self, families: FamilyArrays, time_limit: float) -> _Floats:
        """Score a few families, and count only the ones that were not met before."""
        children, offsets, parents = families
        groups = [parents[a:b] for a, b in itertools.pairwise(offsets.tolist())]
        keys = [(c, group.tobytes()) for c, group in zip(children.tolist(), groups, strict=True)]
        scores = np.array([self._known.get(key, math.nan) for key in keys], np.float64)
        new = np.flatnonzero(np.isnan(scores))
        if len(new):
            wanted = children[new], *flat_groups([groups[i].tolist() for i in new])
            scores[new] = self._scored(wanted, time_limit)
            if len(self._known) + len(new) > _MOST_KNOWN:
                self._known.clear()
            new_scores = {
                keys[i]: score for i, score in zip(new, scores[new].tolist(), strict=True)
            }
            self._known.update(
                (key, score) for key, score in new_scores.items() if not math.isnan(score)
            )
        return scores

    def _scored(
        self,
        families: FamilyArrays,
        time_limit: float,
        growth: _Floats = _NOTHING,
        bounds: _Floats = _NOTHING,
    ) -> _Floats:
        engine, provider = self._counts, self._counts.provider
        assert provider is not None
        end = time.monotonic() + time_limit
        scores = np.full(len(families[0]), math.nan)
        try:
            with until(end):
                for first, last, some in batches(families, engine.arities, provider.n_rows):
                    counted = provider.count(some, max_cells=max(memory_left(), 4e6) / 16)
                    _core.score_counts(
                        engine.arities,
                        float(provider.total_weight),
                        provider.has_real_weights,
                        self._kernel,
                        *some,
                        counted,
                        scores[first:last],
                        growth[first:last],
                        bounds[first:last],
                        self._threads,
                    )
        except OutOfTimeError:
            if time.monotonic() < end:  # not this limit
                raise
        return scores

    def changes(
        self,
        families: Sequence[tuple[int, Sequence[int]]],
        candidates: Sequence[npt.NDArray[np.int32]],
        time_limit: float = math.inf,
    ) -> list[_Floats]:
        """Score all changes of all families, as `NativeScores.changes`, in one pass."""
        scores = self.numbered(_changed(families, candidates), time_limit=time_limit)
        ends = group_ends(candidates).tolist()
        return [scores[a:b] for a, b in itertools.pairwise(ends)]

    @property
    def change_source(self) -> Any:
        """What the order search takes scores of changes from."""
        return self._changes_of

    def _changes_of(self, child: int, parents: list[int], candidates: list[int]) -> _Floats:
        return self.changes([(child, parents)], [np.array(candidates, np.int32)])[0]

    @cached_property
    def _known(self) -> dict[tuple[int, bytes], float]:
        return {}

    def all_families(self, max_parents: int, seconds: float = math.inf) -> _Floats | None:
        """Score every family with at most `max_parents` parents; None when out of time."""
        n = len(self._counts.variables)
        n_sets = n_parent_sets(n, max_parents)
        need = n * n_sets * (8 + 4 + 8 + 4 * max_parents + 8)
        require_memory("score", f"a list of {n * n_sets:,} families", need, "use fewer parents")
        sets = _sets_of(n - 1, max_parents)
        size = len(sets[1])
        offsets = np.concatenate([[0], *(sets[0][1:] + c * size for c in range(n))])
        parents = np.concatenate([sets[1] + (sets[1] >= c) for c in range(n)]).astype(np.int32)
        children = np.repeat(np.arange(n, dtype=np.int32), n_sets)
        scores = self.numbered((children, offsets, parents), time_limit=seconds)
        is_done = not np.isnan(scores).any() or seconds == math.inf
        return scores.reshape(n, n_sets) if is_done else None

    def pairs(
        self,
        names: Sequence[str],
        common_parents: Collection[str],
        out: _Floats,
        seconds: float,
    ) -> None:
        """Score each variable with each other one as a parent, see `LocalScores.pair_scores`."""
        number = self._counts.number
        columns = [number(name) for name in names]
        common = {number(name) for name in common_parents}
        groups = [sorted(common | ({i} - {j})) for i in columns for j in columns]
        children = np.array(columns * len(columns), np.int32)
        arrays = children, *flat_groups(groups)
        out[:] = self.numbered(arrays, time_limit=seconds).reshape(out.shape)

    def listing(self, *limits: Any) -> None:
        """Return None: sets are listed level by level, and counted in batches."""
        return

    def total_cap(self) -> float:
        """Return what no network's score exceeds; infinite where different rows may be many."""
        provider = self._counts.provider
        assert provider is not None
        is_quick = collapsed_bytes(provider, self._counts.arities) <= _QUICK_BYTES
        if "table" not in vars(self._counts) and not (is_quick and self._has_rows("bound")):
            return math.inf
        return super().total_cap()

    def forecast_every_set(self, *, leave_out: bool) -> tuple[float, float] | None:
        """Bytes and steps of `every_set`; None where rows or values do not fit."""
        if not self._has_rows("every set"):
            return None
        return super().forecast_every_set(leave_out=leave_out)

    def _has_rows(self, kind: str) -> bool:
        """Whether the different rows are in memory, or may be brought there."""
        provider = self._counts.provider
        assert provider is not None
        if "table" in vars(self._counts):
            return True
        needed = collapsed_bytes(provider, self._counts.arities)
        return has_memory(kind, "a table of the different rows", needed)


def _changed(
    families: Sequence[tuple[int, Sequence[int]]], candidates: Sequence[npt.NDArray[np.int32]]
) -> FamilyArrays:
    """List families after each of their changes.

    Examples
    --------
    >>> children, offsets, parents = _changed([(3, [1, 5])], [np.array([1, 2, 3], np.int32)])
    >>> [parents[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    [[5], [1, 2, 5], [1, 5]]
    """
    groups, sizes = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for (child, parents), members in zip(families, candidates, strict=True):
        own = np.array(parents, np.int32)
        both = np.column_stack([np.tile(own, (len(members), 1)), members])
        both.sort(axis=1)
        is_no_addition = np.isin(members, own) | (members == child)
        stays = ~((both == members[:, None]) & is_no_addition[:, None])
        groups.append(both[stays])
        sizes.append(stays.sum(axis=1))
    lengths = [len(members) for members in candidates]
    children = np.repeat(np.array([child for child, _ in families], np.int32), lengths)
    return children, np.cumsum(np.concatenate(sizes)), np.concatenate(groups)


def _sets_of(n: int, most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """List the sets of at most so many of n numbers, by size, then colexicographically."""
    sets: list[tuple[int, ...]] = []
    for size in range(min(most, n) + 1):
        sets.extend(sorted(itertools.combinations(range(n), size), key=lambda s: s[::-1]))
    return flat_groups(sets)


class FamilySupport:
    """Says which families lack support, under any score.

    Parameters
    ----------
    counts : CountingEngine
        The table. Where values are missing, being missing counts as a value.
    support : Support
    """

    def __init__(self, counts: CountingEngine, support: Support) -> None:
        self.support = support
        # Finite for admissible families alone.
        self._scores = _within_support(counts, _core.ll(), support)

    def lacking(self, families: Iterable[Family]) -> list[Family]:
        """Return the families that are not admissible, each once."""
        listed = [family for family in dict.fromkeys(families) if family[1]]
        if not self.support or not listed:
            return []
        scores = self._scores.families(listed).tolist()
        return [family for family, score in zip(listed, scores, strict=True) if score == -math.inf]
