"""Counts over columns that are arrays, mapped files for instance, block of rows after block."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.provider import FamilyArrays, ObservedCounts, RowsIn, too_many_cells
from bestdag.data.checks import total_of
from bestdag.data.schema import Variable
from bestdag.errors import require_count
from bestdag.machine import memory_left, peak_memory, thread_count

__all__ = ["BlockCounts", "whole_scale"]

# Rows counted at a time, at most and at least; more do not save time.
_MOST_ROWS, _LEAST_ROWS = 1 << 18, 1 << 12
# The most that a caller gets: row numbers of a block are 32 bits wide inside the kernels.
_MAX_BLOCK_ROWS = 1 << 30
# Of the memory there is: for a block, and for the counts of the families that share a pass.
_SHARE_FOR_BLOCK, _SHARE_FOR_COUNTS = 0.125, 0.25
# Of each row of a block and thread, where configurations are sorted.
_BYTES_PER_ROW = 24
# However little memory is left.
_ALWAYS = 4e6

_Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


class BlockCounts:
    """Counts families over columns of codes without holding them in memory.

    All families of one call share a pass over the rows if their counts fit into memory. Counts
    are sums of 64 bits; any number of rows can be counted.

    Parameters
    ----------
    variables : sequence of Variable
        In name order.
    columns : sequence of uint8 or uint16 arrays
        The codes, contiguous; ``np.memmap`` will do. They are read and never copied.
    weights : int64 or float64 array, optional
        Of the rows.
    block_rows : int, optional
        Rows counted at a time; by default what the limit on memory allows.
    threads : int, optional
        Every processor by default.
    missing : collection of str
        Names of the columns that have missing values: the code after the last state.
    rows_in : {"memory", "disk", "cluster"}, default "disk"
        Where the arrays are.

    Examples
    --------
    >>> variables = [Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))]
    >>> columns = [np.array([0, 1, 1, 1], np.uint8), np.array([0, 0, 1, 1], np.uint8)]
    >>> blocks = BlockCounts(variables, columns, block_rows=3)
    >>> wet_given_rain = np.array([1], np.int32), np.array([0, 1]), np.array([0], np.int32)
    >>> (configurations, counts), = blocks.count(wet_given_rain, max_cells=100)
    >>> configurations.tolist(), counts.tolist(), blocks.passes
    ([[0], [1]], [[1, 0], [1, 2]], 1)
    """

    workers = 1

    def __init__(
        self,
        variables: Sequence[Variable],
        columns: Sequence[_Codes],
        weights: npt.NDArray[np.int64] | npt.NDArray[np.float64] | None = None,
        block_rows: int | None = None,
        threads: int | None = None,
        *,
        missing: Collection[str] = (),
        rows_in: RowsIn = "disk",
    ) -> None:
        self.variables = tuple(variables)
        self.n_rows = len(columns[0])
        self.rows_in: RowsIn = rows_in
        self.passes = 0
        self.threads = thread_count(threads, who="counts")
        self._block_rows = block_rows
        if block_rows is not None:
            require_count("counts", "block_rows", block_rows, minimum=1)
        arities = [v.arity + (v.name in missing) for v in self.variables]
        self._bits = sum(arities)
        arrays: list[Any] = [np.asarray(column) for column in columns]  # no copies
        weight_array: Any = None if weights is None else np.asarray(weights)
        self.has_real_weights = weight_array is not None and weight_array.dtype == np.float64
        self.total_weight: int | float = (
            self.n_rows if weight_array is None else total_of(weight_array)
        )
        self._scale = 1.0
        if self.has_real_weights:
            self._scale = whole_scale(self.total_weight)
            self.total_weight = _whole_sum(weight_array, self._scale)
        self._blocks = _core.Blocks(self.n_rows, arrays, arities, weight_array)

    def count(self, families: FamilyArrays, *, max_cells: float) -> list[ObservedCounts]:
        """Count families; see `CountProvider`.

        Raises
        ------
        NotEnoughMemoryError
            When a family has more observed cells.
        KeyboardInterrupt
            Within a tenth of a second of Ctrl-C.
        """
        if not len(families[0]):
            return []
        room = max(_SHARE_FOR_COUNTS * memory_left(), _ALWAYS)
        try:
            counts, n_passes = self._blocks.count(
                *families, self.block_rows, max_cells, room, self._scale, self.threads
            )
        except _core.TooManyCellsError:
            raise too_many_cells() from None
        self.passes += n_passes
        peak_memory()  # looked up while the counts are there
        return counts

    @property
    def block_rows(self) -> int:
        """Rows counted at a time."""
        if self._block_rows is not None:
            return min(self._block_rows, _MAX_BLOCK_ROWS, self.n_rows)
        each = self._bits / 8 + _BYTES_PER_ROW * self.threads
        fitting = int(_SHARE_FOR_BLOCK * memory_left() / each)
        return min(max(fitting, _LEAST_ROWS), _MOST_ROWS, self.n_rows)


def whole_scale(total_weight: float) -> float:
    """Return by what real weights are multiplied and rounded, so that any sum of them fits.

    Sums of real numbers depend on their order, those of whole numbers do not.
    """
    return 2.0 ** (61 - math.frexp(total_weight)[1])


def _whole_sum(weights: npt.NDArray[np.float64], scale: float) -> float:
    """Add up weights that are rounded to multiples of 1 / scale, part after part."""
    total = 0
    for first in range(0, len(weights), _MOST_ROWS):
        part = weights[first : first + _MOST_ROWS]
        total += int(np.rint(part * scale).astype(np.int64).sum())
    return total / scale
