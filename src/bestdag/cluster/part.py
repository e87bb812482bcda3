"""A part of the rows as a worker holds it, and the counts that travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bestdag.cluster.session import CalledOffError, until_called_off, within_worker_memory
from bestdag.counts.blocks import BlockCounts
from bestdag.counts.provider import FamilyArrays, ObservedCounts
from bestdag.data.encoder import Tally, translated
from bestdag.data.schema import Variable
from bestdag.errors import ClusterError

__all__ = [
    "Counted",
    "PackedCounts",
    "Part",
    "PartFacts",
    "add_counts",
    "added",
    "count_parts",
    "packed",
    "unchanged",
]


_Indices = npt.NDArray[np.int64]
_T = TypeVar("_T")

# A configuration has a number of 64 bits, where so many there may be.
_MOST_NUMBERED = 2.0**62


@dataclass(frozen=True, slots=True, eq=False)
class PackedCounts:
    """What was counted, family after family.

    Attributes
    ----------
    n_observed : array
        How many configurations each family shows.
    configurations : array of codes
        All of them, row by row.
    counts : array of int64 or float64
        A row for each of them.
    """

    n_observed: _Indices
    configurations: npt.NDArray[np.uint16]
    counts: npt.NDArray[Any]

    @property
    def n_bytes(self) -> int:
        """Bytes that travel."""
        return self.n_observed.nbytes + self.configurations.nbytes + self.counts.nbytes

    def __sizeof__(self) -> int:  # what Dask asks
        return self.n_bytes + 200

    def unpacked(
        self, families: FamilyArrays, arities: npt.NDArray[np.int64]
    ) -> list[ObservedCounts]:
        """Return the counts of each family by itself."""
        n_parents, widths = _shapes(families, arities)
        configurations = np.concatenate([[0], np.cumsum(self.n_observed * n_parents)]).tolist()
        cells = np.concatenate([[0], np.cumsum(self.n_observed * widths)]).tolist()
        shapes = zip(self.n_observed.tolist(), n_parents.tolist(), widths.tolist(), strict=True)
        return [
            (
                self.configurations[configurations[i] : configurations[i + 1]].reshape(n, k),
                self.counts[cells[i] : cells[i + 1]].reshape(n, r),
            )
            for i, (n, k, r) in enumerate(shapes)
        ]


def packed(counts: Sequence[ObservedCounts]) -> PackedCounts:
    """Pack what native code counted."""
    tables = [table.ravel() for _, table in counts]
    codes = [configurations.ravel() for configurations, _ in counts]
    return PackedCounts(
        np.array([len(table) for _, table in counts], np.int64),
        np.concatenate(codes) if codes else np.empty(0, np.uint16),
        np.concatenate(tables) if tables else np.empty(0, np.int64),
    )


def added(
    parts: Sequence[PackedCounts], families: FamilyArrays, arities: npt.NDArray[np.int64]
) -> PackedCounts:
    """Add counts of the same families over different rows.

    Configurations stay in lexicographic order, and each is there once.

    Examples
    --------
    >>> families = (np.array([0], np.int32), np.array([0, 1]), np.array([1], np.int32))
    >>> one = packed([(np.array([[0], [2]], np.uint16), np.array([[1, 0], [2, 2]]))])
    >>> other = packed([(np.array([[1], [2]], np.uint16), np.array([[5, 5], [0, 1]]))])
    >>> (codes, table), = added([one, other], families, np.array([2, 3])).unpacked(
    ...     families, np.array([2, 3])
    ... )
    >>> codes.ravel().tolist(), table.tolist()
    ([0, 1, 2], [[1, 0], [5, 5], [2, 3]])
    """
    first, *others = parts
    if not others:
        return first
    if all(_have_equal_rows(first, other) for other in others):
        # Most families show the same configurations everywhere once rows are many.
        total = sum((other.counts for other in others), start=first.counts)
        return PackedCounts(first.n_observed, first.configurations, total)
    n_parents, widths = _shapes(families, arities)
    family = np.concatenate([np.repeat(np.arange(len(p.n_observed)), p.n_observed) for p in parts])
    keys = _keys(parts, family, families, arities)
    order = np.lexsort((keys, family))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(family[order]) != 0) | (np.diff(keys[order]) != 0)
    place = np.empty(len(order), np.int64)  # of each row in the sum
    place[order] = np.cumsum(is_new) - 1
    distinct = order[is_new]

    all_codes = np.concatenate([part.configurations for part in parts])
    configurations = all_codes[
        _entries(_starts(n_parents[family])[distinct], n_parents[family[distinct]])
    ]
    begins = _starts(widths[family[distinct]])
    last = int(widths[family[distinct]].sum())
    counts = np.zeros(last, np.result_type(*(part.counts for part in parts)))
    row = 0
    for part in parts:
        rows = slice(row, row + int(part.n_observed.sum()))
        # No configuration is twice in one part, so that no place is either.
        counts[_entries(begins[place[rows]], widths[family[rows]])] += part.counts
        row = rows.stop
    n_observed = np.bincount(family[distinct], minlength=len(n_parents)).astype(np.int64)
    return PackedCounts(n_observed, configurations, counts)


def _have_equal_rows(one: PackedCounts, other: PackedCounts) -> bool:
    return np.array_equal(one.n_observed, other.n_observed) and np.array_equal(
        one.configurations, other.configurations
    )


def _shapes(families: FamilyArrays, arities: npt.NDArray[np.int64]) -> tuple[_Indices, _Indices]:
    """Return the number of parents of each family, and that of the child's states."""
    children, offsets, _ = families
    return np.diff(offsets), arities[children]


