"""The counting engine: a data set ready for native work, families in, counts or scores out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError, GraphError, NotEnoughMemoryError, unknown_name
from bestdag.memory import available_bytes, show_bytes
from bestdag.threads import n_threads

__all__ = ["CountingEngine"]

# Row numbers are 32 bits wide inside the kernels.
_MAX_ROWS = 2**31 - 1

_Arrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]


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
        self.threads = n_threads(threads)
        self.variables = tuple(sorted(dataset.variables, key=lambda v: v.name))
        self._rank = {variable.name: i for i, variable in enumerate(self.variables)}
        self._native = _native_table(dataset, [v.name for v in self.variables])

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
        limit = 0.8 * available_bytes()
        try:
            found = _core.count_families(
                self._native,
                *arrays,
                max_cells=limit / 8 / max(1, len(wanted)),
                threads=self.threads,
            )
        except _core.TooManyCellsError:
            raise NotEnoughMemoryError(
                f"counts: the observed configurations of a family do not fit into the "
                f"{show_bytes(limit)} at hand; use fewer parents or score it instead of counting it"
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
        return scores

    def _encode(self, families: Sequence[tuple[str, Collection[str]]]) -> _Arrays:
        children = np.empty(len(families), np.int32)
        offsets = np.zeros(len(families) + 1, np.int64)
        parents: list[int] = []
        for i, (child, names) in enumerate(families):
            children[i] = self._number(child)
            ranks = sorted({self._number(name) for name in names})
            if children[i] in ranks:
                raise GraphError(f"family: {child!r} cannot be its own parent")
            parents.extend(ranks)
            offsets[i + 1] = len(parents)
        return children, offsets, np.array(parents, np.int32)

    def _number(self, name: str) -> int:
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
        q = prod((float(v.arity) for v in given), start=1.0)  # may be infinite
        return FamilyCounts(self.variables[child], given, configurations, table, q)


def _require_countable(dataset: Dataset) -> None:
    if dataset.has_missing:
        shown = ", ".join(f"{name!r} ({n:,})" for name, n in dataset.missing_counts.items())
        raise DataError(
            f"counts: cells are missing in {shown}; read the table with missing='drop' or 'state'"
        )
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
