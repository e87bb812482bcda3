"""What a classifier needs of a table: discrete columns, numbers not yet cut, unseen states."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import code_type
from bestdag.data.cutting import category_values
from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cuts import cut_between, cut_codes, cut_variable
from bestdag.data.encoder import labels_of
from bestdag.data.labels import number_in
from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES, Variable
from bestdag.data.settings import ReadOptions, choose
from bestdag.data.sinks.memory import dataset_of
from bestdag.data.sources.base import RawColumn
from bestdag.data.table import Table, open_table
from bestdag.data.warnings import number_marks, warn_of_number_marks
from bestdag.errors import DataError, DataWarning, unknown_name
from bestdag.wording import count_of, either

__all__ = [
    "Part",
    "UncutTable",
    "are_unknown",
    "codes_under",
    "notes_on",
    "read_uncut",
    "refuse_unknown",
    "split_numbers",
]

Codes = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Unknown = Mapping[str, npt.NDArray[Any]]

_SHOWN_STATES = 8


@dataclass(frozen=True, slots=True)
class UncutTable:
    """A table whose numeric columns are not cut yet.

    Attributes
    ----------
    names : tuple of str
        All columns in the order of the table.
    dataset : Dataset
        The classes and the columns that are not cut. Missing values are kept.
    numbers : mapping of name to array of float64
        The columns that are cut, NaN where a value is missing.
    unknown : mapping of name to array of objects
        Values that are no state of their column, where there are some, and None for other cells.
    """

    names: tuple[str, ...]
    dataset: Dataset
    numbers: dict[str, npt.NDArray[np.float64]]
    unknown: Unknown = field(default_factory=dict)

    def is_missing(self) -> Mask:
        """Return a boolean mask of the rows with a missing value.

        A value that is no state of its column is unknown, not missing.
        """
        missing = np.zeros(self.dataset.n_rows, bool)
        for name in self.names:
            missing |= self.is_missing_in(name)
        return missing

    def is_missing_in(self, name: str) -> Mask:
        """Return for each row whether its cell of one column is missing."""
        if name in self.numbers:
            return np.isnan(self.numbers[name])
        missing = self.dataset.missing(name)
        return missing & ~are_unknown(self.unknown[name]) if name in self.unknown else missing

    def rows(self, chosen: Mask) -> UncutTable:
        """Return some of the rows, by a boolean mask."""
        return UncutTable(
            self.names,
            self.dataset.select(rows=chosen),
            {name: values[chosen] for name, values in self.numbers.items()},
            {name: values[chosen] for name, values in self.unknown.items()},
        )

    def cut(
        self, variables: Iterable[Variable], weights: npt.NDArray[Any] | None = None
    ) -> Dataset:
        """Return the columns that are these variables, with their numbers cut."""
        listed = list(variables)
        for variable in listed:
            if variable.name not in self.names:
                raise DataError(f"classifier: column {variable.name!r} is missing from the data")
        columns = [
            cut_codes(variable, self.numbers[variable.name])
            if variable.name in self.numbers
            else self.dataset.codes(variable.name)
            for variable in listed
        ]
        return Dataset(listed, columns, weights)


def read_uncut(
    source: Any,
    *,
    target: str,
    max_values: int = DEFAULT_MAX_VALUES,
    max_states: int = DEFAULT_MAX_STATES,
    like: UncutTable | None = None,
    cuts: Mapping[str, Sequence[float]] | None = None,
    **settings: Any,
) -> UncutTable:
    """Read a table without cutting its numbers; the settings are those of `read`.

    The columns that would be cut, by the rule of `category_values`, are numbers; the target never
    is, nor are columns whose cut points are known (`cuts`): they are cut at once.
    With `like` the columns are what they are there, and values that are no states are unknown.
    """
    choice = choose(source, missing="keep", max_states=max_states, **settings)
    with open_table(source, choice) as table, warnings.catch_warnings():
        # A column may well be constant in rows that are only to be predicted.
        warnings.filterwarnings("ignore", message=".*(has|have) one state", category=DataWarning)
        if target not in table.names:
            raise unknown_name("column", target, table.names, who=f"read: {choice.options.source}")
        if like is not None:
            return _like(table, like, choice.options)
        known = _known_intervals(table, target, cuts or {}, choice.options)
        leave = [target, *known]
        numbers, categories = split_numbers(table, max_values, max_states, leave=leave)
        marked = {name: number_marks(values) for name, values in numbers.items()}
        warn_of_number_marks({n: marks for n, marks in marked.items() if marks}, choice.options)
        categories |= known
        whole = [name for name in table.names if name not in numbers and name not in categories]
        discrete = dataset_of(table.discrete(whole), None, choice.options)
        dataset = Dataset._adopt(
            [*discrete.variables, *(variable for variable, _ in categories.values())],
            [*map(discrete.codes, discrete.names), *(codes for _, codes in categories.values())],
        )
        return UncutTable(tuple(table.names), dataset, numbers)


def _known_intervals(
    table: Table, target: str, cuts: Mapping[str, Sequence[float]], options: ReadOptions
) -> dict[str, tuple[Variable, Codes]]:
    """Cut columns at known points; a column may hold the intervals already."""
    for name in cuts:
        if name not in table.names:
            raise unknown_name("column", name, table.names, who=f"read: {options.source}")
        if name == target:
            raise DataError(f"read: {options.source}: the class {name!r} cannot be binned")
    variables = [cut_variable(name, points) for name, points in cuts.items()]
    columns, unknown = codes_under(table, options, variables)
    refuse_unknown(variables, unknown)
    return {v.name: (v, codes) for v, codes in zip(variables, columns, strict=True)}


def split_numbers(
    table: Table,
    max_values: int,
    max_states: int,
    *,
    leave: Collection[str] = (),
    text_has_numbers: bool = True,
) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, tuple[Variable, Codes]]]:
    """Return the numeric columns that are cut, and the others with their values as states.

    A number that is no state counts as the nearest one. Columns to `leave`, those with declared
    states and, unless `text_has_numbers`, those of text are no numeric columns.
    """
    cut: dict[str, npt.NDArray[np.float64]] = {}
    categories: dict[str, tuple[Variable, Codes]] = {}
    for name in table.names:
        if name in leave or table.has_declared_states(name):
            continue
        numbers = table.numbers(name)
        if numbers.wrong is not None or (numbers.is_text and not text_has_numbers):
            continue
        values = category_values(numbers.values, max_values, max_states)
        if values is None:
            cut[name] = numbers.values
        else:
            between = itertools.starmap(cut_between, itertools.pairwise(map(float, values)))
            variable = Variable(name, tuple(map(str, values)), tuple(between))
            categories[name] = variable, cut_codes(variable, numbers.values)
    return cut, categories


def codes_under(
    table: Table, options: ReadOptions, variables: Iterable[Variable]
) -> tuple[list[Codes], dict[str, npt.NDArray[Any]]]:
    """Return the columns that are these variables as their codes, and the values unknown to them.

    Unknown values have the code of a missing value.
    """
    columns: list[Codes] = []
    unknown: dict[str, npt.NDArray[Any]] = {}
    for variable in variables:
        if variable.name not in table.names:
            raise DataError(f"classifier: column {variable.name!r} is missing from the data")
        if variable.cuts is not None and not _holds_states(table, variable):
            columns.append(cut_codes(variable, _numbers(table, variable.name)))
            continue
        (raw,) = table.discrete([variable.name])
        codes, values = _under_states(raw, variable, options)
        columns.append(codes)
        if values is not None:
            unknown[variable.name] = values
    return columns, unknown


def are_unknown(values: npt.NDArray[Any]) -> Mask:
    """Return which cells are unknown, by their values and None for other cells."""
    return np.fromiter((value is not None for value in values), np.bool_, len(values))


def refuse_unknown(variables: Iterable[Variable], unknown: Unknown) -> None:
    """Refuse the first value that is no state of its column."""
    for variable in variables:
        if variable.name not in unknown:
            continue
        values = unknown[variable.name]
        rows = np.flatnonzero(are_unknown(values))
        if len(rows):
            states = variable.states
            shown = ", ".join(map(repr, states[:_SHOWN_STATES]))
            more = f" and {len(states) - _SHOWN_STATES} more" if states[_SHOWN_STATES:] else ""
            raise DataError(
                f"column {variable.name!r}: value {values[rows[0]]!r:.60} in row {rows[0]:,} "
                f"(counted from 0) was not seen in training; known are {shown}{more}; leave the "
                "row out, or pass handle_unknown='ignore'"
            )


def _like(table: Table, like: UncutTable, options: ReadOptions) -> UncutTable:
    codes, unknown = codes_under(table, options, like.dataset.variables)
    lacking = next((name for name in like.numbers if name not in table.names), None)
    if lacking is not None:
        raise DataError(f"classifier: column {lacking!r} is missing from the data")
    numbers = {name: _numbers(table, name) for name in like.numbers}
    return UncutTable(like.names, Dataset(like.dataset.variables, codes), numbers, unknown)


def _holds_states(table: Table, variable: Variable) -> bool:
    """Whether a column holds the intervals of a variable, not numbers."""
    wrong = table.numbers(variable.name).wrong
    return wrong is not None and wrong[1] in variable.states


def _numbers(table: Table, name: str) -> npt.NDArray[np.float64]:
    numbers = table.numbers(name)
    if numbers.wrong is not None:
        raise DataError(
            f"column {name!r}: was a numeric column in training, got {numbers.wrong[1]!r:.60}"
        )
    return numbers.values


def _under_states(
    raw: RawColumn, variable: Variable, options: ReadOptions
) -> tuple[Codes, npt.NDArray[Any] | None]:
    """Return codes, and the values that are no states; numbers are compared as such."""
    arity = variable.arity
    places = {state: code for code, state in enumerate(variable.states)}
    by_number = {number_in(state): code for state, code in places.items()}
    lookup = np.full(len(raw.values) + 1, arity, code_type(arity))
    unknown = np.full(len(raw.values) + 1, None, object)
    for code, (value, text) in enumerate(zip(raw.values, labels_of(raw, options), strict=True)):
        number = None if isinstance(value, str) else number_in(value)
        place = places.get(text) if number is None else by_number.get(number, places.get(text))
        if place is not None:
            lookup[code] = place
        elif text not in options.absent:
            unknown[code] = value
    codes = np.minimum(raw.codes, len(raw.values))
    has_unknown = any(value is not None for value in unknown)
    return lookup[codes], unknown[codes] if has_unknown else None


_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Training rows, and rows to be predicted with their true classes.

    `unknown` says how many cells of a column have values that are no states.
    """

    train: Dataset
    target: str
    test: Dataset
    classes: npt.NDArray[np.int64]
    unknown: Mapping[str, int] = field(default_factory=dict)

    def unseen_classes(self) -> dict[str, int]:
        """Return the classes that no training row has, each with its number of rows."""
        target = self.train.variable(self.target)
        counts = np.bincount(self.classes, minlength=target.arity)
        trained = np.bincount(self.train.codes(target.name), minlength=target.arity)
        places = np.flatnonzero((counts > 0) & (trained == 0)).tolist()
        return {target.states[place]: int(counts[place]) for place in places}

    def unseen_values(self) -> dict[str, int]:
        """Return the columns with values that no training row has, each with its cells.

        Numbers are not among them: each belongs to an interval.
        """
        counts = {}
        for variable in self.test.variables:
            if variable.cuts is None:
                trained = np.bincount(self.train.codes(variable.name), minlength=variable.arity)
                is_unseen = np.append(trained[: variable.arity] == 0, False)
                n_unseen = int(is_unseen[self.test.codes(variable.name)].sum())
                counts[variable.name] = n_unseen + self.unknown.get(variable.name, 0)
        return {name: n for name, n in counts.items() if n}


