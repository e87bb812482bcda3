"""What is said of values: marks of missing ones, spellings, decimals, numbers as people write."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.labels import is_absent, label_all, number_in
from bestdag.data.schema import DEFAULT_MAX_VALUES, MAX_ARITY, MISSING_STATE, Variable
from bestdag.data.sources.base import RawColumn
from bestdag.data.sources.connection import sql_name, sql_text
from bestdag.data.sources.files import DELIMITERS
from bestdag.errors import DataError, DataWarning
from bestdag.wording import arg, by_reader, count_of, first_names, shell_word

if TYPE_CHECKING:
    from bestdag.data.settings import ReadOptions

__all__ = [
    "MARKS",
    "RefusedColumnError",
    "Written",
    "WrittenNumbersError",
    "are_decimals",
    "are_like_cells",
    "as_marks",
    "count_marks",
    "decimal_columns",
    "fixed_names",
    "mark_counts",
    "marks_far_from_others",
    "missing_text",
    "number_marks",
    "query_for",
    "refuse_many",
    "rewritten",
    "shown_counts",
    "spellings",
    "total_by_mark",
    "warn",
    "warn_of_empty_text",
    "warn_of_number_marks",
    "warn_of_states",
    "wide_numbers",
    "written_numbers",
]

# Texts that often stand for a missing value. They are states unless the user says otherwise.
MARKS = (
    *("NA", "N/A", "n/a", "na", "?", "<NA>", "#N/A"),
    *("NaN", "nan", "NAN", "null", "NULL", "Null", "None", "-", "."),
)
# Numbers that often do, where the other numbers of the column are far from them.
_LOW_MARKS = (-1.0, -9.0, -99.0, -999.0, -9999.0)
_HIGH_MARKS = (99.0, 999.0, 9999.0, 99999.0)
# -1 below so few other numbers may be one of them, as in -1, 0, 1.
_LEAST_OTHERS = 5


def mark_counts(data: Dataset, declared: Collection[str] = ()) -> dict[str, dict[str, int]]:
    """Count the cells that are such a text, by column and text; `declared` columns are left out.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> import warnings; warnings.simplefilter("ignore")
    >>> mark_counts(read({"a": ["x", "NA", "NA"], "b": ["?", "1", "2"]}))
    {'a': {'NA': 2}, 'b': {'?': 1}}
    """

    def count(variable: Variable, code: int) -> int:
        return int(np.count_nonzero(data.codes(variable.name) == code))

    return count_marks(data.variables, count, declared)


def count_marks(
    variables: Iterable[Variable], count: Callable[[Variable, int], int], declared: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return the same of states whose cells `count` counts."""
    counts_by_column: dict[str, dict[str, int]] = {}
    for variable in variables:
        marks = _marks_in(variable.states)
        if marks and variable.name not in declared:
            counts = {mark: count(variable, variable.code(mark)) for mark in marks}
            counts_by_column[variable.name] = {mark: n for mark, n in counts.items() if n}
    return {name: counts for name, counts in counts_by_column.items() if counts}


def _marks_in(states: Sequence[str]) -> list[str]:
    marks = [mark for mark in MARKS if mark in states]
    if "-" in marks and ("+" in states or len(states) == 1):
        marks.remove("-")
    others = [state for state in states if state not in marks]
    numbers = [number_in(state) for state in others]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers) and len(known) > 1:
        far = marks_far_from_others(np.array(known))
        marks += [state for state, number in zip(others, known, strict=True) if number in far]
    return marks


def marks_far_from_others(values: npt.NDArray[np.float64]) -> list[float]:
    """Return the numbers among some that may mark missing values: -999, 99 and the like.

    One is below all others, none of which is negative, or more than twice as large as the next.
    NaN is a missing value.

    Examples
    --------
    >>> marks_far_from_others(np.array([1.0, 5.0, 99.0, 3.0]))
    [99.0]
    >>> marks_far_from_others(np.array([17.0, 90.0, 99.0])), marks_far_from_others(np.arange(-1, 2))
    ([], [])
    """
    far: list[float] = []
    if len(values) == 0 or np.isnan(values).all():
        return far
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low in _LOW_MARKS:
        others = values[values > low]
        if len(others) and others.min() >= 0:
            is_clear = low != -1.0 or len(np.unique(others)) >= _LEAST_OTHERS
            far += [low] if is_clear else []
    if high in _HIGH_MARKS:
        others = values[values < high]
        if len(others) and others.max() < high / 2:
            far.append(high)
    return far


