"""Parquet files in parts: what a worker sees of them, their values, and their codes."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.cluster.part import Part
from bestdag.cluster.worker_memory import within_worker_memory
from bestdag.data.checks import as_weights
from bestdag.data.duck import DuckTable, Field, require_readable
from bestdag.data.duck_connection import connection, plain_path, run_sql, sql_text
from bestdag.data.duck_types import explain_parquet_failure, parquet_table
from bestdag.data.encode import ReadOptions
from bestdag.data.interrupts import temporary_folder
from bestdag.errors import BestdagError, DataError

__all__ = [
    "Coding",
    "FileFacts",
    "Piece",
    "Values",
    "divided",
    "is_parquet",
    "load_part",
    "look",
    "values_of",
]

_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a machine sees of one file; equal where two see the same."""

    path: str
    n_bytes: int
    group_rows: tuple[int, ...]  # of each row group
    columns: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Rows in it."""
        return sum(self.group_rows)


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one file, from the first up to before the last."""

    path: str
    first: int
    last: int

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class Values:
    """The distinct values of a column: their texts in DuckDB, and what these are."""

    by_text: Mapping[str, Any]
    declared: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Coding:
    """How a column becomes codes: its texts in DuckDB, and the code of each.

    The code after the last is that of a missing value.
    """

    name: str
    texts: list[str]
    codes: npt.NDArray[Any]


def is_parquet(source: Any) -> bool:
    """Whether a source is a Parquet file, a pattern of such, or a list of them."""
    if isinstance(source, list | tuple):
        return bool(source) and all(is_parquet(one) for one in source)
    return isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(_ENDINGS)


def look(sources: Sequence[str]) -> list[FileFacts] | BestdagError:
    """Say what this machine sees of some files, or patterns of names; or what is wrong."""
    paths: list[str] = []
    for source in sources:
        has_pattern = not os.path.exists(source) and glob.has_magic(source)
        paths += sorted(glob.glob(source)) if has_pattern else [source]
    try:
        return [_facts(path) for path in paths]
    except BestdagError as error:
        return error