def notes_on(parts: Iterable[Part]) -> tuple[str, ...]:
    """Say how many rows have classes, and how many cells values, that training rows lack."""
    classes: dict[str, int] = {}
    values: dict[str, int] = {}
    n_rows = 0
    for part in parts:
        n_rows += len(part.classes)
        for total, new in ((classes, part.unseen_classes()), (values, part.unseen_values())):
            for name, n in new.items():
                total[name] = total.get(name, 0) + n
    notes = []
    if classes:
        n = sum(classes.values())
        notes.append(
            f"{n:,} of {n_rows:,} predicted rows {either(n, 'has', 'have')} a class that none "
            f"of their training rows has: {_listing(classes)}"
        )
    if values:
        n = sum(values.values())
        notes.append(
            f"{count_of(n, 'cell')} of {n_rows:,} predicted rows "
            f"{either(n, 'has a value', 'have values')} that none of their training rows has, "
            f"in {_listing(values)}"
        )
    return tuple(notes)


def _listing(counts: Mapping[str, int]) -> str:
    shown = [f"{name!r} ({n:,})" for name, n in list(counts.items())[:_MOST_SHOWN]]
    more = [f"{len(counts) - _MOST_SHOWN} more"] if len(counts) > _MOST_SHOWN else []
    return ", ".join(shown + more)
