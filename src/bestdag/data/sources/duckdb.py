"""Tables that DuckDB scans: files, relations and queries."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.sources.base import (
    LEAST_SHARE,
    SAMPLE_ROWS,
    Batch,
    Limits,
    Numbers,
    RawColumn,
    encoded_column,
    promised_rows,
    small_codes,
    take_codes,
    weight_error,
    without_marks,
)
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

# Texts that may be one state, as 1 and 1.0, are counted so far before they are refused.
_SURELY_MORE = 2
_SLACK = 100
_MOST_LABELS = 2**32 - 2
# Columns that one query may ask about: its cost grows faster than their number.
MAX_TOGETHER = 64
# Batches of a stream that are encoded before their codes are handed on, where memory is short and
# where it is not; a batch has some million values.
_FEW_BATCHES, _BATCHES, _SHORT = 1, 4, 1 << 30
# Cells in a row group of a stored table, which is held in memory; and its least rows.
_GROUP_CELLS = 1 << 21
_LEAST_GROUP = 2048


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, the SQL that gives a cell's text, and how to read that text.

    `problem` says why a column has no states, if that is so; it matters when it is chosen.
    `native` is the column itself where the text has to be made, and `typed` where its type is one
    that the native encoder takes: values are then had as they are.
    """

    name: str
    sql: str
    value: Callable[[str], Any] = str
    declared: tuple[str, ...] | None = None
    problem: str | None = None
    native: str | None = None
    typed: str | None = None

    @property
    def streamed(self) -> str:
        """SQL with the values in a type that the native encoder takes."""
        return self.typed or self.sql

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

    def encoders(
        self,
        fields: Sequence[Field],
        limits: Limits,
        weight: Field | None,
        *,
        n_batches: int | None = None,
        collapse: bool = False,
    ) -> Generator[_core.ColumnEncoder, None, None]:
        """Encode columns, and one of numbers after them, so many batches at a time or all at once.

        The encoder is the same each time; who takes the codes in between bounds the memory. With
        `collapse` rows are the different ones, in order, and the last column says how many equal
        ones there are: DuckDB groups them, and spills to disk.
        """
        most = [_most_labels(field, limits) for field in fields]
        sql = [field.streamed for field in fields]
        keys = [f"c{i}" for i in range(len(fields))]
        if weight is not None:
            sql.append(_number_sql(weight))
        n_numbers = (weight is not None) + collapse
        numbers = list(range(len(fields), len(fields) + n_numbers))
        encoder = _core.ColumnEncoder([*most, *[1] * n_numbers], [], numbers)
        threads, is_open = thread_count(None, who="read"), True
        with _stream_errors():
            rows = self.projected(", ".join(f"{one} AS c{i}" for i, one in enumerate(sql)))
            if collapse:
                sums = [*keys, *(f"sum(c{i}) AS c{i}" for i in numbers[:-1]), "count(*)::DOUBLE"]
                by = ", ".join(keys)
                grouped = self._run(lambda: rows.aggregate(", ".join(sums), by))
                rows = self._run(lambda: grouped.order(by))
            stream = self._run(rows.__arrow_c_stream__)
            if n_batches is None:
                self._run(lambda: encoder.add_streams([stream], [0], threads))
                yield encoder
                return
        while is_open:
            with _stream_errors():
                is_open = self._run(lambda: encoder.add_batches(stream, 0, n_batches, threads))
            yield encoder

    def projected(self, sql: str) -> Any:
        """Return these columns as a relation without running its query."""
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


_INTEGERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM", "VARINT"),
}
_WIDE = {"HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"}
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
            fields.append(Field(name, f"{sql}::VARCHAR", declared=states, typed=sql))
        elif base == "BOOLEAN":
            fields.append(Field(name, f"{sql}::VARCHAR", _truth, typed=sql))
        elif base in _INTEGERS:
            typed = None if base in _WIDE else sql
            fields.append(Field(name, f"{sql}::VARCHAR", int, native=sql, typed=typed))
        elif base in ("FLOAT", "DOUBLE"):
            kind_of = np.float32 if base == "FLOAT" else float
            fields.append(Field(name, f"{sql}::VARCHAR", kind_of, native=sql, typed=sql))
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


