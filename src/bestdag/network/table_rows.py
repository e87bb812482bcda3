"""What the rows of a conditional table must be, and how a wrong one is named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError
from bestdag.inference.sparse_table import SparseTable
from bestdag.wording import count_of

__all__ = [
    "SUM_TOLERANCE",
    "checked_parents",
    "checked_rows",
    "configuration_text",
    "wrong_row",
]

# Published networks carry rounded numbers: their rows miss 1 by up to 3e-7.
SUM_TOLERANCE = 1e-6


def checked_parents(child: Variable, parents: Iterable[Variable]) -> tuple[Variable, ...]:
    """Return the parents of a table, none of them twice."""
    listed = tuple(parents)
    names = [child.name]
    for parent in listed:
        if parent.name in names:
            raise DataError(f"table of {child.name!r}: {parent.name!r} is listed twice")
        names.append(parent.name)
    return listed


def checked_rows(
    child: Variable,
    parents: tuple[Variable, ...],
    configurations: npt.ArrayLike,
    rows: npt.ArrayLike,
    default: npt.ArrayLike,
) -> SparseTable:
    """Check and sort the rows of `ConditionalTable.of_rows`.

    Rows that equal the default are left out, so one content is one list.
    """
    who = f"table of {child.name!r}"
    try:
        codes = np.array(configurations, dtype=np.int64).reshape(-1, len(parents))
        numbers = np.array(rows, dtype=np.float64).reshape(-1, child.arity)
        other = np.array(default, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"{who}: configurations of {count_of(len(parents), 'parent')} and rows of "
            f"{count_of(child.arity, 'number')} are needed"
        ) from None
    if not parents or len(codes) != len(numbers) or other.shape != (child.arity,):
        raise DataError(
            f"{who}: one row of {child.arity} numbers per configuration and one for all others "
            f"are needed, got {len(numbers):,} rows for {len(codes):,} configurations and "
            f"{other.shape} for the others"
        )
    arities = np.array([parent.arity for parent in parents])
    outside = (codes < 0) | (codes >= arities)
    if outside.any():
        row, axis = np.argwhere(outside)[0].tolist()
        raise DataError(
            f"{who}: codes of {parents[axis].name!r} are 0 to {arities[axis] - 1}, "
            f"got {codes[row, axis]}"
        )
    order = np.lexsort(codes.T[::-1])
    codes, numbers = codes[order].astype(np.uint16), numbers[order]
    twice = (codes[1:] == codes[:-1]).all(axis=1)
    if twice.any():
        raise DataError(
            f"{who}: values{_text_of(parents, codes[int(np.argmax(twice))])} are given twice"
        )
    wrong = wrong_row(np.vstack([numbers, other]))
    if wrong is not None:
        is_listed = wrong[0] < len(codes)
        place = _text_of(parents, codes[wrong[0]]) if is_listed else " for all others"
        raise DataError(f"{who}: values{place} {wrong[1]}")
    own = (numbers.view(np.uint64) != other.view(np.uint64)).any(axis=1)
    return SparseTable(arities.tolist(), codes[own], np.vstack([numbers[own], other]))


def _text_of(parents: Sequence[Variable], codes: npt.NDArray[np.uint16]) -> str:
    number = 0
    for parent, code in zip(parents, codes.tolist(), strict=True):
        number = number * parent.arity + code
    return configuration_text(parents, number)


def wrong_row(rows: npt.NDArray[np.float64]) -> tuple[int, str] | None:
    """Find the first row that is no distribution: its number and what is wrong with it."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = rows.sum(axis=1)
        off = np.abs(sums - 1.0)
    bad = ~(off <= SUM_TOLERANCE) | ~(rows >= 0).all(axis=1)
    if not bad.any():
        return None
    row = int(np.argmax(bad))
    values = rows[row]
    for value in values[~np.isfinite(values)].tolist():
        return row, f"must be finite numbers, got {value}"
    for value in values[values < 0].tolist():
        return row, f"must be at least 0, got {value}"
    shown = ", ".join(map(repr, values[:6].tolist())) + (", ..." if len(values) > 6 else "")
    return row, f"must sum to 1, got {sums[row]:.10g} ({shown})"


def configuration_text(parents: Sequence[Variable], number: int) -> str:
    """Write a configuration for an error message: ' for a=x, b=y', or nothing.

    Examples
    --------
    >>> two = Variable("a", ("no", "yes")), Variable("b", ("x", "y", "z"))
    >>> configuration_text(two, 5), configuration_text((), 0)
    (' for a=yes, b=z', '')
    """
    parts: list[str] = []
    for parent in reversed(parents):
        number, code = divmod(number, parent.arity)
        pair = (parent.name, parent.states[code])
        parts.append("=".join(text if text.isprintable() else repr(text) for text in pair))
    return " for " + ", ".join(reversed(parts)) if parts else ""
