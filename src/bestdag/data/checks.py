"""Columns in their stored form: checks, choices of rows, tables under one another, other states."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError, unknown_name

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset

__all__ = [
    "as_codes",
    "as_numbers",
    "as_weights",
    "code_type",
    "locked",
    "name_list",
    "random_part",
    "recoded",
    "row_positions",
    "stacked",
    "table_names",
    "total_of",
    "wrong_weight",
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
    codes = np.asarray(column)
    if codes.ndim != 1:
        raise DataError(f"{who}: a one-dimensional array is needed, got {codes.ndim} dimensions")
    if codes.size and codes.dtype.kind not in "bui":
        raise DataError(f"{who}: codes must be integers, got {codes.dtype}")
    if codes.size and (codes.min() < 0 or codes.max() > variable.arity):
        row = int(np.argmax((codes < 0) | (codes > variable.arity)))
        raise DataError(
            f"{who}: codes of {variable.arity} states run from 0 to {variable.arity - 1} "
            f"({variable.arity} for a missing value), got {codes[row]} in row {row}"
        )
    return np.array(codes, np.uint8) if variable.arity <= 255 else np.array(codes, np.uint16)


def wrong_weight(weights: npt.NDArray[Any]) -> int | None:
    """Return the first row whose weight is no finite number >= 0."""
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    return int(np.argmax(wrong)) if wrong.any() else None


def as_numbers(weights: npt.ArrayLike, *, who: str) -> npt.NDArray[np.float64]:
    """Copy row weights as float64; they need not be weights yet."""
    numbers = np.asarray(weights)
    if numbers.ndim != 1:
        raise DataError(f"{who}: weights must be one-dimensional, got {numbers.ndim} dimensions")
    try:
        return numbers.astype(np.float64)
    except (TypeError, ValueError):
        kind = {"U": "text", "S": "bytes", "O": "objects"}.get(
            numbers.dtype.kind, str(numbers.dtype)
        )
        raise DataError(f"{who}: weights must be numbers, got {kind}") from None


def as_weights(
    weights: npt.ArrayLike, *, who: str
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Copy row weights into their stored form, or name the first row that is wrong."""
    real = as_numbers(weights, who=who)
    row = wrong_weight(real)
    if row is not None:
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


_SHOWN_STATES = 6


def stacked(
    parts: Sequence[Dataset],
) -> tuple[tuple[Variable, ...], list[npt.NDArray[Any]], npt.NDArray[Any] | None]:
    """Put the rows of tables with equal variables under one another."""
    for number, part in enumerate(parts, start=1):
        if not hasattr(part, "codes"):
            raise InvalidParameterError(
                f"concat: Datasets are needed, got {type(part).__name__} as number {number}"
            )
    if not parts:
        raise InvalidParameterError("concat: at least one Dataset is needed, got none")
    first = parts[0]
    for number, part in enumerate(parts[1:], start=2):
        _require_same_variables(first, part, number)
    weights = None
    if any(part.weights is not None for part in parts):
        each = [np.ones(p.n_rows, np.int64) if p.weights is None else p.weights for p in parts]
        weights = as_weights(np.concatenate(each), who="concat")
    columns = [np.concatenate([part.codes(name) for part in parts]) for name in first.names]
    return first.variables, columns, weights


def recoded(
    old: Variable, column: npt.NDArray[Any], states: Sequence[str] | None
) -> tuple[Variable, npt.NDArray[Any]]:
    """Express a column in other states; every state that some row shows must be among them.

    Examples
    --------
    >>> new, codes = recoded(Variable("x", ("a", "b")), np.array([0, 1, 2]), ("b", "c", "a"))
    >>> codes  # the 2 was a missing value, now a 3
    array([2, 0, 3], dtype=uint8)
    """
    if states is None or tuple(states) == old.states:
        return old, column
    new = Variable(old.name, tuple(states))
    place = {state: code for code, state in enumerate(new.states)}
    used = np.bincount(column, minlength=old.arity + 1) > 0
    table = np.full(old.arity + 1, new.arity, dtype=code_type(new.arity))
    for code, state in enumerate(old.states):
        if state in place:
            table[code] = place[state]
        elif used[code]:
            raise unknown_name(f"state of {old.name!r}", state, new.states)
    return new, table[column]


def _require_same_variables(first: Dataset, part: Dataset, number: int) -> None:
    for variable in first.variables:
        if variable.name not in part.arities:
            raise DataError(f"concat: Dataset {number} has no variable {variable.name!r}")
        other = part.variable(variable.name)
        if other.states != variable.states:
            raise DataError(
                f"concat: variable {variable.name!r} has states {_shown(variable)} in the first "
                f"Dataset and {_shown(other)} in Dataset {number}; declare them with with_states"
            )
        if other.cuts != variable.cuts:
            raise DataError(
                f"concat: variable {variable.name!r} has other cut points in Dataset {number} "
                f"than in the first"
            )
    for name in part.names:
        if name not in first.arities:
            raise DataError(f"concat: Dataset {number} has a variable {name!r}, the first has not")


def _shown(variable: Variable) -> str:
    more = ", ..." if variable.arity > _SHOWN_STATES else ""
    return f"({', '.join(map(repr, variable.states[:_SHOWN_STATES]))}{more})"
