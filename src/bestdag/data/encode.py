"""From the distinct values of columns to a Dataset: states, limits, missing values, weights.

Every source ends here. It brings one `RawColumn` per column; this file decides what the states
are, what is missing and what must be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import as_weights, code_type
from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cuts import labelled_variable
from bestdag.data.holes import complete_rows, shown_counts
from bestdag.data.labels import is_absent, is_broken, label_all, sorted_states
from bestdag.data.raw import RawColumn
from bestdag.data.schema import MAX_ARITY, Variable
from bestdag.data.settle import (
    fixed_names,
    query_for,
    refuse_missing,
    require_rows_left,
    warn_of_empty_text,
    warn_of_states,
    with_missing_state,
)
from bestdag.data.suspects import MARKS, mark_counts, total_by_mark
from bestdag.data.written import written_numbers
from bestdag.errors import DataError, InvalidParameterError, unknown_name
from bestdag.wording import shell_word

__all__ = [
    "ReadOptions",
    "RefusedColumnError",
    "WrittenNumbersError",
    "build",
    "check_states",
    "checked_labels",
    "coded_column",
    "coding",
    "labels_of",
    "refuse_many",
    "weights_of",
]

_BLOCK = 1 << 20
# The text of a null or NaN: one that nobody can write, because NUL characters are refused.
_ABSENT = "\0"


class RefusedColumnError(DataError):
    """A column has no values, or more than any variable may have states."""


class WrittenNumbersError(DataError):
    """A column holds numbers that are written for people; `plainly` says so without a query."""

    plainly: str | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The settings of `read` that say what a cell means, checked, with the source's name.

    `path`, `separator` and `encoding` are for proposals that read the same file in another way.
    """

    source: str
    states: Mapping[str, tuple[str, ...]]
    missing: str
    missing_values: frozenset[str]
    max_states: int
    allow_few_rows: bool = False
    path: str | None = None
    separator: str | None = None
    encoding: str | None = None

    @property
    def absent(self) -> frozenset[str]:
        """The texts of cells that have no state."""
        return self.missing_values | {_ABSENT}

    def limit(self, name: str, declared: Sequence[str] | None = None) -> int:
        """Most distinct values a column may have: states that were declared are no surprise."""
        known = self.states.get(name, declared)
        return MAX_ARITY if known is not None else min(self.max_states, MAX_ARITY)


def build(
    columns: Sequence[RawColumn],
    weights: npt.NDArray[Any] | None,
    options: ReadOptions,
    *,
    cuts_are_chosen: bool = False,
) -> Dataset:
    """Make the Dataset, or refuse with one line that says what is wrong.

    Columns of decimals are warned of, unless it was chosen which ones are cut.
    """
    who = f"read: {options.source}"
    if not columns:
        raise DataError(f"{who} has no columns to read")
    if len(columns[0].codes) == 0:
        raise DataError(f"{who} has no rows")
    labels = checked_labels(columns, options)
    pairs = [_coded(column, texts, options) for column, texts in zip(columns, labels, strict=True)]
    variables = [variable for variable, _ in pairs]
    codes = [array for _, array in pairs]
    checked = None if weights is None else as_weights(weights, who=who)
    data = Dataset._adopt(variables, codes, checked)
    del pairs, codes
    warn_of_empty_text(columns, variables, options)
    data = _settle_missing(data, fixed_names(columns, variables), options)

    def count(variable: Variable, code: int) -> int:
        return int(np.count_nonzero(data.codes(variable.name) == code))

    warn_of_states(columns, data.variables, count, options, cuts_are_chosen=cuts_are_chosen)
    return data


def coded_column(column: RawColumn, options: ReadOptions) -> tuple[Variable, npt.NDArray[Any]]:
    """Return what `build` would make of one column, which stays as it is."""
    (texts,) = checked_labels([column], options)
    return _coded(replace(column, owned=False), texts, options)


