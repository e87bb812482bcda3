"""What is in a table, also in columns that cannot be variables, and what would make it readable."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestdag.data.cutting import is_identifier
from bestdag.data.dataset import Dataset
from bestdag.data.encoder import coded_column
from bestdag.data.labels import number_in
from bestdag.data.schema import MAX_ARITY, MISSING_STATE, Variable
from bestdag.data.settings import NamelessColumnError, ReadOptions, choose
from bestdag.data.sinks.memory import dataset_of, read_into_memory
from bestdag.data.sources.base import Numbers, RawColumn
from bestdag.data.table import Table, open_table
from bestdag.data.warnings import (
    MARKS,
    RefusedColumnError,
    Written,
    mark_counts,
    total_by_mark,
    written_numbers,
)
from bestdag.errors import DataWarning

__all__ = ["Advice", "Refused", "advice_on", "read_described"]


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
            return read_into_memory(table), {}
        except RefusedColumnError:
            described = {name: _described(table, name, choice.options) for name in table.names}
            columns = [
                _one_state(n, f) if isinstance(f, Numbers) else f for n, f in described.items()
            ]
            refused = {n: _refused(f) for n, f in described.items() if isinstance(f, Numbers)}
            weight = table.weight_column()
            return dataset_of(columns, table.weights(), choice.options, weight=weight), refused


def _described(table: Table, name: str, options: ReadOptions) -> RawColumn | Numbers:
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Advice:
    """What makes a table one that is read.

    Attributes
    ----------
    missing_values : list of str
        Texts that seem to mark missing values, beside `missing_values`.
    drop : mapping of name to str
        Columns to leave out, and why.
    cut : list of str
        Columns of numbers with too many values.
    written : mapping of name to Written
        Columns of numbers that are written for people.
    left : Dataset
        The other columns and those to cut, with missing values kept.
    """

    missing_values: list[str] = field(default_factory=list)
    drop: dict[str, str]
    cut: list[str]
    written: dict[str, Written]
    left: Dataset


def advice_on(
    source: Any,
    *,
    max_states: int,
    missing_values: Iterable[str] = ("",),
    drop: Iterable[str] = (),
    **settings: Any,
) -> Advice | None:
    """Look at a table and say what would make it one that is read; None if no column is left."""
    marks: list[str] = []
    index: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            table, refused = read_described(
                source, missing_values=missing_values, drop=drop, **settings
            )
        except NamelessColumnError:
            index, drop = {"": "a row index without a name"}, (*drop, "")
            table, refused = read_described(
                source, missing_values=missing_values, drop=drop, **settings
            )
        counts = mark_counts(table, refused)
        # Numbers may be values at the end of a scale: those are asked about when they are read.
        marks = [mark for mark in total_by_mark(counts) if mark in MARKS]
        if marks:
            table, refused = read_described(
                source, missing_values=(*missing_values, *marks), drop=drop, **settings
            )
    dropped, cut, written = dict(index), [], {}
    for variable in table.variables:
        n_present = table.n_rows - table.missing_counts.get(variable.name, 0)
        look = _look(variable, refused.get(variable.name))
        if isinstance(look, Written):
            written[variable.name] = look
        elif variable.name not in refused and variable.arity <= max_states:
            continue
        elif isinstance(look, str):
            dropped[variable.name] = look
        elif look.is_whole and look.span and is_identifier(look.n_values, n_present, *look.span):
            dropped[variable.name] = (
                f"an identifier or a weight: {look.n_values:,} different whole numbers in "
                f"{n_present:,} rows"
            )
        else:
            cut.append(variable.name)
    names = [name for name in table.names if name not in dropped]
    if not names:
        return None
    left = table.select(columns=names)
    return Advice(missing_values=marks, drop=dropped, cut=cut, written=written, left=left)


def _look(variable: Variable, refused: Refused | None) -> Refused | Written | str:
    """Return what the numbers of a column are like, how they are written, or why there are none."""
    if refused is not None:
        if refused.is_empty:
            return "no values"
        return refused if refused.span is not None else (refused.written or "too many texts")
    states = [state for state in variable.states if state not in (*MARKS, MISSING_STATE)]
    numbers = [number for number in map(number_in, states) if number is not None]
    if numbers and len(numbers) == len(states):
        is_whole = all(number.is_integer() for number in numbers)
        return Refused(False, (min(numbers), max(numbers)), is_whole, len(states))
    return written_numbers(states) or f"{variable.arity:,} different texts"
