"""What to do about a table that was refused: columns to leave out or cut, missing values."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bestdag.data.choice import NamelessColumnError
from bestdag.data.dataset import Dataset
from bestdag.data.describe import Refused, read_described
from bestdag.data.labels import number_in
from bestdag.data.number_columns import is_identifier
from bestdag.data.schema import MISSING_STATE, Variable
from bestdag.data.suspects import MARKS, mark_counts, total_by_mark
from bestdag.data.written import Written, written_numbers
from bestdag.errors import DataWarning

__all__ = ["Advice", "advice_on"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Advice:
    """What makes a table one that is read.

    Attributes
    ----------
    missing_values : list of str
        Texts that seem to mark missing values, beside those that were given.
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
        found = mark_counts(table, refused)
        # Numbers may be values at the end of a scale: those are asked about when they are read.
        marks = [mark for mark in total_by_mark(found) if mark in MARKS]
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