def checked_labels(columns: Sequence[RawColumn], options: ReadOptions) -> list[list[str]]:
    """Return the texts of the distinct values of columns, none of which has too many."""
    labels = [labels_of(column, options) for column in columns]
    refuse_many(
        {c.name: len(set(t) - options.absent) for c, t in zip(columns, labels, strict=True)},
        {c.name: options.limit(c.name, c.declared) for c in columns},
        options,
        examples=dict(zip((c.name for c in columns), labels, strict=True)).__getitem__,
    )
    return labels


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
            f"possible; discretize it if it holds numbers, or"
        )
        raise RefusedColumnError(f"{what} drop it").with_option(f"{what} leave it out with --drop")
    limit, option = f"max_states={options.max_states}", f"--max-states {options.max_states}"
    for one in wide:
        written = written_numbers(set(examples(one)) - options.absent - {*MARKS})
        if written is not None:
            what = f"{who}: column {one!r} holds numbers written as {written.example!r}"
            plainly = f"{what}; write them plainly"
            error = WrittenNumbersError(plainly)
            query = query_for({one: written.sql(one)}, options)
            if query is not None:
                error = WrittenNumbersError(f"{plainly}, or read sql({query!r})").with_option(
                    f"{plainly}, or read --sql {shell_word(query)}"
                )
            error.plainly = plainly
            raise error
    if len(wide) == 1:
        what = f"{who}: column {name!r} has too many distinct values ({n} >"
        raise DataError(
            f"{what} {limit}); bin it if it holds numbers, drop it, or raise max_states"
        ).with_option(
            f"{what} {option}); bin it if it holds numbers, --drop it, or raise --max-states"
        )
    what = f"{who}: {len(wide)} columns have too many distinct values (>"
    raise DataError(
        f"{what} {limit}): {shown_counts(wide)}; bin those that hold numbers, drop columns, or "
        f"raise max_states"
    ).with_option(
        f"{what} {option}): {shown_counts(wide)}; bin those that hold numbers, --drop columns, or "
        f"raise --max-states"
    )


def weights_of(column: RawColumn, options: ReadOptions) -> npt.NDArray[np.float64]:
    """Read a column as row weights; a cell that is not a number is named with its row."""
    numbers = np.full(len(column.values) + 1, np.nan)
    for code, value in enumerate(column.values):
        try:
            numbers[code] = float(value)
        except (TypeError, ValueError):
            numbers[code] = np.nan
    given: npt.NDArray[np.float64] = numbers[np.minimum(column.codes, len(column.values))]
    bad = np.isnan(given)
    if bad.any():
        row = int(np.argmax(bad))
        code = int(column.codes[row])
        came = repr(column.values[code]) if code < len(column.values) else "a missing value"
        raise DataError(
            f"read: {options.source}: weights in column {column.name!r} must be numbers, "
            f"got {came} in row {row + 1:,}"
        )
    return given


def labels_of(column: RawColumn, options: ReadOptions) -> list[str]:
    """Return the texts of the distinct values; one nobody can write where there is no value."""
    who = f"read: {options.source}: column {column.name!r}"
    present = [value for value in column.values if not is_absent(value)]
    texts = label_all(present)
    if texts is None:
        example = next(value for value in present if label_all([value]) is None)
        raise DataError(
            f"{who} holds {type(example).__name__} values; "
            f"text, numbers, booleans or dates are needed"
        )
    if any("\0" in text for text in texts):
        raise DataError(f"{who} has a value with a NUL character, which no file format keeps")
    broken = next((text for text in texts if not text.isascii() and is_broken(text)), None)
    if broken is not None:
        raise DataError(f"{who} has a value that is not valid text: {broken!r}")
    if len(present) == len(column.values):
        return texts
    found = iter(texts)
    return [_ABSENT if is_absent(value) else next(found) for value in column.values]


def _coded(
    column: RawColumn, texts: list[str], options: ReadOptions
) -> tuple[Variable, npt.NDArray[Any]]:
    variable, table = coding(column, texts, options)
    return variable, _translated(table, column)


def coding(
    column: RawColumn, texts: list[str], options: ReadOptions
) -> tuple[Variable, npt.NDArray[Any]]:
    """Return the variable of a column, and the codes of its distinct values; the last for none."""
    absent = options.absent
    seen = [text for text in texts if text not in absent]
    intervals = _intervals(column, seen, options)
    states = _states(column, seen, options) if intervals is None else intervals.states
    place = {state: code for code, state in enumerate(states)}
    table = np.full(len(texts) + 1, len(states), dtype=code_type(len(states)))
    for code, text in enumerate(texts):
        if text in place:
            table[code] = place[text]
        elif text not in absent:
            raise unknown_name(
                f"value in column {column.name!r}:", text, states, who=f"read: {options.source}"
            )
    variable = Variable(column.name, states) if intervals is None else intervals
    if column.variable is not None and column.variable.states == states:
        variable = column.variable
    return variable, table


