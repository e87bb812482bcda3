"""Values that may not be meant as states: marks of missing values, spellings, and decimals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.labels import number_in
from bestdag.data.schema import MISSING_STATE, Variable

__all__ = [
    "MARKS",
    "are_decimals",
    "are_like_cells",
    "decimal_columns",
    "mark_counts",
    "marks_among",
    "marks_far_from_others",
    "number_marks",
    "spellings",
    "total_by_mark",
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

    return marks_among(data.variables, count, declared)


def marks_among(
    variables: Iterable[Variable], count: Callable[[Variable, int], int], declared: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return the same of states whose cells `count` counts."""
    found: dict[str, dict[str, int]] = {}
    for variable in variables:
        marks = _marks_in(variable.states)
        if marks and variable.name not in declared:
            counts = {mark: count(variable, variable.code(mark)) for mark in marks}
            found[variable.name] = {mark: n for mark, n in counts.items() if n}
    return {name: counts for name, counts in found.items() if counts}


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
    found: list[float] = []
    if len(values) == 0 or np.isnan(values).all():
        return found
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low in _LOW_MARKS:
        others = values[values > low]
        if len(others) and others.min() >= 0:
            is_clear = low != -1.0 or len(np.unique(others)) >= _LEAST_OTHERS
            found += [low] if is_clear else []
    if high in _HIGH_MARKS:
        others = values[values < high]
        if len(others) and others.max() < high / 2:
            found.append(high)
    return found


def number_marks(values: npt.NDArray[np.float64]) -> dict[str, int]:
    """Count the cells of such numbers, by their text."""
    far = marks_far_from_others(values)
    return {f"{mark:g}": int(np.count_nonzero(values == mark)) for mark in far}


def spellings(states: Sequence[str]) -> list[list[str]]:
    """Return the states that differ only in case or blanks, those that do together.

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
    is_found = False
    for state in variable.states:
        if state in (*MARKS, MISSING_STATE):
            continue
        number = number_in(state)
        if number is None:
            return False
        is_found = is_found or not number.is_integer()
    return is_found


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
        found = [number for number in numbers if number is not None]
        is_count = found == [found[0] + k for k in range(len(found))]
        return not is_count and all(
            number_in(state) is not None for v in variables for state in v.states[:2]
        )
    return 2 * sum(v.name in v.states for v in variables) > len(variables)


def total_by_mark(found: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Add up the counts of all columns."""
    totals: dict[str, int] = {}
    for counts in found.values():
        for mark, n in counts.items():
            totals[mark] = totals.get(mark, 0) + n
    return totals