def _truth(key: str) -> bool:
    return key == "true"


def json_value(key: str) -> Any:
    """Read the text of one JSON value; null is a missing value."""
    return json.loads(key)


def _moment(key: str) -> Any:
    try:
        return datetime.fromisoformat(key)
    except ValueError:  # nanoseconds, years beyond 9999
        return key.replace(" ", "T")


_NUMBER_TYPES = (int, float, np.float32, Decimal)
# A column is read two or three times; at most so many bytes of them are cached.
_MAX_CACHED = 1 << 28


class DuckSource:
    """Columns of a file, relation or query; `stack` closes what reading them opens.

    A table whose single columns are needed, and are not cheap to read, is first copied to a file
    where they are.
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
        self._cached: dict[str, Numbers] = {}
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
        if name in self._cached:
            return self._cached[name]
        self._store()
        if self.n_rows == 0:
            raise DataError(f"read: {self.title} has no rows")
        numbers = self._read(self._fields[name], missing_values)
        if (len(self._cached) + 1) * numbers.values.nbytes <= _MAX_CACHED:
            self._cached[name] = numbers
        return numbers

    def columns(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Whole columns with their codes; weights are read in the same scan."""
        if len(names) < len(self._chosen):
            self._store()
        has_weights = self._weight is not None and self._weights is None
        weight = self._fields[str(self._weight)] if has_weights else None
        fields = [self._fields[name] for name in names]
        (encoder,) = self._table.encoders(fields, limits, weight)
        columns = self._labelled(encoder, fields, limits)
        if weight is not None:
            (self._weights,) = encoder.take([len(fields)], [None], 1)
        return take_codes(encoder, columns, thread_count(None, who="read"))

    def distinct(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Return the distinct values of columns, without codes."""
        fields = [self._fields[name] for name in names]
        rows = self._table.encoders(fields, limits, None, n_batches=_batches())
        for encoder in rows:
            coded = [i for i in range(len(fields)) if encoder.column(i).is_coded]
            encoder.take(coded, [None] * len(coded), 1)
        return self._labelled(encoder, fields, limits)

    def batches(
        self, columns: Sequence[RawColumn], weight: str | None, *, collapse: bool
    ) -> Generator[Batch, None, None]:
        """Codes of all rows in order; or with `collapse` of the different rows, by codes."""
        own = None if weight is None else self._fields[weight]
        if own is not None and collapse:
            _require_whole(self._table, own)
        fields = [self._fields[column.name] for column in columns]
        most = {c.name: max(1, len(c.keys)) for c in columns}
        limits = Limits(most, frozenset(), lambda *_: None)
        place = [{key: i for i, key in enumerate(column.keys)} for column in columns]
        threads = thread_count(None, who="read")
        for encoder in self._table.encoders(
            fields, limits, own, n_batches=_batches(), collapse=collapse
        ):
            maps = []
            for i, listed in enumerate(place):
                labels: Any = encoder.column(i).labels
                try:
                    places = [len(listed), *(listed[label] for label in labels)]
                except KeyError:
                    raise self._has_changed() from None
                maps.append(small_codes(np.array(places), len(listed)))
            codes = encoder.take(range(len(fields)), maps, threads)
            batch = Batch(codes)
            last = len(fields)
            if own is not None:
                (batch.weights,) = encoder.take([last], [None], 1)
                last += 1
            if collapse:
                (n_equal,) = encoder.take([last], [None], 1)
                batch.n_equal = n_equal.astype(np.int64)
            if len(codes[0]):
                yield batch

    def _has_changed(self) -> DataError:
        return DataError(f"read: {self.title} changed while it was read; read a copy of it")

    def _labelled(
        self, encoder: _core.ColumnEncoder, fields: Sequence[Field], limits: Limits
    ) -> list[RawColumn]:
        """Return columns without codes; refuse those with too many distinct values."""
        self._n_rows = encoder.n_rows(0)
        if self._n_rows == 0:
            raise DataError(f"read: {self.title} has no rows")
        columns = []
        counts: dict[str, int] = {}
        estimated = set()
        for i, field in enumerate(fields):
            known = encoder.column(i)
            labels: Any = known.labels
            value = None if field.typed else field.value
            columns.append(encoded_column(encoder, i, field.name, value, field.declared))
            if known.is_coded:
                n_marks = len(limits.missing_values.intersection(map(str, labels)))
                is_exact = value is None or value is str
                counts[field.name] = known.n_distinct - n_marks if is_exact else 0
            else:
                counts[field.name] = known.n_distinct - self._n_marks(field, limits)
                if not known.is_exact:
                    estimated.add(field.name)
                    counts[field.name] = _rounded(known.n_distinct)
        by_name = {c.name: c for c in columns}
        limits.refuse(counts, estimated, lambda name: map(str, by_name[name].values))
        return columns

    def _n_marks(self, field: Field, limits: Limits) -> int:
        """Count the marks of missing values among the texts of a column with too many values."""
        marks = sorted(limits.missing_values)
        if field.typed or not marks:
            return 0
        is_mark = f"({field.sql}) IN ({', '.join(map(sql_text, marks))})"
        count = f"count(DISTINCT {field.sql}) FILTER ({is_mark})"
        return int(self._table.select(count)[0][0])

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


def _filled(numbers: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    masked: Any = np.ma.asarray(numbers)
    return np.asarray(masked.filled(np.nan), dtype=np.float64)


def promises_few_different_rows(table: DuckTable, fields: Sequence[Field], n_rows: int) -> bool:
    """Whether at most one in eight rows seems to be left when equal ones are put together.

    The first rows are looked at, and where they promise it, all of them, by an estimate that
    takes fixed memory.
    """
    rows = f"hash({', '.join(field.cheapest for field in fields)}) AS h"
    sample = table.projected(rows)
    counts = interruptible(
        lambda: (
            sample.limit(SAMPLE_ROWS)
            .aggregate("count(*) AS n", "h")
            .aggregate("count(*), count(*) FILTER (n = 1), count(*) FILTER (n = 2)")
            .fetchall()[0]
        ),
        table.con,
    )
    if promised_rows(*map(int, counts)) * LEAST_SHARE > n_rows:
        return False
    hashed = f"approx_count_distinct(hash({', '.join(field.cheapest for field in fields)}))"
    return bool(int(table.select(hashed)[0][0]) * LEAST_SHARE <= n_rows)


def _batches() -> int:
    return _BATCHES if memory_left() > _SHORT else _FEW_BATCHES


def _most_labels(field: Field, limits: Limits) -> int:
    """Return how many labels of a column get codes; texts may outnumber the states."""
    most = limits.most[field.name] + len(limits.missing_values)
    is_exact = field.value is str or field.typed is not None
    return min(_MOST_LABELS, most if is_exact else _SURELY_MORE * most + _SLACK)


def _rounded(estimate: int) -> int:
    """Keep the digit that an estimate is good for.

    Examples
    --------
    >>> _rounded(10_734_112)
    10000000
    """
    return int(round(estimate, 1 - len(str(estimate))))


@contextmanager
def _stream_errors() -> Iterator[None]:
    """Raise what DuckDB says in a stream as the error that it would raise itself."""
    try:
        yield
    except RuntimeError as error:
        import duckdb

        text = str(error)
        kind = text.lower()
        if kind.startswith("interrupt"):
            raise KeyboardInterrupt from None
        if kind.startswith("out of memory"):
            raise MemoryError(text) from None
        raise duckdb.Error(text) from None


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