def _translated(table: npt.NDArray[Any], column: RawColumn) -> npt.NDArray[Any]:
    # Block by block: numpy indexes through 64-bit copies, eight times the size of the codes.
    codes = column.codes
    in_place = column.owned and codes.dtype == table.dtype
    out = codes if in_place else np.empty(len(codes), dtype=table.dtype)
    last = len(table) - 1
    for start in range(0, len(codes), _BLOCK):
        block = codes[start : start + _BLOCK]
        out[start : start + _BLOCK] = table[np.minimum(block, last)]
    return out


def _intervals(column: RawColumn, seen: list[str], options: ReadOptions) -> Variable | None:
    """Return the variable with cut points whose intervals a column holds, as `discretize` wrote it.

    States that were declared stay as they were declared.
    """
    if column.name in options.states or column.declared is not None:
        return None
    if not any(text == "all" or text.startswith("<=") for text in seen):
        return None
    return labelled_variable(column.name, set(seen))


def _states(column: RawColumn, seen: list[str], options: ReadOptions) -> tuple[str, ...]:
    if column.name in options.states:
        return options.states[column.name]
    if column.declared is not None:
        kept = tuple(s for s in dict.fromkeys(column.declared) if s not in options.missing_values)
        if kept:
            return kept
    if seen and column.has_fixed_states:
        return ("False", "True")
    if not seen:
        what = (
            f"read: {options.source}: column {column.name!r} has no values, all "
            f"{len(column.codes):,} values are missing"
        )
        raise RefusedColumnError(f"{what}; drop it, or declare its states").with_option(
            f"{what}; leave it out with --drop"
        )
    return sorted_states(seen)


def _settle_missing(data: Dataset, fixed: set[str], options: ReadOptions) -> Dataset:
    holes = data.missing_counts
    if not holes or options.missing == "keep":
        return data
    if options.missing == "error":
        marked = mark_counts(data, {*options.states, *fixed})
        raise refuse_missing(holes, total_by_mark(marked), options)
    if options.missing == "state":
        return _with_missing_states(data, options)
    complete = complete_rows(data)
    require_rows_left(data.n_rows, int(np.count_nonzero(complete)), holes, options)
    kept = data.select(rows=complete)
    # A state that was found, not declared, and only in dropped rows is no state of what is left.
    return kept.with_states(
        {
            v.name: [v.states[code] for code in np.unique(kept.codes(v.name))]
            for v in kept.variables
            if v.name not in options.states and v.name not in fixed
        }
    )


def _with_missing_states(data: Dataset, options: ReadOptions) -> Dataset:
    variables: list[Variable] = []
    columns: list[npt.NDArray[Any]] = []
    for variable in data.variables:
        column: npt.NDArray[Any] = data.codes(variable.name)
        if variable.name in data.missing_counts:
            variable = with_missing_state(variable, options)
            # The code of a missing value is the arity, so it is that of a new last state already;
            # where that state was declared, it is one too many.
            column = np.minimum(column, variable.arity - 1)
            column = column.astype(code_type(variable.arity), copy=False)
        variables.append(variable)
        columns.append(column)
    return Dataset._adopt(variables, columns, data.weights)


def check_states(
    states: Mapping[str, Sequence[str]] | None, missing_values: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Check `states=`: text, all different, none of them a missing value."""
    if states is not None and not isinstance(states, Mapping):
        raise InvalidParameterError(
            f"read: states must map column names to lists of texts, got {states!r:.60}"
        )
    for name, listed in (states or {}).items():
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise InvalidParameterError(
                f"read: states of {name!r} must be a list of texts, got {listed!r}"
            )
    checked = {name: Variable(name, tuple(s)).states for name, s in (states or {}).items()}
    for name, listed in checked.items():
        both = [state for state in listed if state in missing_values]
        if both:
            what = f"read: states of {name!r} contain {both[0]!r}, which"
            option = "--missing-value calls missing" if both[0] else "as a cell means missing"
            raise InvalidParameterError(f"{what} missing_values calls missing").with_option(
                f"{what} {option}"
            )
    return checked
