"""Tables that DuckDB scans: files, relations and queries."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bestdag.data.sources.arrow import streamed
from bestdag.data.sources.base import Batch, Limits, Numbers, RawColumn, weight_error, without_marks
from bestdag.data.sources.connection import (
    connection,
    described,
    interruptible,
    run_sql,
    sql_name,
    sql_text,
    stored_table,
    temporary_folder,
    to_the_end,
)
from bestdag.errors import DataError
from bestdag.machine import memory_left, thread_count

__all__ = ["MAX_TOGETHER", "DuckSource", "DuckTable", "Field", "json_value", "typed_fields"]

_Array = npt.NDArray[Any]

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
    title: str
    con: Any = None
    origin: str | None = None
    by_column: bool = False

    def read(
        self, fields: Sequence[Field], weight: Field | None, limits: Limits
    ) -> tuple[list[RawColumn], _Array | None]:
        """Read columns as positions in their distinct values, and one column as weights."""
        if len(fields) > MAX_TOGETHER and not self.by_column:
            with self.stored(fields, weight) as (table, weight):
                return table.read(table.fields[: len(fields)], weight, limits)
        n_rows = self.select("count(*)")[0][0] if self.by_column else None
        if n_rows and n_rows <= _FEW_ROWS:
            keys, codes, weights = self._few(fields, weight)
        else:
            n_rows, keys = self.distinct_texts(fields, limits)
            codes, weights = self.coded(n_rows, fields, keys, weight)
        columns = [
            RawColumn(f.name, [f.value(key) for key in k], c, declared=f.declared, owned=True)
            for f, k, c in zip(fields, keys, codes, strict=True)
        ]
        return columns, None if weights is None else _filled(weights)

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
                DuckTable(described(con, origin), moved, self.title, con, origin, by_column=True),
                moved[-1] if weight is not None else None,
            )

    def distinct_texts(
        self, fields: Sequence[Field], limits: Limits
    ) -> tuple[int, list[list[str]]]:
        """Return the number of rows, and the texts that each column shows, sorted."""
        n_rows, *estimates = self._aggregate(
            ["count(*)", *(f"approx_count_distinct({f.cheapest})" for f in fields)]
        )
        if n_rows == 0:
            raise DataError(f"read: {self.title} has no rows")
        extra = len(limits.missing_values)
        known = [(field, limits.most[field.name] + extra) for field in fields]
        pairs = list(zip(known, estimates, strict=True))
        if any(estimate > _SURELY_MORE * most + _SLACK for (_, most), estimate in pairs):
            # The refusal names every column that is too wide, so the near ones are counted too.
            near = [pair for pair in pairs if _SURELY_MORE * pair[1] > pair[0][1]]
            huge = {field.name: _rounded(n) for (field, _), n in near if n > _MAX_EXACT}
            counts = {
                field.name: self._aggregate([_count_sql(field, limits.missing_values)])[0]
                for (field, _), _ in near
                if field.name not in huge
            }
            ordered = {f.name: (huge | counts)[f.name] for (f, _), _ in near}
            limits.refuse(
                ordered,
                frozenset(huge),
                lambda name: self.first_texts(next(f for f in fields if f.name == name)),
            )
        lists = self._aggregate([f"list(DISTINCT {f.sql})" for f in fields], _distinct_together())
        keys = [sorted(key for key in found or () if key is not None) for found in lists]
        for field, found in zip(fields, keys, strict=True):
            if any("\0" in key for key in found):
                raise DataError(
                    f"read: {self.title}: column {field.name!r} has a value with a NUL "
                    f"character, which no file format keeps"
                )
        # Texts may outnumber states (1 and 1.0 in JSON): the exact limit is checked where the
        # states are made; but before long lists are used where texts are states.
        if all(field.value is str for field in fields):
            names = [field.name for field in fields]
            seen = [len(set(listed) - limits.missing_values) for listed in keys]
            by_name = dict(zip(names, keys, strict=True))
            limits.refuse(dict(zip(names, seen, strict=True)), (), by_name.__getitem__)
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
            packed = self._packed(", ".join(parts))
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

    def _packed(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        import duckdb

        try:
            return self.arrays(sql)
        except duckdb.ConversionException:
            raise DataError(
                f"read: {self.title} changed while it was read; read a copy of it"
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


def _distinct_together() -> int:
    """Say for how many columns DuckDB may list distinct values at once, within its memory."""
    each = _BYTES_PER_LIST * thread_count(None, who="read")
    return int(min(MAX_TOGETHER, max(1, memory_left() / each)))


def _count_sql(field: Field, missing_values: frozenset[str]) -> str:
    marks = ", ".join(map(sql_text, sorted(missing_values)))
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


_INTEGERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM", "VARINT"),
}
_PLAIN = {"DATE", "TIME", "UUID", "INTERVAL", "TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE"}
_TIMES = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}


def typed_fields(relation: Any, names: Sequence[str]) -> list[Field]:
    """Describe the columns of a relation by their types."""
    fields = []
    for name, column, kind in zip(names, relation.columns, relation.types, strict=True):
        sql = sql_name(column)
        base = str(kind).upper().partition("(")[0].strip()
        if base == "VARCHAR":
            fields.append(Field(name, sql))
        elif base == "ENUM":
            states = tuple(dict(kind.children)["values"])
            fields.append(Field(name, f"{sql}::VARCHAR", declared=states))
        elif base == "BOOLEAN":
            fields.append(Field(name, f"{sql}::VARCHAR", lambda key: key == "true"))
        elif base in _INTEGERS:
            fields.append(Field(name, f"{sql}::VARCHAR", int, native=sql))
        elif base in ("FLOAT", "DOUBLE"):
            kind_of = np.float32 if base == "FLOAT" else float
            fields.append(Field(name, f"{sql}::VARCHAR", kind_of, native=sql))
        elif base == "DECIMAL":
            fields.append(Field(name, f"{sql}::VARCHAR", Decimal))
        elif base in _TIMES:
            fields.append(Field(name, f"{sql}::VARCHAR", _moment))
        elif base in _PLAIN:
            fields.append(Field(name, f"{sql}::VARCHAR"))
        elif base in ("NULL", '"NULL"'):
            fields.append(Field(name, "NULL::VARCHAR"))
        else:
            problem = f"holds {kind} values; text, numbers, booleans or dates are needed"
            fields.append(Field(name, "NULL::VARCHAR", problem=problem))
    return fields


def json_value(key: str) -> Any:
    """Read the text of one JSON value; null is a missing value."""
    return json.loads(key)


def _moment(key: str) -> Any:
    try:
        return datetime.fromisoformat(key)
    except ValueError:  # nanoseconds, years beyond 9999
        return key.replace(" ", "T")


_NUMBER_TYPES = (int, float, np.float32, Decimal)
# A column is asked for twice or thrice; so many bytes of answers are kept.
_MAX_KEPT = 1 << 28


class DuckSource:
    """Columns of a file, relation or query; `stack` closes what reading them opens.

    A table that is asked for single columns, and cannot give them cheaply, is first copied to a
    file that can.
    """

    in_memory = False
    own_weights = None

    def __init__(self, table: DuckTable, stack: ExitStack) -> None:
        self.title = table.title
        self.names: Sequence[str] = [field.name for field in table.fields]
        self._fields = {field.name: field for field in table.fields}
        self._chosen: list[str] = []
        self._weight: str | None = None
        self._table = table
        self._stack = stack
        self._kept: dict[str, Numbers] = {}
        self._weights: npt.NDArray[np.float64] | None = None
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self._n_rows is None:
            self._n_rows = int(self._table.select("count(*)")[0][0])
        return self._n_rows

    def choose(self, names: Sequence[str], weight: str | None) -> None:
        """Refuse columns whose cells are no values; others are not copied."""
        self._chosen, self._weight = list(names), weight
        for field in (self._fields[name] for name in names):
            if field.problem is not None:
                raise DataError(f"read: {self.title}: column {field.name!r} {field.problem}")

    def declared(self, name: str) -> tuple[str, ...] | None:
        """Return the states of an ENUM."""
        return self._fields[name].declared

    def weights(self, name: str) -> npt.NDArray[np.float64]:
        """One column as numbers, NaN where a value is none."""
        if self._weights is None or name != self._weight:
            numbers = self._table.arrays(f"{_number_sql(self._fields[name])} AS w")["w"]
            self._weights = _filled(numbers)
        return self._weights

    def cell(self, name: str, row: int) -> Any:
        """One value as the source has it; None where there is none."""
        return self._table.select(f"{self._fields[name].sql} AS w", row=row)[0][0]

    def numbers(self, name: str, missing_values: Collection[str]) -> Numbers:
        """One column as numbers."""
        if name in self._kept:
            return self._kept[name]
        self._store()
        if self.n_rows == 0:
            raise DataError(f"read: {self.title} has no rows")
        numbers = self._read(self._fields[name], missing_values)
        if (len(self._kept) + 1) * numbers.values.nbytes <= _MAX_KEPT:
            self._kept[name] = numbers
        return numbers

    def columns(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Whole columns with their codes; weights are read in the same scan."""
        if len(names) < len(self._chosen):
            self._store()
        weight = None if self._weight is None else self._fields[self._weight]
        if self._weights is not None:
            weight = None
        fields = [self._fields[name] for name in names]
        columns, weights = self._table.read(fields, weight, limits)
        self._n_rows = len(columns[0].codes)
        if weights is not None:
            self._weights = weights
        return columns

    def distinct(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Return the distinct values of columns, without codes."""
        if len(names) > MAX_TOGETHER:
            self._store()
        fields = [self._fields[name] for name in names]
        self._n_rows, keys = self._table.distinct_texts(fields, limits)
        return [
            RawColumn(f.name, [f.value(key) for key in k], declared=f.declared, texts=k)
            for f, k in zip(fields, keys, strict=True)
        ]

    def batches(
        self, columns: Sequence[RawColumn], weight: str | None, *, collapse: bool
    ) -> Generator[Batch, None, None]:
        """Codes of all rows in order; or with `collapse` of the different rows, by codes."""
        own = None if weight is None else self._fields[weight]
        if own is not None and collapse:
            _require_whole(self._table, own)
        fields = [self._fields[column.name] for column in columns]
        return code_batches(
            self._table, fields, [column.texts for column in columns], own, collapse=collapse
        )

    def has_few_different_rows(self, names: Sequence[str], weight: str | None) -> bool:
        """Whether a sample promises that at most one row in eight is left; see below."""
        if len(names) > MAX_TOGETHER:
            self._store()
        if weight is not None:
            number = _number_sql(self._fields[weight])
            fractions = f"count(*) FILTER ({number} IS NULL OR {number} <> floor({number}))"
            if self._table.select(fractions)[0][0]:
                return False
        fields = [self._fields[name] for name in names]
        return promises_few_different_rows(self._table, fields, self.n_rows)

    def _store(self) -> None:
        if self._table.by_column:
            return
        weight = None if self._weight is None else self._fields[self._weight]
        fields = [self._fields[name] for name in self._chosen]
        self._table, _ = self._stack.enter_context(self._table.stored(fields, weight))
        self._fields = {field.name: field for field in self._table.fields}

    def _read(self, field: Field, missing_values: Collection[str]) -> Numbers:
        text = field.cheapest
        if field.value is json_value:  # text that spells a number is in quotes there
            text = f"trim({text}, '\"')"
        number = f"TRY_CAST({text} AS DOUBLE)"
        if field.value in _NUMBER_TYPES:
            arrays = self._table.arrays(f"{number} AS n")
            return Numbers(without_marks(_filled(arrays["n"]), missing_values))
        # DuckDB takes 1_000 for a thousand, and nan for a number.
        no_number = f"({number} IS NULL OR isnan({number}) OR contains({field.sql}, '_'))"
        absent = ", ".join(map(sql_text, _absent_texts(field, missing_values)))
        wrong = f"{field.sql} IS NOT NULL AND {no_number}"
        if absent:
            wrong += f" AND {field.sql} NOT IN ({absent})"
        arrays = self._table.arrays(f"{number} AS n, {wrong} AS b")
        values = without_marks(_filled(arrays["n"]), missing_values)
        is_wrong = np.asarray(arrays["b"])
        if not is_wrong.any():
            return Numbers(values)
        row = int(np.argmax(is_wrong))
        return Numbers(values, (row, field.value(self.cell(field.name, row))), is_wrong)


def _absent_texts(field: Field, missing_values: Collection[str]) -> list[str]:
    marks = sorted(missing_values)
    if field.value is not json_value:
        return marks
    return ["null", *marks, *(json.dumps(mark, ensure_ascii=False) for mark in marks)]


def _number_sql(field: Field) -> str:
    return f"TRY_CAST({field.sql} AS DOUBLE)"


def _filled(found: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    masked: Any = np.ma.asarray(found)
    return np.asarray(masked.filled(np.nan), dtype=np.float64)


# Equal rows are put together unasked where at most one in so many is left.
_SHARE = 8
# Rows of the sample that is looked at first.
_SAMPLE = 1 << 16


def promises_few_different_rows(table: DuckTable, fields: Sequence[Field], n_rows: int) -> bool:
    """Whether at most one in eight rows seems to be left when equal ones are put together.

    The first rows are looked at, and where they promise it, all of them, by an estimate that
    takes fixed memory. What a sample of n rows with d different ones, f1 of them seen once and f2
    twice, promises is at least d + f1 (f1 - 1) / (2 (f2 + 1)) different rows in all (Chao 1984).
    """
    rows = f"hash({', '.join(field.cheapest for field in fields)}) AS h"
    sample = table.projected(rows)
    counts = interruptible(
        lambda: (
            sample.limit(_SAMPLE)
            .aggregate("count(*) AS n", "h")
            .aggregate("count(*), count(*) FILTER (n = 1), count(*) FILTER (n = 2)")
            .fetchall()[0]
        ),
        table.con,
    )
    different, once, twice = map(int, counts)
    promised = different + once * (once - 1) / (2 * (twice + 1))
    if promised * _SHARE > n_rows:
        return False
    hashed = f"approx_count_distinct(hash({', '.join(field.cheapest for field in fields)}))"
    return bool(int(table.select(hashed)[0][0]) * _SHARE <= n_rows)


def code_batches(
    table: DuckTable,
    fields: Sequence[Field],
    keys: Sequence[Sequence[str]],
    weight: Field | None,
    *,
    collapse: bool,
) -> Generator[Batch, None, None]:
    """Give the codes of all rows, in order; or with `collapse` of the different rows, by codes."""
    import duckdb

    widths = code_widths(keys)
    words = words_of(widths)
    cells = [field.sql for field in fields]
    names = [f"w{number}" for number in range(len(words))]
    parts = [f"{word_sql(word, cells, keys)} AS {n}" for n, word in zip(names, words, strict=True)]
    types = ["u8"] * len(words)
    if weight is not None:
        parts.append(f"coalesce(TRY_CAST({weight.sql} AS DOUBLE), 'nan'::DOUBLE) AS weight")
        types.append("f8")
    try:
        rows = table.projected(", ".join(parts))
        if collapse:
            listed = ", ".join(names)
            total = "" if weight is None else ", sum(weight) AS weight"
            counted = f"{listed}{total}, count(*)::BIGINT AS n"
            rows = interruptible(lambda: rows.aggregate(counted, listed).order(listed), table.con)
            types.append("i8")
        with closing(streamed(rows, types, table.con)) as stream:
            for arrays in stream:
                n_equal = arrays.pop() if collapse else None
                weights = arrays.pop() if weight is not None else None
                codes: list[npt.NDArray[Any]] = [np.empty(0)] * len(fields)
                for numbers, word in zip(arrays, words, strict=True):
                    for i, offset in word:
                        codes[i] = unpacked(numbers, offset, widths[i])
                yield Batch(codes, n_equal, weights)
    except duckdb.ConversionException:
        raise DataError(
            f"read: {table.title} changed while it was read; read a copy of it"
        ) from None


def _require_whole(table: DuckTable, weight: Field) -> None:
    """Refuse weights whose sums would depend on the order of the rows."""
    number = _number_sql(weight)
    no_number, n_fractions = table.select(
        f"count(*) FILTER ({number} IS NULL OR isnan({number})), "
        f"count(*) FILTER ({number} <> floor({number}))"
    )[0]
    if no_number:  # which row is it?
        row = int(np.argmax(np.isnan(_filled(table.arrays(f"{number} AS w")["w"]))))
        cell = table.select(f"{weight.sql} AS w", row=row)[0][0]
        raise weight_error(table.title, weight.name, cell, row)
    if n_fractions:
        raise DataError(
            f"read: {table.title}: identical rows are combined by whole weights, column "
            f"{weight.name!r} has fractions"
        )


_WORD = 8  # bytes of a packed word


def code_widths(keys: Sequence[Sequence[str]]) -> list[int]:
    """Return the bytes that positions in these lists of distinct texts need, and one for none."""
    return [1 if len(k) <= 255 else 2 if len(k) <= 65_535 else 4 for k in keys]


def words_of(widths: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Lay columns of 1, 2 and 4 bytes into words of 8: (column, byte offset) pairs, aligned."""
    words: list[list[tuple[int, int]]] = []
    used = _WORD
    for i in sorted(range(len(widths)), key=lambda i: -widths[i]):
        if used + widths[i] > _WORD:
            words.append([])
            used = 0
        words[-1].append((i, used))
        used += widths[i]
    return words


def word_sql(
    word: Sequence[tuple[int, int]], cells: Sequence[str], keys: Sequence[Sequence[str]]
) -> str:
    """Return SQL for one word: cells are SQL for texts, keys the distinct texts they have."""
    return " + ".join(
        f"{_code_sql(cells[i], keys[i])}::UBIGINT * {256**offset}::UBIGINT" for i, offset in word
    )


def _code_sql(cell: str, keys: Sequence[str]) -> str:
    if not keys:
        return "0"
    kind = f"ENUM({', '.join(map(sql_text, keys))})"
    # A cell that is not among the keys makes the cast fail: the source changed since it was asked.
    return f"coalesce(enum_code(CAST({cell} AS {kind})), {len(keys)})"


def unpacked(words: npt.NDArray[Any], offset: int, width: int) -> npt.NDArray[Any]:
    """Take one column out of its words."""
    plain = np.asarray(words)
    if sys.byteorder == "big":
        plain = plain.astype("<u8")
    parts = plain.view(f"<u{width}").reshape(len(plain), _WORD // width)
    return np.ascontiguousarray(parts[:, offset // width])
