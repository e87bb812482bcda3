"""What a source is: named columns, whole or in batches; it decides nothing about states.

A file, a relation, a query and a table in memory are all opened as a `Source` (see
`bestdag.data.sources.open_source`). What its values become is for the encoder to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.labels import is_absent, number_in
from bestdag.data.schema import Variable
from bestdag.errors import DataError

__all__ = [
    "LEAST_ROWS",
    "LEAST_SHARE",
    "SAMPLE_ROWS",
    "Batch",
    "Limits",
    "Numbers",
    "RawColumn",
    "Source",
    "encoded_column",
    "promised_rows",
    "small_codes",
    "take_codes",
    "weight_error",
    "without_marks",
]

_Array = npt.NDArray[Any]
# Equal rows are put together unasked in tables of so many rows at least, where one in so many is
# left at most, by the look of so many first rows.
LEAST_ROWS, LEAST_SHARE, SAMPLE_ROWS = 100_000, 8, 1 << 16
_BOOLEAN = {bool, np.bool_, type(None)}


def _no_codes() -> _Array:
    return np.empty(0, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class RawColumn:
    """A column as positions in its distinct values.

    `codes` are positions in `values`; any position past the end is a missing value. A column that
    comes in batches has none. `declared` are states the source itself declares, in order;
    `variable` is what the column was before. Codes that are `owned` may be overwritten. `keys`
    are the values as the source has them, which `batches` goes by. `counts` says how
    many rows have each of them and then how many have none, where the source knows.
    """

    name: str
    values: Sequence[Any]
    codes: _Array = field(default_factory=_no_codes)
    declared: tuple[str, ...] | None = None
    variable: Variable | None = None
    owned: bool = False
    keys: Sequence[Any] = ()
    counts: npt.NDArray[np.int64] | None = None

    @property
    def has_fixed_states(self) -> bool:
        """Whether the states do not depend on which values are seen."""
        types = set(map(type, self.values))
        return self.declared is not None or bool(types & {bool, np.bool_} and types <= _BOOLEAN)


@dataclass(slots=True, eq=False)
class Batch:
    """Some rows: the codes of each column, as in `RawColumn`.

    `n_equal` says how many rows of the source each of them is, where equal ones are combined;
    `weights` are their weights, NaN where there is no number.
    """

    codes: list[_Array]
    n_equal: npt.NDArray[np.int64] | None = None
    weights: _Array | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How many distinct values columns may have, and the function that refuses more.

    `refuse` gets the counts, the names of columns whose count is an estimate, and a function from
    a name to examples of its values.
    """

    most: Mapping[str, int]
    missing_values: frozenset[str]
    refuse: Callable[[Mapping[str, int], Collection[str], Callable[[str], Iterable[str]]], None]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column as float64, NaN where a value is missing.

    `wrong` is the row and content of the first value that is no number and no missing one, if any,
    and `not_numbers` says which rows have such values. `is_text` says that the source has text,
    which may spell numbers.
    """

    values: npt.NDArray[np.float64]
    wrong: tuple[int, Any] | None = None
    not_numbers: npt.NDArray[np.bool_] | None = None
    is_text: bool = False

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Which values are missing, not merely no numbers."""
        missing = np.isnan(self.values)
        return missing if self.not_numbers is None else missing & ~self.not_numbers


