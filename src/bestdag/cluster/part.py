"""A part of the rows, as a worker holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.cluster.called_off import CalledOffError, until_called_off
from bestdag.cluster.packed import PackedCounts, added, packed
from bestdag.cluster.worker_memory import within_worker_memory
from bestdag.counts.blocks import BlockCounts
from bestdag.counts.provider import FamilyArrays
from bestdag.data.schema import Variable
from bestdag.errors import ClusterError

__all__ = ["Counted", "Part", "PartFacts", "add_counts", "count_parts"]


@dataclass(frozen=True, slots=True)
class PartFacts:
    """What is known of a part once it is loaded."""

    n_rows: int
    n_complete: int
    n_dropped: int
    total_weight: float
    has_whole_weights: bool
    n_missing: npt.NDArray[np.int64]  # by column
    has_state: list[npt.NDArray[np.bool_]]  # by column and code


class Part:
    """Codes of some rows, a column for each variable in name order, ready to be counted.

    Parameters
    ----------
    columns : list of arrays of codes
        Perhaps of no rows.
    weights : array of float64, optional
        Above zero.
    n_dropped : int, default 0
        Rows that were left out because values are missing.
    """

    def __init__(
        self,
        columns: list[npt.NDArray[Any]],
        weights: npt.NDArray[np.float64] | None = None,
        n_dropped: int = 0,
    ) -> None:
        self.columns = columns
        self.weights = weights
        self.n_dropped = n_dropped
        self._blocks: tuple[bytes, BlockCounts] | None = None

    @property
    def n_rows(self) -> int:
        """Rows held."""
        return len(self.columns[0])

    def __sizeof__(self) -> int:  # what Dask asks
        weights = 0 if self.weights is None else 2 * self.weights.nbytes
        return sum(column.nbytes for column in self.columns) + weights + 500

    def __getstate__(self) -> tuple[Any, ...]:
        return self.columns, self.weights, self.n_dropped

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.columns, self.weights, self.n_dropped = state
        self._blocks = None

    def facts(self, arities: npt.NDArray[np.int64]) -> PartFacts:
        """Say what is in it, by columns with so many states."""
        counts = [
            np.bincount(column, minlength=arity + 1)
            for column, arity in zip(self.columns, arities.tolist(), strict=True)
        ]
        weights = self.weights
        is_complete = np.ones(self.n_rows, np.bool_)
        for column, arity, count in zip(self.columns, arities.tolist(), counts, strict=True):
            if count[-1]:
                is_complete &= column != arity
        return PartFacts(
            n_rows=self.n_rows,
            n_complete=int(np.count_nonzero(is_complete)),
            n_dropped=self.n_dropped,
            total_weight=float(self.n_rows if weights is None else weights.sum()),
            has_whole_weights=weights is None or bool((weights == np.floor(weights)).all()),
            n_missing=np.array([count[-1] for count in counts], np.int64),
            has_state=[count > 0 for count in counts],
        )

    def recoded(self, tables: Sequence[npt.NDArray[Any]]) -> Part:
        """Return the part with other codes."""
        columns = [table[column] for table, column in zip(tables, self.columns, strict=True)]
        return Part(columns, self.weights, self.n_dropped)

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
            given = None
            if self.weights is not None:
                given = np.rint(self.weights * scale).astype(np.int64)
            # Names and states stay with whoever asks: here a column is a number of codes.
            codes = {r: tuple(map(str, range(r))) for r in set(arities.tolist())}
            variables = [Variable(str(i), codes[r]) for i, r in enumerate(arities.tolist())]
            made = BlockCounts(variables, self.columns, given, threads=threads, rows_in="cluster")
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
            found = [part.count(families, arities, scale, max_cells, threads) for part in parts]
            return add_counts(found, families, arities)
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
