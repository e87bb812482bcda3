"""Columns as numbers, one at a time, out of tables in memory and out of DuckDB."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.duck import DuckTable, Field
from bestdag.data.duck_connection import sql_text
from bestdag.data.duck_types import json_value
from bestdag.data.encode import RawColumn, ReadOptions
from bestdag.data.frames import is_from, raw_column
from bestdag.data.labels import is_absent, label_all, number_in
from bestdag.errors import DataError

__all__ = ["DuckNumbers", "FrameNumbers", "NumberTable", "Numbers"]

_NUMBER_TYPES = (int, float, np.float32, Decimal)
# A column is asked for two or three times; so many bytes of answers are kept.
_MAX_KEPT = 1 << 28


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column as float64, NaN where a cell is missing.

    `wrong` is the first cell that is no number, with its row, if there is one; `is_wrong` says
    which cells are such.
    """

    values: npt.NDArray[np.float64]
    wrong: tuple[int, Any] | None = None
    is_wrong: npt.NDArray[np.bool_] | None = None

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Which cells are missing."""
        absent = np.isnan(self.values)
        return absent if self.is_wrong is None else absent & ~self.is_wrong


class NumberTable(Protocol):
    """A table that gives its columns as numbers or as distinct values."""

    def has_declared_states(self, name: str) -> bool:
        """Whether the source itself says what the states of a column are."""
        ...

    def numbers(self, name: str) -> Numbers:
        """One column as numbers."""
        ...

    def discrete(self, names: Sequence[str]) -> list[RawColumn]:
        """Columns as positions in their distinct values."""
        ...


class FrameNumbers:
    """A table in memory."""

    def __init__(self, columns: Mapping[str, Any], options: ReadOptions) -> None:
        self._columns = columns
        self._options = options
        self._raw: dict[str, RawColumn] = {}

    def length(self, name: str) -> int:
        """Return how many rows a column has."""
        numbers = _typed_numbers(self._columns[name])
        return len(self._raw_column(name).codes) if numbers is None else len(numbers)

    def has_declared_states(self, name: str) -> bool:
        """Whether a column is categorical, or comes from a Dataset."""
        if _typed_numbers(self._columns[name]) is not None:
            return False
        return self._raw_column(name).declared is not None

    def numbers(self, name: str) -> Numbers:
        """One column as numbers."""
        typed = _typed_numbers(self._columns[name])
        if typed is not None:
            return Numbers(_without_marks(typed, self._options))
        raw = self._raw_column(name)
        marks = self._options.missing_values
        table = np.full(len(raw.values) + 1, np.nan)
        wrong = np.zeros(len(raw.values) + 1, dtype=np.bool_)
        for code, value in enumerate(raw.values):
            number = number_in(value)
            if number is not None:
                table[code] = number
            elif not is_absent(value):
                wrong[code] = (label_all([value]) or [""])[0] not in marks
        codes = np.minimum(raw.codes, len(raw.values))
        values = _without_marks(table[codes], self._options)
        if not wrong.any() or not wrong[codes].any():
            return Numbers(values)
        row = int(np.argmax(wrong[codes]))
        return Numbers(values, (row, raw.values[int(codes[row])]), wrong[codes])

    def discrete(self, names: Sequence[str]) -> list[RawColumn]:
        """Columns as positions in their distinct values."""
        return [self._raw_column(name) for name in names]

    def _raw_column(self, name: str) -> RawColumn:
        if name not in self._raw:
            who = f"read: {self._options.source}"
            self._raw[name] = raw_column(name, self._columns[name], who)
        return self._raw[name]


class DuckNumbers:
    """A table that DuckDB reads column by column."""

    def __init__(self, table: DuckTable, fields: Mapping[str, Field], options: ReadOptions) -> None:
        self._table = table
        self._fields = fields
        self._options = options
        self._kept: dict[str, Numbers] = {}
        self.n_rows: int = table.select("count(*)")[0][0]
        if self.n_rows == 0:
            raise DataError(f"read: {options.source} has no rows")

    def weights(self, field: Field) -> npt.NDArray[np.float64]:
        """One column as weights."""
        found = self._table.arrays(f"TRY_CAST({field.sql} AS DOUBLE) AS w")["w"]
        return self._table.checked_weights(field, found, self._options)

    def has_declared_states(self, name: str) -> bool:
        """Whether a column is an ENUM."""
        return self._fields[name].declared is not None

    def numbers(self, name: str) -> Numbers:
        """One column as numbers."""
        if name in self._kept:
            return self._kept[name]
        found = self._read(self._fields[name])
        if (len(self._kept) + 1) * found.values.nbytes <= _MAX_KEPT:
            self._kept[name] = found
        return found

    def _read(self, field: Field) -> Numbers:
        text = field.cheapest
        if field.value is json_value:  # text that spells a number is in quotes there
            text = f"trim({text}, '\"')"
        number = f"TRY_CAST({text} AS DOUBLE)"
        if field.value in _NUMBER_TYPES:
            found = self._table.arrays(f"{number} AS n")
            return Numbers(_without_marks(_filled(found["n"]), self._options))
        # DuckDB takes 1_000 for a thousand, and nan for a number.
        no_number = f"({number} IS NULL OR isnan({number}) OR contains({field.sql}, '_'))"
        absent = ", ".join(map(sql_text, self._absent_texts(field)))
        wrong = f"{field.sql} IS NOT NULL AND {no_number}"
        if absent:
            wrong += f" AND {field.sql} NOT IN ({absent})"
        found = self._table.arrays(f"{number} AS n, {wrong} AS b")
        values = _without_marks(_filled(found["n"]), self._options)
        is_wrong = np.asarray(found["b"])
        if not is_wrong.any():
            return Numbers(values)
        row = int(np.argmax(is_wrong))
        cell = self._table.select(f"{field.sql} AS c", row=row)[0][0]
        return Numbers(values, (row, field.value(cell)), is_wrong)

    def discrete(self, names: Sequence[str]) -> list[RawColumn]:
        """Columns as positions in their distinct values."""
        if not names:
            return []
        fields = [self._fields[name] for name in names]
        return self._table.read(fields, None, self._options)[0]

    def _absent_texts(self, field: Field) -> list[str]:
        marks = sorted(self._options.missing_values)
        if field.value is not json_value:
            return marks
        return ["null", *marks, *(json.dumps(mark, ensure_ascii=False) for mark in marks)]


def _typed_numbers(column: Any) -> npt.NDArray[np.float64] | None:
    """Return a column whose type is a number's as float64; None for any other type."""
    if isinstance(column, tuple) and isinstance(column[0], Dataset):
        return None
    if is_from("pandas", column) and hasattr(column, "to_numpy"):
        from pandas.api.types import is_float_dtype, is_integer_dtype

        if not (is_float_dtype(column.dtype) or is_integer_dtype(column.dtype)):
            return None
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if is_from("polars", column) and hasattr(column, "dtype"):
        import polars

        if not column.dtype.is_numeric():
            return None
        return np.asarray(column.cast(polars.Float64).to_numpy())
    if is_from("pyarrow", column) and hasattr(column, "type"):
        return _arrow_numbers(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" and column.ndim == 1:
        numbers = np.asarray(column).astype(np.float64)
        numbers[np.ma.getmaskarray(column)] = np.nan
        return numbers
    return None


def _arrow_numbers(column: Any) -> npt.NDArray[np.float64] | None:
    from pyarrow import compute, float64, types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        return None
    return np.asarray(compute.cast(column, float64(), safe=False).to_numpy(zero_copy_only=False))


def _without_marks(
    values: npt.NDArray[np.float64], options: ReadOptions
) -> npt.NDArray[np.float64]:
    """Make NaN of the numbers that mark missing cells, however they are written."""
    found = [number_in(mark) for mark in sorted(options.missing_values)]
    marks = [number for number in found if number is not None]
    if not marks:
        return values
    return np.where(np.isin(values, marks), np.nan, values)


def _filled(found: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    masked: Any = np.ma.asarray(found)
    return np.asarray(masked.filled(np.nan), dtype=np.float64)