class Source(Protocol):
    """A table whose columns can be had one by one; `title` is how messages call it.

    A source that is `in_memory` gives whole columns (`columns`). Others also give the distinct
    values first (`distinct`), and then rows in batches (`batches`), as often as needed: a table
    larger than memory is read in two passes. A source decides nothing: which values are states,
    missing or numbers is decided after it, so that every kind of table is treated alike.
    """

    title: str
    names: Sequence[str]
    in_memory: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def own_weights(self) -> _Array | None:
        """How often each row counts, where the source itself says so."""
        ...

    def choose(self, names: Sequence[str], weight: str | None) -> None:
        """Prepare to read these columns; refuse a column that holds no values."""
        ...

    def declared(self, name: str) -> tuple[str, ...] | None:
        """Return the states of a column, in order, if the source declares them; else None."""
        ...

    def numbers(self, name: str, missing_values: Collection[str]) -> Numbers:
        """Return a column as numbers; `missing_values`, and numbers they spell, are missing."""
        ...

    def weights(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column as numbers, NaN where a value is none."""
        ...

    def cell(self, name: str, row: int) -> Any:
        """Return one value as the source has it, for messages; None where there is none."""
        ...

    def columns(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Return whole columns with their codes."""
        ...

    def distinct(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Return the distinct values of columns, without codes; `limits` refuses too many."""
        ...

    def batches(
        self, columns: Sequence[RawColumn], weight: str | None, *, collapse: bool
    ) -> Generator[Batch, None, None]:
        """Yield the codes of all rows in order; with `collapse` of the different rows, by codes.

        A batch may be changed by what takes it.
        """
        ...

    def has_few_different_rows(self, names: Sequence[str], weight: str | None) -> bool:
        """Whether a sample promises that combining equal rows leaves at most one in eight."""
        ...


def promised_rows(n_different: int, n_once: int, n_twice: int) -> float:
    """Return the least number of different rows that a sample of rows promises in all.

    With d different rows, f1 of them seen once and f2 twice, it is d + f1 (f1 - 1) / (2 (f2 + 1))
    (Chao 1984).
    """
    return n_different + n_once * (n_once - 1) / (2 * (n_twice + 1))


def without_marks(
    values: npt.NDArray[np.float64], missing_values: Collection[str]
) -> npt.NDArray[np.float64]:
    """Make NaN of the numbers that mark missing values, however they are written."""
    spelled = [number_in(mark) for mark in sorted(missing_values)]
    marks = [number for number in spelled if number is not None]
    return np.where(np.isin(values, marks), np.nan, values) if marks else values


def small_codes(codes: _Array, n_values: int) -> _Array:
    """Return codes in their smallest type; a missing value, negative so far, is one past the last.

    Examples
    --------
    >>> small_codes(np.array([1, -1, 0]), 2)
    array([1, 2, 0], dtype=uint8)
    """
    kind = np.uint8 if n_values <= 255 else np.uint16 if n_values <= 65_535 else np.uint32
    if codes.dtype == kind:
        return codes
    small = codes.astype(kind)
    if codes.dtype.kind == "i":
        missing = codes < 0
        if missing.any():
            small[missing] = n_values
    return small


def weight_error(title: str, name: str, cell: Any, row: int) -> DataError:
    """Return the refusal of a value that is no weight."""
    came = "a missing value" if is_absent(cell) or cell == "" else repr(cell)
    return DataError(
        f"read: {title}: weights in column {name!r} must be numbers, got {came} in row {row + 1:,}"
    )


def encoded_column(
    encoder: _core.ColumnEncoder,
    number: int,
    name: str,
    value: Callable[[Any], Any] | None = None,
    declared: tuple[str, ...] | None = None,
) -> RawColumn:
    """Return a column of a native encoder, without codes; labels become values by `value`."""
    column = encoder.column(number)
    labels: Any = column.labels
    if isinstance(labels, np.ndarray):  # a float32 stays one: its text is shorter
        labels = list(labels) if labels.dtype in (np.float32, np.float16) else labels.tolist()
    values = labels if value is None or value is str else [value(label) for label in labels]
    counts = np.append(np.asarray(column.counts), column.n_missing) if column.is_coded else None
    return RawColumn(name, values, declared=declared, keys=labels, counts=counts)


def take_codes(
    encoder: _core.ColumnEncoder, columns: Sequence[RawColumn], threads: int
) -> list[RawColumn]:
    """Give the first columns of a native encoder their codes."""
    places = []
    for column in columns:
        n = len(column.values)
        place = np.arange(-1, n, dtype=np.int64)
        place[0] = n
        places.append(small_codes(place, n))
    codes = encoder.take(range(len(columns)), places, threads)
    return [
        replace(column, codes=array, owned=True)
        for column, array in zip(columns, codes, strict=True)
    ]
