"""The counting engine: a data set ready for native work, families in, counts or scores out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError, GraphError, NotEnoughMemoryError, unknown_name
from bestdag.machine import memory_left, require_memory, thread_count

__all__ = [
    "CandidateListing",
    "CandidateSets",
    "CountingEngine",
    "ParentLimits",
    "n_parent_sets",
    "parent_sets",
]

# Row numbers are 32 bits wide inside the kernels.
_MAX_ROWS = 2**31 - 1
_NONE = np.empty(0, np.int32)

_Arrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]


@dataclass(frozen=True, slots=True)
class ParentLimits:
    """What the parents of one child may be: all the required, some of the allowed.

    Parents are numbers of variables in name order, ascending. A family's score gets `bonus`,
    and the bonus of each allowed parent it has.
    """

    required: tuple[int, ...]
    allowed: tuple[int, ...]
    max_parents: int
    bonus: float
    bonuses: tuple[float, ...]


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


class CandidateListing:
    """Candidate parent sets of every child, by a native kernel, listed bit by bit."""

    def __init__(self, native: _core.CandidateListing, threads: int) -> None:
        self._native = native
        self._threads = threads

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


class CountingEngine:
    """Counts families of one data set, many in one call.

    Columns are taken in name order, so the order of columns never changes a result. Neither do
    the order of rows and the number of threads.

    Parameters
    ----------
    dataset : Dataset
        Complete: a data set with missing cells is refused.
    threads : int, optional
        Threads for native work; every processor by default.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"rain": ["no", "yes", "yes", "yes"], "wet": ["no", "no", "yes", "yes"]})
    >>> counts, = CountingEngine(data).count([("wet", ["rain"])])
    >>> counts.table.tolist()
    [[1, 0], [1, 2]]
    """

    def __init__(self, dataset: Dataset, *, threads: int | None = None) -> None:
        _require_countable(dataset)
        self.dataset = dataset
        self.threads = thread_count(threads, who="score")
        self.variables = tuple(sorted(dataset.variables, key=lambda v: v.name))
        self._rank = {variable.name: i for i, variable in enumerate(self.variables)}
        self._native = _native_table(dataset, [v.name for v in self.variables])
        self._changes: tuple[_core.Kernel, _core.ChangeScorers] | None = None

    def count(self, families: Iterable[tuple[str, Collection[str]]]) -> list[FamilyCounts]:
        """Count families, each given as (child, parents).

        Raises
        ------
        KeyboardInterrupt
            Within a tenth of a second of Ctrl-C; the engine can be used again.
        NotEnoughMemoryError
            When the observed counts would not fit; scoring never needs them all at once.
        """
        wanted = list(families)
        arrays = self._encode(wanted)
        limit = memory_left() / 8 / max(1, len(wanted))
        try:
            found = _core.count_families(
                self._native, *arrays, max_cells=limit, threads=self.threads
            )
        except _core.TooManyCellsError:
            raise NotEnoughMemoryError(
                "counts: the observed configurations of a family do not fit into memory; "
                "use fewer parents, or score the family instead of counting it"
            ) from None
        children, offsets, parents = (a.tolist() for a in arrays)
        return [
            self._family_counts(children[i], parents[offsets[i] : offsets[i + 1]], *pair)
            for i, pair in enumerate(found)
        ]

    def score(
        self, kernel: _core.Kernel, families: Iterable[tuple[str, Collection[str]]]
    ) -> npt.NDArray[np.float64]:
        """Local scores of families by a native kernel, in one call."""
        arrays = self._encode(list(families))
        scores = np.empty(len(arrays[0]))
        _core.score_families(self._native, kernel, *arrays, scores, threads=self.threads)
        if not np.isfinite(scores).all():
            self._require_countable_parents(arrays)
        return scores

    def score_changes(
        self,
        kernel: _core.Kernel,
        families: Sequence[tuple[int, Sequence[int]]],
        candidates: Sequence[npt.NDArray[np.int32]],
        time_limit: float = math.inf,
    ) -> list[npt.NDArray[np.float64]]:
        """Local scores after adding each candidate to the parents, or dropping it from them.

        Variables are numbers in name order, parents ascending. Each family has candidates of its
        own; one that is the child itself leaves the family as it is. What is not done after
        `time_limit` seconds is nan.
        """
        children = np.array([child for child, _ in families], np.int32)
        offsets, parents = _flat([parents for _, parents in families])
        ends = _ends(candidates)
        members = candidates[0] if len(candidates) == 1 else np.concatenate([_NONE, *candidates])
        scores = np.full(len(members), math.nan)
        self.change_scorers(kernel).score(
            children, offsets, parents, ends, members, scores, self.threads, time_limit
        )
        bounds = ends.tolist()
        return [scores[a:b] for a, b in itertools.pairwise(bounds)]

    def change_scorers(self, kernel: _core.Kernel) -> _core.ChangeScorers:
        """Return what scores changes of families, call after call."""
        if self._changes is None or self._changes[0] is not kernel:
            self._changes = (kernel, _core.ChangeScorers(self._native, kernel))
        return self._changes[1]

    def score_all(self, kernel: _core.Kernel, max_parents: int) -> npt.NDArray[np.float64]:
        """Local scores of every family with at most `max_parents` parents.

        Row i belongs to the i-th variable by name. The columns are the sets of at most
        `max_parents` of the other variables: smaller sets first, sets of one size in
        colexicographic order, as `parent_sets` lists them.
        """
        n_variables = len(self.variables)
        n_sets = n_parent_sets(n_variables, max_parents)
        n_families = n_variables * n_sets
        require_memory(
            "score", f"a list of {n_families:,} families", 8 * n_families, "use fewer parents"
        )
        scores = np.empty((n_variables, n_sets))
        _core.score_all_families(
            self._native, kernel, max_parents, scores.reshape(-1), threads=self.threads
        )
        return scores

    def score_pairs(
        self,
        kernel: _core.Kernel,
        names: Sequence[str],
        given: Collection[str],
        out: npt.NDArray[np.float64],
        seconds: float,
    ) -> None:
        """Local scores of variables given each other: `Scorer.pair_scores` says more."""
        columns = np.array([self.number(name) for name in names], np.int32)
        common = np.array(sorted(self.number(name) for name in given), np.int32)
        _core.score_pairs(self._native, kernel, common, columns, seconds, out, threads=self.threads)

    def candidate_listing(
        self, kernel: _core.Kernel, limits: Sequence[ParentLimits], *, prune: bool
    ) -> CandidateListing:
        """Begin to list candidate parent sets of every child, by a native kernel.

        Parameters
        ----------
        limits : sequence of ParentLimits
            One for each variable, in name order.
        prune : bool
            Leave out every set that scores no more than one of its subsets.
        """
        native = _core.CandidateListing(
            self._native,
            kernel,
            *_flat([limit.required for limit in limits]),
            *_flat([limit.allowed for limit in limits]),
            np.fromiter(
                itertools.chain.from_iterable(limit.bonuses for limit in limits), np.float64
            ),
            np.array([limit.max_parents for limit in limits], np.int64),
            np.array([limit.bonus for limit in limits], np.float64),
            prune,
        )
        return CandidateListing(native, self.threads)

    def total_cap(self, kernel: _core.Kernel) -> float:
        """No network scores more than this by a native kernel; infinite where nothing is known."""
        return float(_core.total_cap(self._native, kernel))

    def forecast_every_set(
        self, kernel: _core.Kernel, *, leave_out: bool
    ) -> tuple[float, float] | None:
        """Bytes and steps of `every_set` and a program over it; None where it is not possible."""
        return _core.forecast_every_set(self._native, kernel, leave_out, self.threads)

    def every_set(self, kernel: _core.Kernel) -> _core.EverySet:
        """Values of all sets of columns, from which every local score comes; not yet computed."""
        return _core.EverySet(self._native, kernel)

    def _encode(self, families: Sequence[tuple[str, Collection[str]]]) -> _Arrays:
        children = np.empty(len(families), np.int32)
        offsets = np.zeros(len(families) + 1, np.int64)
        parents: list[int] = []
        for i, (child, names) in enumerate(families):
            children[i] = self.number(child)
            ranks = sorted({self.number(name) for name in names})
            if children[i] in ranks:
                raise GraphError(f"family: {child!r} cannot be its own parent")
            parents.extend(ranks)
            offsets[i + 1] = len(parents)
        return children, offsets, np.array(parents, np.int32)

    def _require_countable_parents(self, arrays: _Arrays) -> None:
        """Refuse families with more parent configurations than a float can count."""
        children, offsets, parents = arrays
        for i, child in enumerate(children.tolist()):
            given = parents[offsets[i] : offsets[i + 1]].tolist()
            if math.isinf(math.prod((float(self.variables[p].arity) for p in given), start=1.0)):
                raise DataError(
                    f"score: {self.variables[child].name!r} with {len(given)} parents has more "
                    "than 1e308 parent configurations; use fewer parents"
                )

    def number(self, name: str) -> int:
        """Return the place of a variable in name order."""
        try:
            return self._rank[name]
        except (KeyError, TypeError):
            raise unknown_name("variable", name, self._rank) from None

    def _family_counts(
        self,
        child: int,
        parents: list[int],
        configurations: npt.NDArray[np.uint16],
        table: npt.NDArray[np.int64] | npt.NDArray[np.float64],
    ) -> FamilyCounts:
        given = tuple(self.variables[p] for p in parents)
        q = math.prod((float(v.arity) for v in given), start=1.0)  # may be infinite
        return FamilyCounts(self.variables[child], given, configurations, table, q)


def _flat(
    groups: Sequence[Sequence[int]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    return _ends(groups), np.fromiter(itertools.chain.from_iterable(groups), np.int32)


def _ends(groups: Sequence[Sized]) -> npt.NDArray[np.int64]:
    return np.array([0, *itertools.accumulate(map(len, groups))], np.int64)


def n_parent_sets(n_variables: int, max_parents: int) -> int:
    """Return how many sets of at most `max_parents` of the other variables there are.

    Examples
    --------
    >>> n_parent_sets(37, 3)
    7807
    """
    return sum(math.comb(n_variables - 1, k) for k in range(min(max_parents, n_variables - 1) + 1))


def parent_sets(others: Sequence[str], max_parents: int) -> Iterator[tuple[str, ...]]:
    """List the sets of at most `max_parents` names, in the order of `CountingEngine.score_all`.

    Examples
    --------
    >>> [" ".join(names) for names in parent_sets(["a", "b", "c"], 2)]
    ['', 'a', 'b', 'c', 'a b', 'a c', 'b c']
    """
    for size in range(min(max_parents, len(others)) + 1):
        ranked = itertools.combinations(range(len(others)), size)
        for numbers in sorted(ranked, key=lambda numbers: numbers[::-1]):
            yield tuple(others[k] for k in numbers)


def _require_countable(dataset: Dataset) -> None:
    if dataset.has_missing:
        shown = ", ".join(f"{name!r} ({n:,})" for name, n in dataset.missing_counts.items())
        what = f"counts: cells are missing in {shown}"
        raise DataError(
            f"{what}; read the table with missing='drop' or missing='state'"
        ).with_option(f"{what}; pass --missing drop or --missing state")
    if dataset.n_rows > _MAX_ROWS:
        raise DataError(
            f"counts: at most {_MAX_ROWS:,} rows can be counted, got {dataset.n_rows:,}; "
            "collapse equal rows into one with a weight"
        )


def _native_table(dataset: Dataset, names: list[str]) -> _core.Table:
    columns: list[Any] = [dataset.codes(name) for name in names]
    weights = dataset.weights
    if weights is not None and weights.dtype == np.float64:
        # Sums of real numbers depend on their order: bring the rows into an order of their own.
        order = np.lexsort((weights, *reversed(columns)))
        columns = [column[order] for column in columns]
        weights = weights[order]
    arities = [dataset.arities[name] for name in names]
    return _core.Table(dataset.n_rows, columns, arities, weights)
