"""A table in memory as a raw table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.choice import Choice
from bestdag.data.encode import weights_of
from bestdag.data.frames import is_from, raw_column
from bestdag.data.labels import is_absent, label_all, number_in
from bestdag.data.raw import Numbers, RawColumn, without_marks
from bestdag.errors import DataError

__all__ = ["FrameTable"]


class FrameTable:
    """Columns of a frame, a dict or an array; a column is looked at when it is asked for."""

    def __init__(
        self,
        columns: Sequence[tuple[str, Any]],
        choice: Choice,
        weights: npt.NDArray[Any] | None = None,
    ) -> None:
        self.names = choice.variables([name for name, _ in columns])
        self._columns = dict(columns)
        self._choice = choice
        self._options = choice.options
        self._own_weights = weights
        self._raw: dict[str, RawColumn] = {}
        lengths = {name: self._length(name) for name in self.names}
        self.n_rows = lengths[self.names[0]]
        for name, length in lengths.items():
            if length != self.n_rows:
                raise DataError(
                    f"read: {self._options.source}: column {name!r} has {length:,} rows, "
                    f"column {self.names[0]!r} has {self.n_rows:,}"
                )

    def weights(self) -> npt.NDArray[Any] | None:
        """How often each row counts: as a column says, an array that was given, or a Dataset."""
        if isinstance(self._choice.weights, str):
            return weights_of(self._raw_column(self._choice.weights), self._options)
        given = self._choice.given_weights(self.n_rows)
        return self._own_weights if given is None else given

    def has_declared_states(self, name: str) -> bool:
        """Whether a column is categorical, or comes from a Dataset."""
        if _has_numbers(self._columns[name]):
            return False
        return self._raw_column(name).declared is not None

    def numbers(self, name: str) -> Numbers:
        """One column as numbers."""
        if _has_numbers(self._columns[name]):
            return Numbers(
                without_marks(_as_floats(self._columns[name]), self._options.missing_values)
            )
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
        values = without_marks(table[codes], marks)
        is_text = any(isinstance(value, str) for value in raw.values)
        if not wrong.any() or not wrong[codes].any():
            return Numbers(values, is_text=is_text)
        row = int(np.argmax(wrong[codes]))
        return Numbers(values, (row, raw.values[int(codes[row])]), wrong[codes], is_text)

    def discrete(self, names: Sequence[str]) -> list[RawColumn]:
        """Columns as positions in their distinct values."""
        return [self._raw_column(name) for name in names]

    def _length(self, name: str) -> int:
        column = self._columns[name]
        return len(column) if _has_numbers(column) else len(self._raw_column(name).codes)

    def _raw_column(self, name: str) -> RawColumn:
        if name not in self._raw:
            who = f"read: {self._options.source}"
            self._raw[name] = raw_column(name, self._columns[name], who)
        return self._raw[name]


def _has_numbers(column: Any) -> bool:
    """Whether the type of a column is one of numbers."""
    if is_from("pandas", column) and hasattr(column, "to_numpy"):
        from pandas.api.types import is_float_dtype, is_integer_dtype

        return bool(is_float_dtype(column.dtype) or is_integer_dtype(column.dtype))
    if is_from("polars", column) and hasattr(column, "dtype"):
        return bool(column.dtype.is_numeric())
    if is_from("pyarrow", column) and hasattr(column, "type"):
        from pyarrow import types

        kind = column.type
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
    return isinstance(column, np.ndarray) and column.dtype.kind in "iuf" and column.ndim == 1


def _as_floats(column: Any) -> npt.NDArray[np.float64]:
    """Return a column of numbers as float64, NaN where a value is missing."""
    if is_from("pandas", column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if is_from("polars", column):
        import polars

        return np.asarray(column.cast(polars.Float64).to_numpy())
    if is_from("pyarrow", column):
        from pyarrow import compute, float64

        plain = compute.cast(column, float64(), safe=False)
        return np.asarray(plain.to_numpy(zero_copy_only=False))
    numbers = np.asarray(column).astype(np.float64)
    numbers[np.ma.getmaskarray(column)] = np.nan
    return numbers
