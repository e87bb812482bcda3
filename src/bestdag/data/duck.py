"""Columns out of DuckDB: distinct values first, then codes, in bounded memory.

A table is scanned three times: how many distinct values each column has (estimated, in fixed
memory), which they are (only where they are few), and the codes. Codes travel packed, eight
8-bit columns to a 64-bit word, because DuckDB hands out a mask of one byte per number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bestdag.data.duck_connection import connection, described, run_sql, sql_text, stored_table
from bestdag.data.encode import ReadOptions, refuse_many
from bestdag.data.interrupts import interruptible, temporary_folder, to_the_end
from bestdag.data.packing import code_widths, unpacked, word_sql, words_of
from bestdag.data.raw import RawColumn
from bestdag.errors import DataError
from bestdag.machine import memory_left, thread_count

__all__ = ["MAX_TOGETHER", "DuckTable", "Field", "require_readable"]

_T = TypeVar("_T")

# DuckDB estimates with an error of about 13 %: a column this far above its limit is above it.
_SURELY_MORE = 2
_SLACK = 100
# Counting more distinct values than this exactly takes memory and minutes: an estimate will do.
_MAX_EXACT = 1_000_000
# Columns that one query may ask about: its cost grows faster than their number.
MAX_TOGETHER = 64
# Memory that a thread takes to list the distinct values of a column, twice over.
_BYTES_PER_LIST = 8 << 20
# So few rows are taken whole, for so many columns at a time.
_FEW_ROWS = 2000
_MAX_FETCHED = 500
# Words (and rows times words) that one query may hand over.
_MAX_WORDS = 8
_BATCH_CELLS = 1 << 20
# Cells in a row group of a stored table, which is held in memory; and its least rows.
_GROUP_CELLS = 1 << 21
_LEAST_GROUP = 2048


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, the SQL that gives a cell's text, and how to read that text.

    `problem` says why a column has no states, if that is so; it matters when it is chosen.
    `native` is the column itself where the text has to be made.
    """

    name: str
    sql: str
    value: Callable[[str], Any] = str
    declared: tuple[str, ...] | None = None
    problem: str | None = None
    native: str | None = None

    @property
    def cheapest(self) -> str:
        """SQL with as many distinct values as the text has, or nearly."""
        return self.native or self.sql