def _keys(
    parts: Sequence[PackedCounts],
    family: _Indices,
    families: FamilyArrays,
    arities: npt.NDArray[np.int64],
) -> _Indices:
    """Return numbers of the configurations of rows, in lexicographic order within a family."""
    _, offsets, parents = families
    n_parents = np.diff(offsets)
    codes = np.concatenate([part.configurations for part in parts])
    strides, is_large = _strides(offsets, arities[parents])
    rows_of_codes = np.repeat(np.arange(len(family)), n_parents[family])
    steps = strides[_entries(offsets[:-1][family], n_parents[family])]
    keys = np.zeros(len(family), np.int64)
    np.add.at(keys, rows_of_codes, codes * steps)
    starts = _starts(n_parents[family])
    for large in np.flatnonzero(is_large):
        rows = np.flatnonzero(family == large)
        shown = codes[_entries(starts[rows], n_parents[family[rows]])].reshape(len(rows), -1)
        keys[rows] = np.unique(shown, axis=0, return_inverse=True)[1].ravel()
    return keys


def _strides(
    offsets: _Indices, arities: npt.NDArray[np.int64]
) -> tuple[_Indices, npt.NDArray[np.bool_]]:
    """Return what a code of each parent counts in the number, and which families have none."""
    strides = np.zeros(len(arities), np.int64)
    is_large = np.zeros(len(offsets) - 1, np.bool_)
    for i, (start, end) in enumerate(zip(offsets.tolist(), offsets[1:].tolist(), strict=False)):
        own = arities[start:end]
        if float(np.prod(own.astype(np.float64))) > _MOST_NUMBERED:
            is_large[i] = True
        elif end > start:
            strides[start : end - 1] = np.cumprod(own[:0:-1])[::-1]
            strides[end - 1] = 1
    return strides, is_large


def _starts(lengths: _Indices) -> _Indices:
    """Where pieces of these lengths begin, one after the other."""
    return np.cumsum(lengths) - lengths


