"""Values that may not be meant as states: marks of missing cells, and decimals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

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
    "total_by_mark",
]

# Texts that often stand for a missing cell. They are states unless the user says otherwise.
MARKS = (
    *("NA", "N/A", "n/a", "na", "?"),
    *("NaN", "nan", "NAN", "null", "NULL", "Null"),
)


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
        marks = [mark for mark in MARKS if mark in variable.states]
        if marks and variable.name not in declared:
            counts = {mark: count(variable, variable.code(mark)) for mark in marks}
            found[variable.name] = {mark: n for mark, n in counts.items() if n}
    return {name: counts for name, counts in found.items() if counts}


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
