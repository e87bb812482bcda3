"""The counting engine: a data set ready for native work, families in, counts out."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.counts.provider import (
    CountProvider,
    FamilyArrays,
    ObservedCounts,
    flat_groups,
    too_many_cells,
)
from bestdag.data.dataset import Dataset
from bestdag.errors import (
    DataError,
    GraphError,
    NotEnoughMemoryError,
    require_choice,
    unknown_name,
)
from bestdag.machine import memory_left, readable_size, require_memory, thread_count
from bestdag.wording import arg

__all__ = ["CountingEngine", "FamilyArrays", "collapsed_bytes", "collapsed_table"]

# Row numbers of a table in memory are 32 bits wide inside the kernels.
MAX_ROWS = 2**31 - 1

# Of a row and column, while rows are brought together: codes of 16 bits, twice, and at last of 8.
_BYTES_PER_CODE = 6
# Of a row: its weight, and counts of all states of one column, while they are added.
_BYTES_PER_ROW, _BYTES_PER_COUNT = 16, 24

# Bytes that counting may take however little is left.
_ALWAYS = 4e6


class CountingEngine:
    """Counts families of one data set, many in one call.

    Columns are taken in name order, so the order of columns never changes a result. Neither do
    the order of rows and the number of threads.

    Parameters
    ----------
    dataset : Dataset
        Complete, unless `missing` says otherwise.
    missing : {"error", "available"}, default "error"
        What to do about missing values: refuse them, or count each family over the rows that show
        all of it. Then the last state of an incomplete column of `table` means missing.
    threads : int, optional
        Threads for native work; every processor by default.

    Attributes
    ----------
    variables : tuple of Variable
        In name order; their places are the numbers that native code knows them by.
    provider : CountProvider or None
        What counts, where the rows are not in memory.
    table : _core.Table
        The data as native code has them; with a provider, the different rows with their weights,
        if they fit into memory.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"rain": ["no", "yes", "yes", "yes"], "wet": ["no", "no", "yes", "yes"]})
    >>> counts, = CountingEngine(data).count([("wet", ["rain"])])
    >>> counts.table.tolist()
    [[1, 0], [1, 2]]
    """

    def __init__(
        self, dataset: Dataset, *, missing: str = "error", threads: int | None = None
    ) -> None:
        require_choice("counts", "missing", missing, ["error", "available"])
        _require_countable(dataset, missing)
        self.dataset = dataset
        self.missing = missing
        self.threads = thread_count(threads, who="score")
        self.variables = tuple(sorted(dataset.variables, key=lambda v: v.name))
        self._rank = {variable.name: i for i, variable in enumerate(self.variables)}
        self.provider: CountProvider | None = dataset.count_provider(self.threads)
        if self.provider is None:
            _require_row_numbers(dataset)
            self.table = _native_table(dataset, [v.name for v in self.variables])

    @cached_property
    def table(self) -> _core.Table:
        """The data as native code has them."""
        assert self.provider is not None
        return collapsed_table(self.provider, self.arities)

    @cached_property
    def arities(self) -> list[int]:
        """States of each variable; a missing value is one more where there are some."""
        missing = self.dataset.missing_counts
        return [v.arity + (v.name in missing) for v in self.variables]

    @cached_property
    def _has_missing(self) -> bool:
        return self.dataset.has_missing

    def with_threads(self, threads: int | None) -> CountingEngine:
        """Return this engine, with so many threads from now on; None changes nothing."""
        if threads is None or thread_count(threads, who="score") == self.threads:
            return self
        other = copy.copy(self)
        other.threads = threads
        return other

    def count(self, families: Iterable[tuple[str, Collection[str]]]) -> list[FamilyCounts]:
        """Count families, each given as (child, parents).

        Raises
        ------
        KeyboardInterrupt
            Within a tenth of a second of Ctrl-C; the engine can be used again.
        NotEnoughMemoryError
            When the observed counts would not fit; scoring never needs them all at once.
        """
        arrays = self.encode(families)
        observed = self.observed(arrays)
        children, offsets, parents = (a.tolist() for a in arrays)
        return [
            self._family_counts(children[i], parents[offsets[i] : offsets[i + 1]], *one)
            for i, one in enumerate(observed)
        ]

    def observed(self, families: FamilyArrays) -> list[ObservedCounts]:
        """Count families by number; raises as `count` does."""
        limit = max(memory_left(), _ALWAYS) / 8 / max(1, len(families[0]))
        if self.provider is not None:
            return self.provider.count(families, max_cells=limit)
        try:
            return _core.count_families(
                self.table, *families, max_cells=limit, threads=self.threads
            )
        except _core.TooManyCellsError:
            raise too_many_cells() from None

    def number(self, name: str) -> int:
        """Return the place of a variable in name order."""
        try:
            return self._rank[name]
        except (KeyError, TypeError):
            raise unknown_name("variable", name, self._rank) from None

    def encode(self, families: Iterable[tuple[str, Collection[str]]]) -> FamilyArrays:
        """Return families, each given as (child, parents), as native code takes them."""
        children: list[int] = []
        groups: list[list[int]] = []
        for name, parents in families:
            child = self.number(name)
            group = sorted(set(map(self.number, parents)))
            if child in group:
                raise GraphError(f"family: {name!r} cannot be its own parent")
            children.append(child)
            groups.append(group)
        return np.array(children, np.int32), *flat_groups(groups)

    def _family_counts(
        self,
        child: int,
        parents: list[int],
        configurations: npt.NDArray[np.uint16],
        table: npt.NDArray[np.int64] | npt.NDArray[np.float64],
    ) -> FamilyCounts:
        variables = tuple(self.variables[p] for p in parents)
        if self._has_missing:
            own = self.variables[child].arity
            is_shown = (configurations < [v.arity for v in variables]).all(axis=1)
            is_shown &= table[:, :own].any(axis=1)
            configurations, table = configurations[is_shown], table[is_shown, :own]
        q = math.prod((float(v.arity) for v in variables), start=1.0)  # may be infinite
        return FamilyCounts(self.variables[child], variables, configurations, table, q)


def _require_countable(dataset: Dataset, missing: str) -> None:
    if dataset.has_missing and missing == "error":
        shown = ", ".join(f"{name!r} ({n:,})" for name, n in dataset.missing_counts.items())
        raise DataError(
            f"counts: values are missing in {shown}; read the table with {arg('missing', 'drop')} "
            f"or {arg('missing', 'state')}"
        )


def _require_row_numbers(dataset: Dataset) -> None:
    if dataset.n_rows > MAX_ROWS:
        raise DataError(
            f"counts: at most {MAX_ROWS:,} rows can be counted, got {dataset.n_rows:,}; "
            "collapse identical rows into one with a weight"
        )


def _native_table(dataset: Dataset, names: list[str]) -> _core.Table:
    columns: list[Any] = [dataset.codes(name) for name in names]
    weights = dataset.weights
    if weights is not None and weights.dtype == np.float64:
        # Sums of real numbers depend on their order: bring the rows into an order of their own.
        order = np.lexsort((weights, *reversed(columns)))
        columns = [column[order] for column in columns]
        weights = weights[order]
    missing, declared = dataset.missing_counts, dataset.arities
    arities = [declared[name] + (name in missing) for name in names]
    return _core.Table(dataset.n_rows, columns, arities, weights)


def collapsed_bytes(provider: CountProvider, arities: Sequence[int]) -> float:
    """Forecast the memory that the different rows take at most."""
    n_different = min(float(provider.n_rows), math.prod(map(float, arities)))
    each = _BYTES_PER_ROW + _BYTES_PER_CODE * len(arities) + _BYTES_PER_COUNT * min(arities)
    return n_different * each


def collapsed_table(provider: CountProvider, arities: Sequence[int]) -> _core.Table:
    """Return the different rows as a table in memory, with their weights.

    Raises
    ------
    NotEnoughMemoryError
        Before anything is counted, where the rows may be too many.
    """
    needed = collapsed_bytes(provider, arities)
    what = f"the different rows of {len(arities):,} columns, up to {readable_size(needed)},"
    require_memory(
        "counts", f"a table of {what} in memory", needed, "use fewer columns, or rows in memory"
    )
    n = len(arities)
    child = min(range(n), key=lambda i: arities[i])
    parents = np.array([i for i in range(n) if i != child], np.int32)
    families = np.array([child], np.int32), np.array([0, n - 1], np.int64), parents
    try:
        ((configurations, table),) = provider.count(families, max_cells=math.inf)
    except MemoryError as error:
        raise NotEnoughMemoryError(f"counts: {what} do not fit into memory") from error
    rows, states = np.nonzero(table)
    if len(rows) > MAX_ROWS:
        raise NotEnoughMemoryError(
            f"counts: {len(rows):,} rows are different, and at most {MAX_ROWS:,} can be used in "
            f"memory; use fewer columns"
        )
    columns: list[Any] = [None] * n
    for place, i in enumerate(parents.tolist()):
        columns[i] = _narrow(configurations[rows, place], arities[i])
    columns[child] = _narrow(states, arities[child])
    return _core.Table(len(rows), columns, list(arities), np.ascontiguousarray(table[rows, states]))


def _narrow(codes: npt.NDArray[Any], arity: int) -> npt.NDArray[Any]:
    return np.ascontiguousarray(codes, np.uint8 if arity <= 256 else np.uint16)
