"""Reading a table to show what is in it, also columns that cannot be variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestdag.data.choice import choose
from bestdag.data.dataset import Dataset
from bestdag.data.encode import ReadOptions, RefusedColumnError, build, coded_column
from bestdag.data.opening import open_table
from bestdag.data.raw import Numbers, RawColumn, RawTable
from bestdag.data.schema import MAX_ARITY
from bestdag.data.written import Written, written_numbers

__all__ = ["Refused", "read_described"]


@dataclass(frozen=True, slots=True)
class Refused:
    """A column without values, or with more than a variable may have states.

    `span` holds the least and the greatest value where all are numbers, `is_whole` says whether
    they are whole, and `n_values` how many different ones there are; where they are not,
    `written` says how numbers are written, if they are.
    """

    is_empty: bool
    span: tuple[float, float] | None = None
    is_whole: bool = False
    n_values: int = 0
    written: Written | None = None


def read_described(
    source: Any,
    *,
    missing_values: Iterable[str] = ("",),
    weights: str | None = None,
    drop: str | Iterable[str] | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> tuple[Dataset, dict[str, Refused]]:
    """Read a table and what is in those of its columns that `read` refuses.

    The settings are those of `read`; missing values are kept. In the Dataset a refused column has
    one state, and its missing values.
    """
    choice = choose(
        source,
        missing="keep",
        missing_values=missing_values,
        max_states=MAX_ARITY,
        weights=weights,
        drop=drop,
        separator=separator,
        sheet=sheet,
        encoding=encoding,
    )
    with open_table(source, choice) as table:
        try:
            return build(table.discrete(table.names), table.weights(), choice.options), {}
        except RefusedColumnError:
            found = {name: _described(table, name, choice.options) for name in table.names}
            columns = [_one_state(n, f) if isinstance(f, Numbers) else f for n, f in found.items()]
            refused = {n: _refused(f) for n, f in found.items() if isinstance(f, Numbers)}
            return build(columns, table.weights(), choice.options), refused


def _described(table: RawTable, name: str, options: ReadOptions) -> RawColumn | Numbers:
    """Return a column that `read` takes, or the numbers in one that it refuses."""
    try:
        (column,) = table.discrete([name])
        coded_column(column, options)
    except RefusedColumnError:
        return table.numbers(name)
    return column


def _one_state(name: str, numbers: Numbers) -> RawColumn:
    """Put one state in the place of all values."""
    return RawColumn(name, ["any"], numbers.is_missing.astype(np.uint8), ("any",), owned=True)


def _refused(numbers: Numbers) -> Refused:
    is_empty = bool(numbers.is_missing.all())
    if is_empty:
        return Refused(is_empty)
    if numbers.wrong is not None:
        return Refused(is_empty, written=written_numbers([str(numbers.wrong[1])]))
    values = numbers.values[~np.isnan(numbers.values)]
    is_whole = bool((values == np.floor(values)).all())
    n_values = len(np.unique(values))
    return Refused(False, (float(values.min()), float(values.max())), is_whole, n_values)