def number_marks(values: npt.NDArray[np.float64]) -> dict[str, int]:
    """Count the cells of such numbers, by their text."""
    far = marks_far_from_others(values)
    return {f"{mark:g}": int(np.count_nonzero(values == mark)) for mark in far}


def spellings(states: Sequence[str]) -> list[list[str]]:
    """Group the states that differ only in case or blanks.

    Examples
    --------
    >>> spellings(["Yes", "no", "yes", "yes "])
    [['Yes', 'yes', 'yes ']]
    """
    groups: dict[str, list[str]] = {}
    for state in states:
        if state not in MARKS:
            groups.setdefault(" ".join(state.casefold().split()), []).append(state)
    return [group for group in groups.values() if len(group) > 1]


def decimal_columns(variables: Iterable[Variable], declared: Collection[str] = ()) -> list[str]:
    """Name the columns whose states are numbers, one of them at least not whole.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> import warnings; warnings.simplefilter("ignore")
    >>> decimal_columns(read({"a": [1.5, 2.5], "b": [1.0, 2.0], "c": ["x", "1.5"]}).variables)
    ['a']
    """
    return [
        variable.name
        for variable in variables
        if variable.name not in declared and variable.cuts is None and are_decimals(variable)
    ]


def are_decimals(variable: Variable) -> bool:
    """Whether the states are numbers, one of them at least not whole."""
    has_fraction = False
    for state in variable.states:
        if state in (*MARKS, MISSING_STATE):
            continue
        number = number_in(state)
        if number is None:
            return False
        has_fraction = has_fraction or not number.is_integer()
    return has_fraction


def wide_numbers(variables: Iterable[Variable]) -> list[str]:
    """Name columns of numbers that were not cut, with decimals or many distinct values."""
    return [
        variable.name
        for variable in variables
        if variable.cuts is None
        and (
            are_decimals(variable) or (variable.arity > DEFAULT_MAX_VALUES and _is_whole(variable))
        )
    ]


def _is_whole(variable: Variable) -> bool:
    """Whether the states are numbers."""
    return all(number_in(state) is not None for state in variable.states if state not in MARKS)


def are_like_cells(variables: Sequence[Variable]) -> bool:
    """Whether the names look like a row: most are states of their own columns, or all numbers.

    Numbers that count the columns are names.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> import warnings; warnings.simplefilter("ignore")
    >>> are_like_cells(read({"5.1": [5.1, 4.9], "setosa": ["setosa", "virginica"]}).variables)
    True
    >>> are_like_cells(read({"7": [1, 2], "9": [2, 1]}).variables)
    True
    >>> are_like_cells(read({"0": [0, 1], "1": [0, 1]}).variables)
    False
    """
    numbers = [number_in(variable.name) for variable in variables]
    if None not in numbers:
        values = [number for number in numbers if number is not None]
        is_count = values == [values[0] + k for k in range(len(values))]
        return not is_count and all(
            number_in(state) is not None for v in variables for state in v.states[:2]
        )
    return 2 * sum(v.name in v.states for v in variables) > len(variables)


