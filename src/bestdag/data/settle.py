"""What is said about a table once its cells are counted: missing cells, and states worth a look.

Rows may be anywhere: only numbers of rows and cells are looked at.
"""

from __future__ import annotations

import inspect
import os
import shlex
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from bestdag.data.holes import holes_text, shown_counts
from bestdag.data.raw import RawColumn
from bestdag.data.schema import MISSING_STATE, Variable
from bestdag.data.suspects import are_like_cells, decimal_columns, marks_among, total_by_mark
from bestdag.errors import DataError, DataWarning

if TYPE_CHECKING:
    from bestdag.data.encode import ReadOptions

__all__ = [
    "fixed_names",
    "refuse_missing",
    "require_rows_left",
    "warn",
    "warn_of_empty_text",
    "warn_of_states",
    "with_missing_state",
]

_SHOWN_COLUMNS = 5
# Dropping rows leaves at least one in so many, unless told to.
_LEAST_PART = 3


def fixed_names(columns: Sequence[RawColumn], variables: Sequence[Variable]) -> set[str]:
    """Name the columns whose states do not depend on which values are seen."""
    fixed = {c.name for c in columns if c.has_fixed_states}
    return fixed | {variable.name for variable in variables if variable.cuts is not None}


def warn_of_empty_text(
    columns: Sequence[RawColumn], variables: Sequence[Variable], options: ReadOptions
) -> None:
    """Say which columns have empty text as a state that nobody declared."""
    found = [
        column.name
        for column, variable in zip(columns, variables, strict=True)
        if "" in variable.states and column.name not in options.states and column.declared is None
    ]
    if found:
        warn(
            f"read: {options.source}: {_columns_have(found)} the state '' (empty cells); "
            f"if they are missing, add '' to missing_values"
        )


def refuse_missing(holes: Mapping[str, int], options: ReadOptions) -> DataError:
    """Return the refusal of cells that are missing, by column."""
    who, what = f"read: {options.source}", holes_text(holes)
    if options.states.keys() >= holes.keys():
        return DataError(
            f'{who}: {what}; set missing to "drop" to leave out their rows'
        ).with_option(f"{who}: {what}; pass --missing drop to leave out their rows")
    return DataError(
        f'{who}: {what}; set missing to "drop", "state" or "keep", or drop the columns'
    ).with_option(
        f"{who}: {what}; pass --missing drop or --missing state, or leave the columns out with "
        f"--drop"
    )


def require_rows_left(
    n_rows: int, n_left: int, holes: Mapping[str, int], options: ReadOptions
) -> None:
    """Refuse to drop all rows or, unless that was allowed, most of them; else say how many."""
    who = f"read: {options.source}"
    if n_left == 0:
        raise DataError(f"{who}: every row has a missing value, so none would be left")
    if not options.allow_few_rows and n_left * _LEAST_PART < n_rows:
        worst = sorted(holes.items(), key=lambda hole: -hole[1])
        shown = shown_counts({name: f"{n:,}" for name, n in worst})
        what = (
            f"{who}: {n_left:,} of {n_rows:,} rows have no missing values, less "
            f"than a third; most are missing in {shown}: drop such columns"
        )
        raise DataError(
            f'{what}, set missing to "state", or pass allow_few_rows=True to go on'
        ).with_option(f"{what} (--drop), use --missing state, or pass --allow-few-rows to go on")
    warn(f"{who}: dropped {n_rows - n_left:,} of {n_rows:,} rows with missing values")


def with_missing_state(variable: Variable, options: ReadOptions) -> Variable:
    """Return a variable whose missing cells are a last state; it may have been declared."""
    if variable.name in options.states and variable.states[-1] == MISSING_STATE:
        return variable
    if MISSING_STATE in variable.states:
        what = (
            f"read: {options.source}: column {variable.name!r} already has a state called "
            f"'missing' beside its missing cells"
        )
        raise DataError(f"{what}; add 'missing' to missing_values").with_option(
            f"{what}; pass --missing-value missing"
        )
    return Variable(variable.name, (*variable.states, MISSING_STATE), variable.cuts)


def warn_of_states(
    columns: Sequence[RawColumn],
    variables: Sequence[Variable],
    count: Callable[[Variable, int], int],
    options: ReadOptions,
    *,
    cuts_are_chosen: bool = False,
) -> None:
    """Warn of marks of missing cells, decimals and single states; `count` counts a code's cells."""
    who = f"read: {options.source}"
    given = {*options.states, *(c.name for c in columns if c.declared is not None)}
    _warn_of_marks(marks_among(variables, count, given), options)
    decimals = [] if cuts_are_chosen else decimal_columns(variables, given)
    if decimals:
        what = f"{who}: {_columns_have(decimals)} decimals, and each value is a state"
        file = options.source if options.source.startswith(("'", '"')) else "DATA"
        warn(
            f'{what}; discretize(..., method="quantile") cuts them',
            f"{what}; learn and bootstrap cut them with --discretize, for other commands to cut "
            f"them: bestdag discretize {file} --method quantile -o FILE",
        )
    _warn_of_names(variables, given, options)
    constant = [variable for variable in variables if variable.arity == 1]
    if constant:
        which = f", {constant[0].states[0]!r}" if len(constant) == 1 else " each"
        warn(f"{who}: {_columns_have([v.name for v in constant])} one state{which}")


def _warn_of_names(
    variables: Sequence[Variable], given: Collection[str], options: ReadOptions
) -> None:
    """Say that the names look like a first row."""
    found = [variable for variable in variables if variable.name not in given]
    if len(found) < len(variables) or not are_like_cells(found):
        return
    names = ", ".join(repr(variable.name) for variable in found[:_SHOWN_COLUMNS])
    more = ", ..." if len(found) > _SHOWN_COLUMNS else ""
    what = f"read: {options.source}: the column names look like a row of data, {names}{more}"
    how = "; if they are, put a line with names above them"
    command = None
    if options.source.endswith((".csv'", '.csv"')):
        rows = f"(seq -s, -f x%g 1 {len(found)}; cat {options.source}) > named.csv"
        command = f"{what}{how}: {rows}"
    warn(what + how, command)


def _warn_of_marks(marked: Mapping[str, Mapping[str, int]], options: ReadOptions) -> None:
    """Say which states may be meant as missing cells."""
    if not marked:
        return
    totals = total_by_mark(marked)
    cells = " and ".join(f"{n:,} {mark!r}" for mark, n in totals.items())
    what = (
        f"read: {options.source}: {_columns_have(list(marked))} {cells} as states; "
        f"if these mark missing cells"
    )
    marks = tuple(sorted({*options.missing_values, *totals}))
    flags = " ".join(f"--missing-value {shlex.quote(mark)}" for mark in totals)
    warn(f"{what}, pass missing_values={marks!r}", f"{what}, pass {flags}")


def warn(message: str, on_command_line: str | None = None) -> None:
    """Warn about the data at the line that called `read`."""
    here = os.path.dirname(__file__)
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(here + os.sep):
        level, frame = level + 1, frame.f_back
    warning = DataWarning(message)
    warning.on_command_line = on_command_line
    warnings.warn(warning, stacklevel=level)


def _columns_have(names: Sequence[str]) -> str:
    """Return the beginning of a sentence about columns, which names the first of them."""
    shown = [repr(name) for name in names[:_SHOWN_COLUMNS]]
    if len(shown) == 1:
        return f"column {shown[0]} has"
    last = f"{len(names) - _SHOWN_COLUMNS:,} more" if len(names) > _SHOWN_COLUMNS else shown.pop()
    return f"columns {', '.join(shown)} and {last} have"