def _facts(path: str) -> FileFacts:
    try:
        n_bytes = os.stat(path).st_size
    except FileNotFoundError:
        raise DataError(f"read: there is no file {path!r}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"read: cannot open {path!r}: {reason}") from None
    with _opened(path) as (con, sql_path):
        table = parquet_table(con, [sql_path])
        groups = run_sql(
            con,
            "SELECT DISTINCT row_group_id, row_group_num_rows FROM "
            f"parquet_metadata({sql_text(sql_path)}) ORDER BY 1",
        )
        names = tuple(field.name for field in table.fields)
    return FileFacts(path, n_bytes, tuple(int(n) for _, n in groups), names)


def divided(files: Sequence[FileFacts], n_parts: int) -> list[list[Piece]]:
    """Divide the rows into parts of about equal size, whole row groups where there are enough.

    Examples
    --------
    >>> files = [FileFacts("a", 1, (10, 10), ()), FileFacts("b", 1, (20,), ())]
    >>> [[(p.path, p.first, p.last) for p in part] for part in divided(files, 2)]
    [[('a', 0, 20)], [('b', 0, 20)]]
    """
    total = sum(file.n_rows for file in files)
    n_parts = max(1, min(n_parts, total))
    n_groups = sum(len(file.group_rows) for file in files)
    most = -(-total // n_parts) if n_groups < 4 * n_parts else total
    parts: list[list[Piece]] = [[] for _ in range(n_parts)]
    seen = 0
    for file in files:
        first = 0
        for n_rows in file.group_rows:
            for start in range(first, first + n_rows, most):
                piece = Piece(file.path, start, min(start + most, first + n_rows))
                # By its middle, so that what is left over does not gather in the last part.
                place = (2 * seen + piece.n_rows) * n_parts // (2 * total)
                _append(parts[place], piece)
                seen += piece.n_rows
            first += n_rows
    return [part for part in parts if part]


def _append(part: list[Piece], piece: Piece) -> None:
    last = part[-1] if part else None
    if last is not None and last.path == piece.path and last.last == piece.first:
        part[-1] = replace(last, last=piece.last)
    else:
        part.append(piece)


@within_worker_memory()
def values_of(pieces: Sequence[Piece], names: Sequence[str], options: ReadOptions) -> list[Values]:
    """Return the distinct values of columns in some rows."""
    found: list[dict[str, Any]] = [{} for _ in names]
    declared: list[tuple[str, ...] | None] = [None] * len(names)
    for piece in pieces:
        with _rows(piece) as table:
            fields = _fields(table, names)
            require_readable(fields, options)
            _, texts = table.distinct_texts(fields, options)
            for i, (field, listed) in enumerate(zip(fields, texts, strict=True)):
                found[i].update((text, field.value(text)) for text in listed)
                declared[i] = declared[i] or field.declared
    return [Values(*pair) for pair in zip(found, declared, strict=True)]


@within_worker_memory()
def load_part(
    pieces: Sequence[Piece],
    codings: Sequence[Coding],
    weight: str | None,
    drop_incomplete: bool,
    options: ReadOptions,
) -> Part:
    """Load rows as codes; those of weight 0 are left out."""
    columns: list[list[npt.NDArray[Any]]] = [[] for _ in codings]
    weights: list[npt.NDArray[np.float64]] = []
    n_dropped = 0
    for piece in pieces:
        codes, found = _loaded(piece, codings, weight, options)
        kept = np.ones(piece.n_rows, np.bool_) if found is None else found > 0
        if drop_incomplete:
            is_complete = np.ones(piece.n_rows, np.bool_)
            for column, coding in zip(codes, codings, strict=True):
                is_complete &= column != coding.codes[-1]
            n_dropped += int(np.count_nonzero(~is_complete))
            kept &= is_complete
        if not kept.all():
            codes = [column[kept] for column in codes]
            found = None if found is None else found[kept]
        for i, column in enumerate(codes):
            columns[i].append(column)
        if found is not None:
            weights.append(found)
    whole = [np.ascontiguousarray(np.concatenate(arrays)) for arrays in columns]
    return Part(whole, np.concatenate(weights) if weights else None, n_dropped)


def _loaded(
    piece: Piece, codings: Sequence[Coding], weight: str | None, options: ReadOptions
) -> tuple[list[npt.NDArray[Any]], npt.NDArray[np.float64] | None]:
    with _rows(piece) as table:
        fields = _fields(table, [coding.name for coding in codings])
        own = None if weight is None else _fields(table, [weight])[0]
        texts = [coding.texts for coding in codings]
        found, weights = table.coded(piece.n_rows, fields, texts, own, options)
        if own is not None:
            assert weights is not None
            weights = table.checked_weights(own, weights, options)
            if weights.any():  # a part of them may be 0
                as_weights(weights, who=f"read: {options.source}")
    codes = []
    for i, coding in enumerate(codings):
        codes.append(coding.codes[np.minimum(found[i], len(coding.texts))])
        found[i] = np.empty(0)
    return codes, weights


@contextmanager
def _rows(piece: Piece) -> Iterator[DuckTable]:
    """Open some rows of a file."""
    with _opened(piece.path) as (con, sql_path):
        table = parquet_table(con, [sql_path])
        origin = (
            f"(SELECT * EXCLUDE (file_row_number) FROM read_parquet({sql_text(sql_path)}, "
            f"hive_partitioning = false, file_row_number = true) "
            f"WHERE file_row_number >= {piece.first} AND file_row_number < {piece.last})"
        )
        yield replace(table, origin=origin)


@contextmanager
def _opened(path: str) -> Iterator[tuple[Any, str]]:
    import duckdb

    with temporary_folder() as folder, connection() as con:
        try:
            yield con, plain_path(Path(path), folder)
        except duckdb.Error as error:
            raise explain_parquet_failure([Path(path)], repr(path), error) from None


def _fields(table: DuckTable, names: Sequence[str]) -> list[Field]:
    by_name = {field.name: field for field in table.fields}
    return [by_name[name] for name in names]
