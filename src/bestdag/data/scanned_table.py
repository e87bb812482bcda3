"""A table that DuckDB scans as a raw table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.choice import Choice
from bestdag.data.duck import MAX_TOGETHER, DuckTable, Field, require_readable
from bestdag.data.duck_connection import sql_text
from bestdag.data.duck_types import json_value
from bestdag.data.equal_rows import LEAST_ROWS, has_fractions_sql, promises_few_different_rows
from bestdag.data.raw import Numbers, RawColumn, without_marks
from bestdag.errors import DataError

__all__ = ["ScannedTable"]

_NUMBER_TYPES = (int, float, np.float32, Decimal)
# A column is asked for twice or thrice; so many bytes of answers are kept.
_MAX_KEPT = 1 << 28


class ScannedTable:
    """Columns of a file or relation; `stack` closes what reading them opens.

    A table that is asked for single columns, and cannot give them cheaply, is first copied to a
    file that can.
    """

    def __init__(self, table: DuckTable, choice: Choice, stack: ExitStack) -> None:
        self.names = choice.variables([field.name for field in table.fields])
        self._fields = {field.name: field for field in table.fields}
        self._table = table
        self._choice = choice
        self._options = choice.options
        self._stack = stack
        self._kept: dict[str, Numbers] = {}
        self._weights: npt.NDArray[np.float64] | None = None
        self._n_rows: int | None = None
        require_readable([self._fields[name] for name in self.names], self._options)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self._n_rows is None:
            self._n_rows = int(self._table.select("count(*)")[0][0])
        return self._n_rows

    def weights(self) -> npt.NDArray[Any] | None:
        """How often each row counts: as a column says, or an array that was given."""
        field = self._weight_field()
        if field is not None:
            found = self._table.arrays(f"TRY_CAST({field.sql} AS DOUBLE) AS w")["w"]
            self._weights = self._table.checked_weights(field, found, self._options)
        if isinstance(self._choice.weights, str):
            return self._weights
        return None if self._choice.weights is None else self._choice.given_weights(self.n_rows)

    def scanned(self) -> tuple[DuckTable, list[Field], Field | None]:
        """Return what to ask for rows, the columns, and the column with the weights."""
        if len(self.names) > MAX_TOGETHER:
            self._store()
        return self._table, [self._fields[name] for name in self.names], self._weight_field()

    def may_collapse(self) -> bool:
        """Whether a sample promises that few rows are different; weights may be a column."""
        if self._choice.weights is not None and not isinstance(self._choice.weights, str):
            return False
        if self.n_rows < LEAST_ROWS:
            return False
        table, fields, weight = self.scanned()
        if weight is not None and table.select(has_fractions_sql(weight))[0][0]:
            return False
        return promises_few_different_rows(table, fields, self.n_rows)

    def given_weights(self, n_rows: int) -> npt.NDArray[Any] | None:
        """Return the weights that came as an array."""
        return self._choice.given_weights(n_rows)

    def has_declared_states(self, name: str) -> bool:
        """Whether a column is an ENUM."""
        return self._fields[name].declared is not None

    def numbers(self, name: str) -> Numbers:
        """One column as numbers."""
        if name in self._kept:
            return self._kept[name]
        self._store()
        if self.n_rows == 0:
            raise DataError(f"read: {self._options.source} has no rows")
        found = self._read(self._fields[name])
        if (len(self._kept) + 1) * found.values.nbytes <= _MAX_KEPT:
            self._kept[name] = found
        return found

    def discrete(self, names: Sequence[str]) -> list[RawColumn]:
        """Columns as positions in their distinct values; weights are read in the same scan."""
        if not names:
            return []
        if len(names) < len(self.names):
            self._store()
        weight = self._weight_field()
        fields = [self._fields[name] for name in names]
        columns, weights = self._table.read(fields, weight, self._options)
        self._n_rows = len(columns[0].codes)
        if weight is not None:
            self._weights = weights
        return columns

    def _weight_field(self) -> Field | None:
        """Return the column with the weights, if there is one and it was not read yet."""
        name = self._choice.weights
        return self._fields[name] if isinstance(name, str) and self._weights is None else None

    def _store(self) -> None:
        if self._table.by_column:
            return
        fields, weight = [self._fields[name] for name in self.names], self._weight_field()
        self._table, _ = self._stack.enter_context(self._table.stored(fields, weight))
        self._fields = {field.name: field for field in self._table.fields}

    def _read(self, field: Field) -> Numbers:
        text = field.cheapest
        if field.value is json_value:  # text that spells a number is in quotes there
            text = f"trim({text}, '\"')"
        number = f"TRY_CAST({text} AS DOUBLE)"
        if field.value in _NUMBER_TYPES:
            found = self._table.arrays(f"{number} AS n")
            return Numbers(without_marks(_filled(found["n"]), self._options.missing_values))
        # DuckDB takes 1_000 for a thousand, and nan for a number.
        no_number = f"({number} IS NULL OR isnan({number}) OR contains({field.sql}, '_'))"
        absent = ", ".join(map(sql_text, self._absent_texts(field)))
        wrong = f"{field.sql} IS NOT NULL AND {no_number}"
        if absent:
            wrong += f" AND {field.sql} NOT IN ({absent})"
        found = self._table.arrays(f"{number} AS n, {wrong} AS b")
        values = without_marks(_filled(found["n"]), self._options.missing_values)
        is_wrong = np.asarray(found["b"])
        if not is_wrong.any():
            return Numbers(values)
        row = int(np.argmax(is_wrong))
        cell = self._table.select(f"{field.sql} AS c", row=row)[0][0]
        return Numbers(values, (row, field.value(cell)), is_wrong)

    def _absent_texts(self, field: Field) -> list[str]:
        marks = sorted(self._options.missing_values)
        if field.value is not json_value:
            return marks
        return ["null", *marks, *(json.dumps(mark, ensure_ascii=False) for mark in marks)]


def _filled(found: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    masked: Any = np.ma.asarray(found)
    return np.asarray(masked.filled(np.nan), dtype=np.float64)