def total_by_mark(marked: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Add up the counts of all columns."""
    totals: dict[str, int] = {}
    for counts in marked.values():
        for mark, n in counts.items():
            totals[mark] = totals.get(mark, 0) + n
    return totals


_SIGN, _MONEY, _END = r"\s*[-+]?\s*", r"[$€£¥]?\s*[-+]?", r"\s*[%$€£¥]?\s*"
_THOUSANDS = re.compile(_SIGN + _MONEY + r"(\d{1,3}(,\d{3})+|\d+)(\.\d+)?" + _END, re.ASCII)
_COMMA = re.compile(_SIGN + _MONEY + r"(\d{1,3}(\.\d{3})+|\d+)(,\d+)?" + _END, re.ASCII)


@dataclass(frozen=True, slots=True)
class Written:
    """How the numbers of a column are written: one of them, and whether commas begin decimals."""

    example: str
    has_decimal_commas: bool

    def sql(self, name: str) -> str:
        """Return SQL for the numbers of a column of text."""
        column = sql_name(name)
        if self.has_decimal_commas:
            digits = f"replace(regexp_replace({column}, '[^0-9,+-]', '', 'g'), ',', '.')"
        else:
            digits = f"regexp_replace({column}, '[^0-9.+-]', '', 'g')"
        return f"TRY_CAST({digits} AS DOUBLE) AS {column}"


def written_numbers(texts: Iterable[str]) -> Written | None:
    """Say how numbers are written, if all texts are numbers and some are no plain ones.

    Examples
    --------
    >>> written_numbers(["$1,234", "$950"])
    Written(example='$1,234', has_decimal_commas=False)
    >>> written_numbers(["1,5", "2", "10,25"])
    Written(example='1,5', has_decimal_commas=True)
    >>> written_numbers(["1.5", "2"]), written_numbers(["12", "1-2"])
    (None, None)
    """
    listed = sorted(texts)
    example = next((text for text in listed if number_in(text) is None), None)
    if example is None:
        return None
    for form, is_comma in ((_THOUSANDS, False), (_COMMA, True)):
        if all(form.fullmatch(text) for text in listed):
            return Written(example, is_comma)
    return None


def rewritten(
    path: str,
    columns: Mapping[str, str],
    separator: str | None = None,
    encoding: str | None = None,
) -> str | None:
    """Return a query that reads a CSV file with some columns replaced by SQL; None for other files.

    Examples
    --------
    >>> print(rewritten("t.csv", {"a": "lower(a) AS a"}))
    SELECT * REPLACE (lower(a) AS a) FROM read_csv('t.csv', delim = ',', all_varchar = true)
    """
    bare = PurePath(path)
    bare = bare.with_suffix("") if bare.suffix.lower() == ".gz" else bare
    usual = DELIMITERS.get(bare.suffix.lower())
    sign = separator or usual
    if usual is None or sign is None or sign == " ":
        return None
    options = f"delim = {sql_text(sign)}, all_varchar = true"
    if encoding is not None:
        options += f", encoding = {sql_text(encoding)}"
    source = f"read_csv({sql_text(path)}, {options})"
    return f"SELECT * REPLACE ({', '.join(columns.values())}) FROM {source}"


_SHOWN_NAMES = 5


def fixed_names(columns: Sequence[RawColumn], variables: Sequence[Variable]) -> set[str]:
    """Name the columns whose states do not depend on which values are seen."""
    fixed = {c.name for c in columns if c.has_fixed_states}
    return fixed | {variable.name for variable in variables if variable.cuts is not None}


def warn_of_empty_text(
    columns: Sequence[RawColumn], variables: Sequence[Variable], options: ReadOptions
) -> None:
    """Say which columns have empty text as a state that was not declared."""
    names = [
        column.name
        for column, variable in zip(columns, variables, strict=True)
        if "" in variable.states and column.name not in options.states and column.declared is None
    ]
    if names:
        warn(
            f"read: {options.source}: {_columns_have(names)} the state '' (empty cells); "
            f"if they are missing, add '' to missing_values"
        )


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
    declared = {*options.states, *(c.name for c in columns if c.declared is not None)}
    _warn_of_marks(count_marks(variables, count, declared), variables, options)
    _warn_of_equal_texts(columns, options)
    _warn_of_spellings([v for v in variables if v.name not in declared], options)
    _warn_of_written([v for v in variables if v.name not in declared], options)
    decimals = [] if cuts_are_chosen else decimal_columns(variables, declared)
    if decimals:
        what = (
            f"{who}: {_columns_have(decimals)} decimals; every distinct number is treated as a "
            "category"
        )
        file = options.source if options.source.startswith(("'", '"')) else "DATA"
        python = f"discretize(..., {arg('method', 'quantile')}) bins them"
        command = f"bestdag discretize {file} --method quantile -o FILE"
        warn(f"{what}; {by_reader(python, f'--discretize bins them, or: {command}')}")
    _warn_of_names(variables, declared, options)
    constant = [variable for variable in variables if variable.arity == 1]
    if constant:
        which = f", {constant[0].states[0]!r}" if len(constant) == 1 else " each"
        warn(f"{who}: {_columns_have([v.name for v in constant])} one state{which}")


def _warn_of_names(
    variables: Sequence[Variable], declared: Collection[str], options: ReadOptions
) -> None:
    """Say that the names look like a first row."""
    undeclared = [variable for variable in variables if variable.name not in declared]
    if len(undeclared) < len(variables) or not are_like_cells(undeclared):
        return
    names = ", ".join(repr(variable.name) for variable in undeclared[:_SHOWN_NAMES])
    more = ", ..." if len(undeclared) > _SHOWN_NAMES else ""
    what = f"read: {options.source}: the column names look like a row of data, {names}{more}"
    how = "; if they are, put a line with names above them"
    command = ""
    if options.source.endswith((".csv'", '.csv"')):
        command = f": (seq -s, -f x%g 1 {len(undeclared)}; cat {options.source}) > named.csv"
    warn(f"{what}{how}{by_reader('', command)}")


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
    for mark, others in _values_elsewhere(marked, variables).items():
        more += f"; {mark!r} is a value of {first_names(others)}, which would be missing there too"
    warn(f"{what}, pass {as_marks(totals, options)}{more}")


def as_marks(marks: Iterable[str], options: ReadOptions) -> str:
    """Say how to name texts that mark missing values; an option adds to those already named."""
    every = tuple(sorted({*options.missing_values, *marks}))
    return by_reader(arg("missing_values", every), arg("missing_values", list(marks)))


def _values_elsewhere(
    marked: Mapping[str, Mapping[str, int]], variables: Sequence[Variable]
) -> dict[str, list[str]]:
    """Name the columns in which a number that marks missing values elsewhere is a plain value."""
    elsewhere: dict[str, list[str]] = {}
    for mark in total_by_mark(marked):
        if number_in(mark) is not None:
            others = [
                v.name for v in variables if mark in v.states and mark not in marked.get(v.name, ())
            ]
            if others:
                elsewhere[mark] = others
    return elsewhere


def warn_of_number_marks(marked: Mapping[str, Mapping[str, int]], options: ReadOptions) -> None:
    """Say which numbers of columns that are cut may mark missing values."""
    if not marked:
        return
    totals = total_by_mark(marked)
    cells = " and ".join(f"{n:,} {mark!r}" for mark, n in totals.items())
    what = (
        f"read: {options.source}: {_columns_have(list(marked))} {cells}, far from the other "
        f"numbers; if these mark missing values"
    )
    warn(f"{what}, pass {as_marks(totals, options)}")


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
        alike = spellings(variable.states)
        if alike:
            groups += alike
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
        form = None
        if variable.cuts is None:
            form = written_numbers(
                s for s in variable.states if s not in (*MARKS, MISSING_STATE, "")
            )
        if form is not None:
            what = (
                f"read: {options.source}: column {variable.name!r} holds numbers written as "
                f"{form.example!r}, and each is a state; to read them as numbers, write "
                f"them plainly"
            )
            _warn_with_query(what, {variable.name: form.sql(variable.name)}, options)


def _warn_with_query(what: str, columns: Mapping[str, str], options: ReadOptions) -> None:
    query = query_for(columns, options)
    if query is None:
        warn(what)
    else:
        warn(f"{what}, or read {_as_sql(query)}")


def query_for(columns: Mapping[str, str], options: ReadOptions) -> str | None:
    """Return the query with some columns replaced by SQL, where the source is a CSV file."""
    if options.path is None:
        return None
    return rewritten(options.path, columns, options.separator, options.encoding)


def _as_sql(query: str) -> str:
    return by_reader(f"sql({query!r})", f"--sql {shell_word(query)}")


def warn(message: str) -> None:
    """Warn about the data at the line that called `read`."""
    here = os.path.dirname(__file__)
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(here + os.sep):
        level, frame = level + 1, frame.f_back
    warnings.warn(DataWarning(message), stacklevel=level)


def _columns_have(names: Sequence[str]) -> str:
    """Return the beginning of a sentence about columns, which names the first of them."""
    shown = [repr(name) for name in names[:_SHOWN_NAMES]]
    if len(shown) == 1:
        return f"column {shown[0]} has"
    last = f"{len(names) - _SHOWN_NAMES:,} more" if len(names) > _SHOWN_NAMES else shown.pop()
    return f"columns {', '.join(shown)} and {last} have"


class RefusedColumnError(DataError):
    """A column has no values, or more than any variable may have states."""


class WrittenNumbersError(DataError):
    """A column holds numbers that are written for people; `plainly` says so without a query."""

    plainly: str | None = None


def refuse_many(
    counts: Mapping[str, int],
    limits: Mapping[str, int],
    options: ReadOptions,
    *,
    estimated: Collection[str] = (),
    examples: Callable[[str], Iterable[str]] = lambda name: (),
) -> None:
    """Refuse columns with more distinct values than their limit; `examples` are some of those."""
    wide = {
        name: f"about {n:,}" if name in estimated else f"{n:,}"
        for name, n in counts.items()
        if n > limits[name]
    }
    if not wide:
        return
    who = f"read: {options.source}"
    name, n = next(iter(wide.items()))
    if name in options.states:
        declared = len(options.states[name])
        raise DataError(
            f"{who}: column {name!r} has {n} distinct values, {declared:,} states are declared"
        )
    if limits[name] == MAX_ARITY:
        what = (
            f"{who}: column {name!r} has {n} distinct values, at most {MAX_ARITY:,} states are "
            f"possible; bin it if it holds numbers, or leave it out with {arg('drop')}"
        )
        raise RefusedColumnError(what)
    limit = arg("max_states", options.max_states)
    for one in wide:
        written = written_numbers(set(examples(one)) - options.absent - {*MARKS})
        if written is not None:
            what = f"{who}: column {one!r} holds numbers written as {written.example!r}"
            plainly = f"{what}; write them plainly"
            error = WrittenNumbersError(plainly)
            query = query_for({one: written.sql(one)}, options)
            if query is not None:
                error = WrittenNumbersError(f"{plainly}, or read {_as_sql(query)}")
            error.plainly = plainly
            raise error
    if len(wide) == 1:
        raise DataError(
            f"{who}: column {name!r} has too many distinct values ({n} > {limit}); bin it if it "
            f"holds numbers, {arg('drop')} it, or raise {arg('max_states')}"
        )
    raise DataError(
        f"{who}: {len(wide)} columns have too many distinct values (> {limit}): "
        f"{shown_counts(wide)}; bin those that hold numbers, {arg('drop')} columns, or raise "
        f"{arg('max_states')}"
    )


def missing_text(counts: Mapping[str, int]) -> str:
    """Say which columns have missing values, and how many, by their counts."""
    if len(counts) == 1:
        ((name, n),) = counts.items()
        return f"column {name!r} has {count_of(n, 'missing value')}"
    total = sum(counts.values())
    texts = {name: f"{n:,}" for name, n in counts.items()}
    return f"{len(counts)} columns have {total:,} missing values: {shown_counts(texts)}"


def shown_counts(counts: Mapping[str, str]) -> str:
    """List the first few columns, each with what is said of it."""
    first = [f"{name!r} ({n})" for name, n in list(counts.items())[:_SHOWN_NAMES]]
    return ", ".join(first) + (", ..." if len(counts) > _SHOWN_NAMES else "")
