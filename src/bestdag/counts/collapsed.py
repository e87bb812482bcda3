"""The different rows of a table that is not in memory, with how often each occurs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.provider import CountProvider
from bestdag.errors import NotEnoughMemoryError
from bestdag.machine import readable_size, require_memory

__all__ = ["MAX_ROWS", "collapsed_bytes", "collapsed_table"]

# Row numbers of a table in memory are 32 bits wide inside the kernels.
MAX_ROWS = 2**31 - 1

# Of a row and column, while rows are brought together: codes of 16 bits, twice, and at last of 8.
_BYTES_PER_CODE = 6
# Of a row: its weight, and counts of all states of one column, while they are added.
_BYTES_PER_ROW, _BYTES_PER_COUNT = 16, 24


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