def _entries(starts: _Indices, lengths: _Indices) -> _Indices:
    """Return the numbers of everything in pieces that begin here and are so long.

    Examples
    --------
    >>> _entries(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    total = int(lengths.sum())
    return np.repeat(starts - _starts(lengths), lengths) + np.arange(total)


@dataclass(frozen=True, slots=True)
class PartFacts:
    """What is known of a part once it is loaded."""

    n_rows: int
    n_complete: int
    total_weight: float
    has_whole_weights: bool
    tally: Tally | None  # of what was read into it


class Part:
    """Codes of some rows, a column for each variable in name order, ready to be counted.

    Parameters
    ----------
    columns : list of arrays of codes
        Perhaps of no rows.
    weights : array of float64, optional
        Above zero.
    tally : Tally, optional
        Of what was read into it.
    """

    def __init__(
        self,
        columns: list[npt.NDArray[Any]],
        weights: npt.NDArray[np.float64] | None = None,
        tally: Tally | None = None,
    ) -> None:
        self.columns = columns
        self.weights = weights
        self.tally = tally
        self._blocks: tuple[bytes, BlockCounts] | None = None

    @property
    def n_rows(self) -> int:
        """Rows held."""
        return len(self.columns[0])

    def __sizeof__(self) -> int:  # what Dask asks
        weights = 0 if self.weights is None else 2 * self.weights.nbytes
        return sum(column.nbytes for column in self.columns) + weights + 500

    def __getstate__(self) -> tuple[Any, ...]:
        return self.columns, self.weights, self.tally

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.columns, self.weights, self.tally = state
        self._blocks = None

    def facts(self, arities: npt.NDArray[np.int64]) -> PartFacts:
        """Say what is in it, by columns with so many states."""
        weights = self.weights
        is_complete = np.ones(self.n_rows, np.bool_)
        for column, arity in zip(self.columns, arities.tolist(), strict=True):
            is_complete &= column != arity
        return PartFacts(
            n_rows=self.n_rows,
            n_complete=int(np.count_nonzero(is_complete)),
            total_weight=float(self.n_rows if weights is None else weights.sum()),
            has_whole_weights=weights is None or bool((weights == np.floor(weights)).all()),
            tally=self.tally,
        )

    def recoded(self, tables: Mapping[int, npt.NDArray[Any]]) -> Part:
        """Return the part with other codes in some columns."""
        columns = [
            translated(tables[i], column, is_ours=False) if i in tables else column
            for i, column in enumerate(self.columns)
        ]
        return Part(columns, self.weights, self.tally)

    def count(
        self,
        families: FamilyArrays,
        arities: npt.NDArray[np.int64],
        scale: float,
        max_cells: float,
        threads: int,
    ) -> PackedCounts | None:
        """Count families over these rows, weights times `scale`; None where there are no rows."""
        if not self.n_rows:
            return None
        blocks = self._in_blocks(arities, scale, threads)
        return packed(blocks.count(families, max_cells=max_cells))

    def _in_blocks(self, arities: npt.NDArray[np.int64], scale: float, threads: int) -> BlockCounts:
        key = arities.tobytes() + np.float64(scale).tobytes()
        if self._blocks is None or self._blocks[0] != key:
            weights = None
            if self.weights is not None:
                weights = np.rint(self.weights * scale).astype(np.int64)
            # Names and states stay with the client: here a column is a number of codes.
            codes = {r: tuple(map(str, range(r))) for r in set(arities.tolist())}
            variables = [Variable(str(i), codes[r]) for i, r in enumerate(arities.tolist())]
            made = BlockCounts(variables, self.columns, weights, threads=threads, rows_in="cluster")
            self._blocks = key, made
        return self._blocks[1]


# What a worker found: nothing where it has no rows, an error where its work was called off.
Counted = PackedCounts | None | ClusterError


@within_worker_memory(is_alone=True)
def count_parts(
    parts: Sequence[Part],
    families: FamilyArrays,
    arities: npt.NDArray[np.int64],
    scale: float,
    max_cells: float,
) -> Counted:
    """Count families over all parts that one worker holds, with all its threads."""
    threads = _threads_here()
    try:
        with until_called_off():
            counts = [part.count(families, arities, scale, max_cells, threads) for part in parts]
            return add_counts(counts, families, arities)
    except CalledOffError:
        return ClusterError("cluster: counting was called off; learn again")


def add_counts(
    counted: Sequence[Counted],
    families: FamilyArrays,
    arities: npt.NDArray[np.int64],
) -> Counted:
    """Add the counts of several parts or workers, in any order: they are whole numbers."""
    there = [one for one in counted if isinstance(one, PackedCounts)]
    failures = [one for one in counted if isinstance(one, ClusterError)]
    if failures:
        return failures[0]
    return added(there, families, arities) if there else None


def _threads_here() -> int:
    from distributed import get_worker

    return int(get_worker().state.nthreads)


def unchanged(value: _T) -> _T:
    """Return the argument: as a task, it puts a value on the cluster so that it can be redone."""
    return value
