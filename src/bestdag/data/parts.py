"""Which rows and columns of a table are meant."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.errors import DataError, InvalidParameterError

__all__ = ["name_list", "random_part", "row_positions"]


def name_list(columns: str | Iterable[str]) -> list[str]:
    """Return the names of columns; one may stand alone."""
    return [columns] if isinstance(columns, str) else list(columns)


def random_part(n_rows: int, fraction: float, seed: int) -> npt.NDArray[np.bool_]:
    """Draw a share of the rows: at least one of them, and not all."""
    if isinstance(fraction, bool) or not 0 < fraction < 1:
        raise InvalidParameterError(
            f"split: fraction must be a number between 0 and 1, got {fraction!r}"
        )
    if n_rows < 2:
        raise DataError("split: at least two rows are needed, got one")
    n_first = min(max(round(fraction * n_rows), 1), n_rows - 1)
    first = np.zeros(n_rows, dtype=np.bool_)
    first[np.random.default_rng(seed).permutation(n_rows)[:n_first]] = True
    return first


def row_positions(
    rows: slice | Sequence[int] | Sequence[bool] | npt.NDArray[Any], n_rows: int
) -> slice | npt.NDArray[Any]:
    """Check a choice of rows; what comes back can index a column."""
    if isinstance(rows, slice):
        chosen: slice | npt.NDArray[Any] = rows
        n_chosen = len(range(*rows.indices(n_rows)))
    else:
        chosen = np.asarray(rows)
        n_chosen = _n_positions(chosen, n_rows)
    if n_chosen == 0:
        raise DataError("select: at least one row is needed, got none")
    return chosen


def _n_positions(rows: npt.NDArray[Any], n_rows: int) -> int:
    if rows.ndim != 1:
        raise DataError("select: rows must be a slice, a list of positions or a boolean mask")
    if rows.dtype.kind == "b":
        if len(rows) != n_rows:
            raise DataError(f"select: a mask of {n_rows:,} rows is needed, got {len(rows):,}")
        return int(np.count_nonzero(rows))
    if rows.size and rows.dtype.kind not in "ui":
        raise DataError(f"select: row positions must be integers, got {rows.dtype}")
    if rows.size and (rows.min() < -n_rows or rows.max() >= n_rows):
        worst = rows.max() if rows.max() >= n_rows else rows.min()
        raise DataError(
            f"select: row {operator.index(worst):,} does not exist, "
            f"there are {n_rows:,} rows (counted from 0)"
        )
    return rows.size