@dataclass(frozen=True, slots=True)
class DuckTable:
    """A relation with the columns to read from it.

    `con` is the connection to interrupt on Ctrl-C and `origin` what to select from, when they
    are ours. `by_column` says that a scan of few columns is cheap and always gives the rows in
    the same order.
    """

    relation: Any
    fields: Sequence[Field]
    con: Any = None
    origin: str | None = None
    by_column: bool = False

    def read(
        self, fields: Sequence[Field], weight: Field | None, options: ReadOptions
    ) -> tuple[list[RawColumn], npt.NDArray[np.float64] | None]:
        """Read columns as positions in their distinct values, and one column as weights."""
        require_readable(fields, options)
        if len(fields) > MAX_TOGETHER and not self.by_column:
            with self.stored(fields, weight) as (table, weight):
                return table.read(table.fields[: len(fields)], weight, options)
        n_rows = self.select("count(*)")[0][0] if self.by_column else None
        if n_rows and n_rows <= _FEW_ROWS:
            keys, codes, weights = self._few(fields, weight)
        else:
            n_rows, keys = self.distinct_texts(fields, options)
            codes, weights = self.coded(n_rows, fields, keys, weight, options)
        columns = [
            RawColumn(f.name, [f.value(key) for key in k], c, declared=f.declared, owned=True)
            for f, k, c in zip(fields, keys, codes, strict=True)
        ]
        if weight is None or weights is None:
            return columns, None
        return columns, self.checked_weights(weight, weights, options)

    def checked_weights(
        self, field: Field, found: npt.NDArray[Any], options: ReadOptions
    ) -> npt.NDArray[np.float64]:
        """Return a column of numbers as weights, or name the first row that has none."""
        masked: Any = np.ma.asarray(found)
        bad = np.ma.getmaskarray(masked) | np.isnan(masked.filled(0.0))
        if bad.any():
            row = int(np.argmax(bad))
            cell = self.select(f"{field.sql} AS w", row=row)[0][0]
            came = "a missing value" if cell in (None, "") else repr(cell)
            raise DataError(
                f"read: {options.source}: weights in column {field.name!r} must be numbers, "
                f"got {came} in row {row + 1:,}"
            )
        return np.asarray(masked.filled(0.0), dtype=np.float64)

    @contextmanager
    def stored(
        self, fields: Sequence[Field], weight: Field | None
    ) -> Iterator[tuple[DuckTable, Field | None]]:
        """Keep the texts of many columns in a file of their own, where few at a time are cheap."""
        listed = [*fields, weight] if weight is not None else list(fields)
        texts = ", ".join(f"{field.sql} AS c{i}" for i, field in enumerate(listed))
        moved = [
            Field(field.name, f"c{i}", field.value, field.declared)
            for i, field in enumerate(listed)
        ]
        rows = max(_LEAST_GROUP, _GROUP_CELLS // len(listed))
        with temporary_folder() as folder, ExitStack() as stack:
            if self.con is not None:
                con, query = self.con, f"SELECT {texts} FROM {self.origin}"
                origin = stack.enter_context(stored_table(con, query, folder, rows))
            else:
                con = stack.enter_context(connection())
                path = os.path.join(folder, "columns.parquet")
                relation = self._run(lambda: self.relation.project(texts))
                to_the_end(lambda: relation.write_parquet(path, row_group_size=rows))
                origin = f"read_parquet({sql_text(path)})"
            yield (
                DuckTable(described(con, origin), moved, con, origin, by_column=True),
                moved[-1] if weight is not None else None,
            )

    def distinct_texts(
        self, fields: Sequence[Field], options: ReadOptions
    ) -> tuple[int, list[list[str]]]:
        """Return the number of rows, and the texts that each column shows, sorted."""
        n_rows, *estimates = self._aggregate(
            ["count(*)", *(f"approx_count_distinct({f.cheapest})" for f in fields)]
        )
        if n_rows == 0:
            raise DataError(f"read: {options.source} has no rows")
        limits = {f.name: options.limit(f.name, f.declared) for f in fields}
        extra = len(options.missing_values)
        known = [(field, limits[field.name] + extra) for field in fields]
        pairs = list(zip(known, estimates, strict=True))
        if any(estimate > _SURELY_MORE * most + _SLACK for (_, most), estimate in pairs):
            # The refusal names every column that is too wide, so the near ones are counted too.
            near = [pair for pair in pairs if _SURELY_MORE * pair[1] > pair[0][1]]
            huge = {field.name: _rounded(n) for (field, _), n in near if n > _MAX_EXACT}
            counts = {
                field.name: self._aggregate([_count_sql(field, options)])[0]
                for (field, _), _ in near
                if field.name not in huge
            }
            ordered = {f.name: (huge | counts)[f.name] for (f, _), _ in near}
            refuse_many(
                ordered,
                limits,
                options,
                estimated=frozenset(huge),
                examples=lambda name: self.first_texts(next(f for f in fields if f.name == name)),
            )
        lists = self._aggregate([f"list(DISTINCT {f.sql})" for f in fields], _distinct_together())
        keys = [sorted(key for key in found or () if key is not None) for found in lists]
        for field, found in zip(fields, keys, strict=True):
            if any("\0" in key for key in found):
                raise DataError(
                    f"read: {options.source}: column {field.name!r} has a value with a NUL "
                    f"character, which no file format keeps"
                )
        # Texts may outnumber states (1 and 1.0 in JSON): the exact limit is checked where the
        # states are made; but before long lists are used where texts are states.
        if all(field.value is str for field in fields):
            seen = [len(set(found) - options.missing_values) for found in keys]
            listed = dict(zip(limits, keys, strict=True))
            counted = dict(zip(limits, seen, strict=True))
            refuse_many(counted, limits, options, examples=listed.__getitem__)
        return n_rows, keys

    def first_texts(self, field: Field) -> list[str]:
        """Return the texts of the first rows."""
        if field.value is not str:
            return []
        if self.origin is not None:
            rows = run_sql(self.con, f"SELECT {field.sql} FROM {self.origin} LIMIT {_FEW_ROWS}")
        else:
            relation = self.relation
            rows = self._run(lambda: relation.project(field.sql).limit(_FEW_ROWS).fetchall())
        return [cell for (cell,) in rows if cell is not None]

    def coded(
        self,
        n_rows: int,
        fields: Sequence[Field],
        keys: Sequence[list[str]],
        weight: Field | None,
        options: ReadOptions,
    ) -> tuple[list[npt.NDArray[Any]], npt.NDArray[Any] | None]:
        """Read columns as positions in these texts, the number of texts where there is none."""
        widths = code_widths(keys)
        words = words_of(widths)
        arrays: list[npt.NDArray[Any]] = [np.empty(0)] * len(fields)
        weights = None
        most = min(_MAX_WORDS, max(1, _BATCH_CELLS // n_rows)) if self.by_column else len(words)
        for batch in [words[i : i + most] for i in range(0, len(words), most)]:
            parts = [
                word_sql(word, [field.sql for field in fields], keys) + f" AS w{number}"
                for number, word in enumerate(batch)
            ]
            if weight is not None and weights is None:
                parts.append(f"TRY_CAST({weight.sql} AS DOUBLE) AS weight")
            packed = self._packed(", ".join(parts), options)
            weights = packed.pop("weight", weights)
            for number, word in enumerate(batch):
                numbers = packed.pop(f"w{number}")
                for i, offset in word:
                    arrays[i] = unpacked(numbers, offset, widths[i])
                del numbers
        return arrays, weights

    def _few(
        self, fields: Sequence[Field], weight: Field | None
    ) -> tuple[list[list[str]], list[npt.NDArray[Any]], npt.NDArray[Any] | None]:
        """Take all cells of a few rows, whose states are then quicker found here."""
        keys: list[list[str]] = []
        codes: list[npt.NDArray[Any]] = []
        for start in range(0, len(fields), _MAX_FETCHED):
            part = fields[start : start + _MAX_FETCHED]
            found = self.arrays(", ".join(f"{f.sql} AS c{i}" for i, f in enumerate(part)))
            for i in range(len(part)):
                cells = np.ma.asarray(found.pop(f"c{i}")).tolist()  # None where masked
                keys.append(sorted({cell for cell in cells if cell is not None}))
                place = {key: code for code, key in enumerate(keys[-1])}
                codes.append(np.array([place.get(cell, len(place)) for cell in cells], np.uint16))
        if weight is None:
            return keys, codes, None
        return keys, codes, self.arrays(f"TRY_CAST({weight.sql} AS DOUBLE) AS w")["w"]

    def _packed(self, sql: str, options: ReadOptions) -> dict[str, npt.NDArray[Any]]:
        import duckdb

        try:
            return self.arrays(sql)
        except duckdb.ConversionException:
            raise DataError(
                f"read: {options.source} changed while it was read; read a copy of it"
            ) from None

    def projected(self, sql: str) -> Any:
        """Return these columns as a relation that nobody has asked for rows yet."""
        if self.origin is None:
            return self._run(lambda: self.relation.project(sql))
        query = f"SELECT {sql} FROM {self.origin}"
        return self._run(lambda: self.con.sql(query))

    def arrays(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """Ask for columns, all rows of them."""
        if self.origin is None:
            return self._run(lambda: dict(self.relation.project(sql).fetchnumpy()))
        query = f"SELECT {sql} FROM {self.origin}"
        return self._run(lambda: dict(self.con.execute(query).fetchnumpy()))

    def _aggregate(self, expressions: Sequence[str], together: int = MAX_TOGETHER) -> list[Any]:
        # DuckDB takes long, then all of the stack, over very many aggregates at once.
        return [
            value
            for i in range(0, len(expressions), together)
            for value in self.select(", ".join(expressions[i : i + together]))[0]
        ]

    def select(self, sql: str, *, row: int | None = None) -> list[tuple[Any, ...]]:
        """Ask for aggregates, or for the cells of one row."""
        if self.origin is not None:
            end = "" if row is None else f" LIMIT 1 OFFSET {row}"
            return run_sql(self.con, f"SELECT {sql} FROM {self.origin}{end}")
        relation = self.relation
        if row is None:
            return self._run(lambda: list(relation.aggregate(sql).fetchall()))
        return self._run(lambda: list(relation.project(sql).limit(1, row).fetchall()))

    def _run(self, work: Callable[[], _T]) -> _T:
        return interruptible(work, self.con)


def require_readable(fields: Sequence[Field], options: ReadOptions) -> None:
    """Refuse columns whose cells are no values."""
    for field in fields:
        if field.problem is not None:
            raise DataError(f"read: {options.source}: column {field.name!r} {field.problem}")


def _distinct_together() -> int:
    """Say for how many columns DuckDB may list distinct values at once, within its memory."""
    each = _BYTES_PER_LIST * thread_count(None, who="read")
    return int(min(MAX_TOGETHER, max(1, memory_left() / each)))


def _count_sql(field: Field, options: ReadOptions) -> str:
    marks = ", ".join(map(sql_text, sorted(options.missing_values)))
    return f"count(DISTINCT {field.sql})" + (
        f" FILTER ({field.sql} NOT IN ({marks}))" if marks else ""
    )


def _rounded(estimate: int) -> int:
    """Keep the digit that an estimate is good for.

    Examples
    --------
    >>> _rounded(10_734_112)
    10000000
    """
    return int(round(estimate, 1 - len(str(estimate))))
