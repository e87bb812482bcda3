"""The checks behind a Dataset: its columns, their codes and the weights in stored form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError

__all__ = [
    "as_codes",
    "as_weights",
    "code_type",
    "locked",
    "table_names",
    "total_of",
]

_Array = TypeVar("_Array", bound=npt.NDArray[Any])

# Sums of whole weights stay exact in float64 below this.
_MAX_TOTAL = 2**53


def code_type(arity: int) -> type[np.uint8] | type[np.uint16]:
    """Return the smallest type for the codes of the states and of missing values."""
    return np.uint8 if arity <= 255 else np.uint16


def locked(array: _Array) -> _Array:
    """Make an array read-only."""
    array.flags.writeable = False
    return array


def as_codes(
    variable: Variable, column: npt.ArrayLike
) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
    """Copy a column of codes into its stored form, or name the first code out of range."""
    who = f"Dataset: column {variable.name!r}"
    given = np.asarray(column)
    if given.ndim != 1:
        raise DataError(f"{who}: a one-dimensional array is needed, got {given.ndim} dimensions")
    if given.size and given.dtype.kind not in "bui":
        raise DataError(f"{who}: codes must be integers, got {given.dtype}")
    if given.size and (given.min() < 0 or given.max() > variable.arity):
        row = int(np.argmax((given < 0) | (given > variable.arity)))
        raise DataError(
            f"{who}: codes of {variable.arity} states run from 0 to {variable.arity - 1} "
            f"({variable.arity} for a missing value), got {given[row]} in row {row}"
        )
    return np.array(given, np.uint8) if variable.arity <= 255 else np.array(given, np.uint16)


def as_weights(
    weights: npt.ArrayLike, *, who: str
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Copy row weights into their stored form, or name the first row that is wrong."""
    given = np.asarray(weights)
    if given.ndim != 1:
        raise DataError(f"{who}: weights must be one-dimensional, got {given.ndim} dimensions")
    try:
        real = given.astype(np.float64)
    except (TypeError, ValueError):
        kind = {"U": "text", "S": "bytes", "O": "objects"}.get(given.dtype.kind, str(given.dtype))
        raise DataError(f"{who}: weights must be numbers, got {kind}") from None
    wrong = ~(np.isfinite(real) & (real >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{who}: weights must be finite numbers >= 0, got {real[row]} in row {row + 1:,}"
        )
    with np.errstate(over="ignore"):
        total = float(real.sum())
    if total == 0 and len(real):
        raise DataError(f"{who}: at least one weight must be above zero, all are 0")
    if np.all(real == np.floor(real)):
        if total >= _MAX_TOTAL:
            raise DataError(f"{who}: the sum of whole weights must be below 2**53, got {total:g}")
        return real.astype(np.int64)
    if not np.isfinite(total):
        raise DataError(f"{who}: the sum of the weights must be finite, got {total}")
    return real


def total_of(weights: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> int | float:
    """Sum of weights in stored form: an int when they are whole."""
    if weights.dtype == np.int64:
        return int(weights.sum())
    return float(weights.sum())


def table_names(
    variables: Sequence[Variable],
    columns: Sequence[npt.NDArray[Any]],
    weights: npt.NDArray[Any] | None,
) -> tuple[str, ...]:
    """Check that columns in their stored form fit together; return the names of the variables."""
    if not variables:
        raise DataError("Dataset: at least one variable is needed, got none")
    names = tuple(variable.name for variable in variables)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"Dataset: two variables are called {twice!r}")
    n_rows = len(columns[0])
    if n_rows == 0:
        raise DataError("Dataset: at least one row is needed, got none")
    for name, column in zip(names, columns, strict=True):
        if len(column) != n_rows:
            raise DataError(
                f"Dataset: column {name!r} has {len(column):,} rows, "
                f"column {names[0]!r} has {n_rows:,}"
            )
    if weights is not None and len(weights) != n_rows:
        raise DataError(f"Dataset: {n_rows:,} rows need as many weights, got {len(weights):,}")
    return names
