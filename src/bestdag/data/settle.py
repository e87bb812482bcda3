"""What is said about a table once its cells are counted: missing values, and states worth a look.

Rows may be anywhere: only numbers of rows and cells are looked at.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bestdag.data.duck_connection import sql_name
from bestdag.data.holes import holes_text, shown_counts
from bestdag.data.labels import is_absent, label_all, number_in
from bestdag.data.raw import RawColumn
from bestdag.data.schema import MISSING_STATE, Variable
from bestdag.data.suspects import (
    MARKS,
    are_like_cells,
    decimal_columns,
    marks_among,
    spellings,
    total_by_mark,
)
from bestdag.data.written import rewritten, written_numbers
from bestdag.errors import DataError, DataWarning, as_option
from bestdag.wording import first_names, shell_word

if TYPE_CHECKING:
    from bestdag.data.encode import ReadOptions

__all__ = [
    "fixed_names",
    "query_for",
    "refuse_missing",
    "require_rows_left",
    "values_elsewhere",
    "warn",
    "warn_of_empty_text",
    "warn_of_number_marks",
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


def refuse_missing(
    holes: Mapping[str, int], marks: Mapping[str, int], options: ReadOptions
) -> DataError:
    """Return the refusal of values that are missing, by column; others may be marked by texts."""
    who, what = f"read: {options.source}", holes_text(holes)
    if marks:
        cells = " and ".join(f"{n:,} {mark!r}" for mark, n in marks.items())
        refusal = refuse_missing(holes, {}, options)
        also = f"; {cells} may mark missing values too"
        return DataError(
            f"{refusal}{also}: pass missing_values={all_marks(marks, options)!r}"
        ).with_option(f"{refusal.on_command_line}{also}: pass {mark_flags(marks)}")
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
            f'{what}, set missing to "state", or pass allow_few_rows=True to continue'
        ).with_option(f"{what} (--drop), use --missing state, or pass --allow-few-rows to continue")
    warn(f"{who}: dropped {n_rows - n_left:,} of {n_rows:,} rows with missing values")


def with_missing_state(variable: Variable, options: ReadOptions) -> Variable:
    """Return a variable whose missing values are a last state; it may have been declared."""
    if variable.name in options.states and variable.states[-1] == MISSING_STATE:
        return variable
    if MISSING_STATE in variable.states:
        what = (
            f"read: {options.source}: column {variable.name!r} already has a state called "
            f"'missing' beside its missing values"
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
    """Warn of marks of missing values, decimals and single states; `count` counts a code."""
    who = f"read: {options.source}"
    given = {*options.states, *(c.name for c in columns if c.declared is not None)}
    _warn_of_marks(marks_among(variables, count, given), variables, options)
    _warn_of_equal_texts(columns, options)
    _warn_of_spellings([v for v in variables if v.name not in given], options)
    _warn_of_written([v for v in variables if v.name not in given], options)
    decimals = [] if cuts_are_chosen else decimal_columns(variables, given)
    if decimals:
        what = (
            f"{who}: {_columns_have(decimals)} decimals; every distinct number is treated as a "
            "category"
        )
        file = options.source if options.source.startswith(("'", '"')) else "DATA"
        warn(
            f'{what}; discretize(..., method="quantile") bins them',
            f"{what}; --discretize bins them, or: bestdag discretize {file} --method quantile -o "
            "FILE",
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


def _warn_of_marks(
    marked: Mapping[str, Mapping[str, int]], variables: Sequence[Variable], options: ReadOptions
) -> None:
    """Say which states may be meant as missing values."""
    if not marked:
        return
    totals = total_by_mark(marked)
    cells = " and ".join(f"{n:,} {mark!r}" for mark, n in totals.items())
    what = (
        f"read: {options.source}: {_columns_have(list(marked))} {cells} as states; "
        f"if these mark missing values"
    )
    more = ""
    for mark, others in values_elsewhere(marked, variables).items():
        more += f"; {mark!r} is a value of {first_names(others)}, which would be missing there too"
    warn(
        f"{what}, pass missing_values={all_marks(totals, options)!r}{more}",
        f"{what}, pass {mark_flags(totals)}{more}",
    )


def all_marks(marks: Iterable[str], options: ReadOptions) -> tuple[str, ...]:
    """Return the texts that mark missing values, with others beside those that were given."""
    return tuple(sorted({*options.missing_values, *marks}))


def mark_flags(marks: Iterable[str]) -> str:
    """Return the options that say the same on the command line."""
    return " ".join(f"{as_option('missing_value')} {shell_word(mark)}" for mark in marks)


def values_elsewhere(
    marked: Mapping[str, Mapping[str, int]], variables: Sequence[Variable]
) -> dict[str, list[str]]:
    """Name the columns in which a number that marks missing values elsewhere is a plain value."""
    found: dict[str, list[str]] = {}
    for mark in total_by_mark(marked):
        if number_in(mark) is not None:
            others = [
                v.name for v in variables if mark in v.states and mark not in marked.get(v.name, ())
            ]
            if others:
                found[mark] = others
    return found


def warn_of_number_marks(found: Mapping[str, Mapping[str, int]], options: ReadOptions) -> None:
    """Say which numbers of columns that are cut may mark missing values."""
    if not found:
        return
    totals = total_by_mark(found)
    cells = " and ".join(f"{n:,} {mark!r}" for mark, n in totals.items())
    what = (
        f"read: {options.source}: {_columns_have(list(found))} {cells}, far from the other "
        f"numbers; if these mark missing values"
    )
    warn(
        f"{what}, pass missing_values={all_marks(totals, options)!r}",
        f"{what}, pass {mark_flags(totals)}",
    )


def _warn_of_equal_texts(columns: Sequence[RawColumn], options: ReadOptions) -> None:
    """Say where a text and something else have the same text, so that they are one state."""
    for column in columns:
        kinds = {isinstance(value, str) for value in column.values if not is_absent(value)}
        if len(kinds) < 2:
            continue
        present = [value for value in column.values if not is_absent(value)]
        first: dict[str, Any] = {}
        for label, value in zip(label_all(present) or [], present, strict=True):
            other = first.setdefault(label, value)
            if isinstance(other, str) != isinstance(value, str):
                warn(
                    f"read: {options.source}: column {column.name!r} has {other!r} and {value!r}, "
                    f"which are read as one state, {label!r}; make them of one type"
                )
                break


def _warn_of_spellings(variables: Sequence[Variable], options: ReadOptions) -> None:
    """Say which states differ only in case or blanks."""
    columns: dict[str, str] = {}
    groups: list[list[str]] = []
    for variable in variables:
        found = spellings(variable.states)
        if found:
            groups += found
            column = sql_name(variable.name)
            columns[variable.name] = f"lower(trim({column})) AS {column}"
    if groups:
        which = " and ".join(", ".join(map(repr, group)) for group in groups[:3])
        more = " and others" if len(groups) > 3 else ""
        what = (
            f"read: {options.source}: {_columns_have(list(columns))} states that differ only in "
            f"case or blanks, {which}{more}; if they are the same, write them alike"
        )
        _warn_with_query(what, columns, options)


def _warn_of_written(variables: Sequence[Variable], options: ReadOptions) -> None:
    """Say which states are numbers written for people."""
    for variable in variables:
        found = None
        if variable.cuts is None:
            found = written_numbers(
                s for s in variable.states if s not in (*MARKS, MISSING_STATE, "")
            )
        if found is not None:
            what = (
                f"read: {options.source}: column {variable.name!r} holds numbers written as "
                f"{found.example!r}, and each is a state; to read them as numbers, write "
                f"them plainly"
            )
            _warn_with_query(what, {variable.name: found.sql(variable.name)}, options)


def _warn_with_query(what: str, columns: Mapping[str, str], options: ReadOptions) -> None:
    query = query_for(columns, options)
    if query is None:
        warn(what)
    else:
        warn(f"{what}, or read sql({query!r})", f"{what}, or read --sql {shell_word(query)}")


def query_for(columns: Mapping[str, str], options: ReadOptions) -> str | None:
    """Return the query with some columns replaced by SQL, where the source is a CSV file."""
    if options.path is None:
        return None
    return rewritten(options.path, columns, options.separator, options.encoding)


def warn(message: str, on_command_line: str | None = None) -> None:
    """Warn about the data at the line that called `read`."""
    here = os.path.dirname(__file__)
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(here + os.sep):
        level, frame = level + 1, frame.f_back
    warning = DataWarning(message)
    warning.on_command_line = on_command_line or message
    warnings.warn(warning, stacklevel=level)


def _columns_have(names: Sequence[str]) -> str:
    """Return the beginning of a sentence about columns, which names the first of them."""
    shown = [repr(name) for name in names[:_SHOWN_COLUMNS]]
    if len(shown) == 1:
        return f"column {shown[0]} has"
    last = f"{len(names) - _SHOWN_COLUMNS:,} more" if len(names) > _SHOWN_COLUMNS else shown.pop()
    return f"columns {', '.join(shown)} and {last} have"
