"""Sources of tables, a file for each kind, and how what was given is opened as one of them."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bestdag.data.dataset import Dataset
from bestdag.data.sources.base import Source
from bestdag.data.sources.connection import (
    SqlQuery,
    is_from_duckdb,
    load_duckdb,
    sql_source,
    temporary_folder,
)
from bestdag.data.sources.files import (
    DELIMITERS,
    EXCEL,
    JSON,
    NETWORKS,
    PARQUET,
    hive_keys,
    is_remote,
    matching_files,
    refuse_by_sight,
    unzipped,
)
from bestdag.data.sources.frame import FrameSource, frame_columns
from bestdag.errors import DataError, InvalidParameterError
from bestdag.files import nearest_file
from bestdag.wording import Parameter, arg, by_reader

__all__ = ["can_be_opened_again", "open_source"]

# Settings of `read` that are for CSV alone.
_OF_CSV: tuple[Parameter, ...] = ("separator", "encoding")


@dataclass(frozen=True, slots=True)
class _Form:
    """What a table is called in messages, and what was said of the form it has."""

    title: str
    columns: Sequence[str] | None
    separator: str | None
    sheet: str | None
    encoding: str | None


@contextmanager
def open_source(
    source: Any,
    *,
    title: str,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> Iterator[Source]:
    """Open a table for as long as the block lasts; what goes wrong in it is said in one line.

    Parameters
    ----------
    source : path, stream or table
        Whatever `read` takes.
    title : str
        How messages call it.
    columns : list of str, optional
        Names for an array that has none.
    separator, sheet, encoding
        As for `read`.
    """
    with ExitStack() as stack:
        yield _opened(source, _Form(title, columns, separator, sheet, encoding), stack)


def can_be_opened_again(source: Any) -> bool:
    """Whether DuckDB reads a source, as often as asked; streams and frames are opened once."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source) != "-"
    return isinstance(source, SqlQuery) or _is_relation(source)


def _is_relation(source: Any) -> bool:
    return is_from_duckdb(source) and hasattr(source, "aggregate")


def _opened(source: Any, form: _Form, stack: ExitStack) -> Source:
    source = sql_source(source)
    if isinstance(source, str | os.PathLike):
        if os.fspath(source) == "-":
            if sys.stdin is None:
                raise DataError("read: standard input is closed; give a file")
            return _stream(sys.stdin, form, stack)
        if not os.fspath(source):
            raise DataError("read: a file name is needed, got an empty one")
        if is_remote(os.fspath(source)):
            return _remote(os.fspath(source), form, stack)
        many = matching_files(os.fspath(source))
        if many is not None:
            return _files(many, form, stack)
        return _path(Path(source), form, stack)
    is_stream = hasattr(source, "read") and callable(source.read)
    for setting in _OF_CSV:
        if getattr(form, setting) is not None and not is_stream:
            raise InvalidParameterError(
                f"read: {arg(setting)} is for CSV, {form.title} has columns already; leave it out"
            )
    if form.sheet is not None:
        raise InvalidParameterError(
            f"read: sheet is for Excel files, {form.title} is none; leave it out"
        )
    if isinstance(source, SqlQuery):
        return _query(source, form, stack)
    if _is_relation(source):
        return _relation(source, form, stack)
    if is_stream:
        return _stream(source, form, stack)
    listed = frame_columns(source, form.columns)
    if listed is None:
        raise DataError(
            f"read: cannot read an object of type {type(source).__name__}; give a path, a stream, "
            f"a pandas or polars frame, an Arrow table, a DuckDB relation, a dict of columns or an "
            f"array"
        )
    return FrameSource(listed, form.title, source.weights if isinstance(source, Dataset) else None)


def _relation(relation: Any, form: _Form, stack: ExitStack) -> Source:
    from bestdag.data.sources.connection import one_line
    from bestdag.data.sources.duckdb import DuckSource, DuckTable, typed_fields

    source = form.title
    _refuse_equal_names(relation, source)
    stack.enter_context(
        _explained(lambda error: DataError(f"read: {source} cannot be read: {one_line(error)}"))
    )
    fields = typed_fields(relation, relation.columns)
    return DuckSource(DuckTable(relation, fields, source), stack)


def _refuse_equal_names(relation: Any, source: str) -> None:
    seen: dict[str, str] = {}
    for name in relation.columns:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise DataError(
                f"read: {source}: columns {other!r} and {name!r} differ only in case, which DuckDB "
                f"cannot tell apart; rename one"
            )


def _query(query: SqlQuery, form: _Form, stack: ExitStack) -> Source:
    """Open the result of a query, which runs again for each pass over it."""
    from bestdag.data.sources import connection
    from bestdag.data.sources.duckdb import DuckSource, DuckTable, typed_fields
    from bestdag.data.sources.parquet import explain_fetching

    source = form.title
    load_duckdb()
    con = query.con if query.con is not None else stack.enter_context(connection.connection())
    stack.enter_context(_explained(lambda error: explain_fetching(source, error)))
    relation = connection.described(con, query.origin)
    _refuse_equal_names(relation, source)
    fields = typed_fields(relation, relation.columns)
    return DuckSource(DuckTable(relation, fields, source, con, query.origin), stack)


def _remote(address: str, form: _Form, stack: ExitStack) -> Source:
    """Open Parquet files that DuckDB fetches."""
    from bestdag.data.sources import connection
    from bestdag.data.sources.duckdb import DuckSource
    from bestdag.data.sources.parquet import explain_fetching, remote_table

    source = form.title
    load_duckdb()
    con = stack.enter_context(connection.connection())
    stack.enter_context(_explained(lambda error: explain_fetching(source, error)))
    return DuckSource(remote_table(con, address, source), stack)


def _files(paths: list[Path], form: _Form, stack: ExitStack) -> Source:
    """Open the files of a pattern or a folder as one table."""
    source = form.title
    kind = _kind(paths[0], f"{str(paths[0])!r}")
    if kind in EXCEL:
        raise DataError(f"read: {source}: workbooks are read one at a time")
    is_text = kind in DELIMITERS
    refused: tuple[Parameter, ...] = ("sheet",) if is_text else ("sheet", *_OF_CSV)
    for setting in refused:
        if getattr(form, setting) is not None:
            raise InvalidParameterError(
                f"read: {source} holds {kind} files; leave out {arg(setting)}"
            )
    filled = []
    for path in paths:
        refuse_by_sight(path, f"{str(path)!r}")
        try:
            if path.stat().st_size:
                filled.append(path)
        except OSError as error:
            raise DataError(f"read: cannot open {str(path)!r}: {error.strerror}") from None
    if not filled:
        raise DataError(f"read: {source}: every file is empty; column names and rows are needed")
    load_duckdb()
    return _scanned(filled, form, kind, stack)


def _path(path: Path, form: _Form, stack: ExitStack) -> Source:
    source = form.title
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        near = nearest_file(path)
        hint = "" if near is None else f"; did you mean {near!r}?"
        raise DataError(f"read: there is no file {source}{hint}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"read: cannot open {source}: {reason}") from None
    except ValueError as error:  # a NUL in the name
        raise DataError(f"read: cannot open {source}: {error}") from None
    try:
        if not stat.S_ISREG(mode):
            with path.open("rb") as stream:
                return _stream(stream, form, stack)
        with path.open("rb") as stream:
            if not stream.read(1):
                raise DataError(f"read: {source} is empty; column names and rows are needed")
    except PermissionError:
        raise DataError(f"read: no permission to read {source}") from None
    refuse_by_sight(path, source)
    if path.suffix.lower() != ".zip":
        return _file(path, form, _kind(path, source), stack)
    inner = unzipped(path, stack.enter_context(temporary_folder()), source)
    refuse_by_sight(inner, f"the file in {source}")
    return _file(inner, form, _kind(inner, f"the file in {source}"), stack)


def _stream(stream: Any, form: _Form, stack: ExitStack) -> Source:
    """Spool a stream of CSV to a file, because it is read more than once."""
    if isinstance(stream, io.TextIOBase) and hasattr(stream, "buffer") and stream is sys.stdin:
        stream = stream.buffer
    path = Path(stack.enter_context(temporary_folder())) / "stream.csv"
    with path.open("wb") as file:
        while chunk := _chunk(stream, form.title):
            file.write(chunk)
    if path.stat().st_size == 0:
        raise DataError(f"read: {form.title} is empty; column names and rows are needed")
    return _file(path, form, ".csv", stack)


def _chunk(stream: Any, source: str) -> bytes:
    try:
        chunk = stream.read(1 << 20)
        content = chunk.encode("utf-8", "surrogateescape") if isinstance(chunk, str) else chunk
    except UnicodeError as error:
        raise DataError(
            f"read: {source} holds what is not text: {error}; open it in binary mode or with its "
            f"own encoding"
        ) from None
    except (OSError, ValueError) as error:  # closed, or open for writing only
        raise DataError(f"read: {source} cannot be read: {error}") from None
    if not isinstance(content, bytes | bytearray | memoryview):
        kind = type(chunk).__name__
        raise DataError(f"read: {source} must give text or bytes, its read() gave {kind}")
    return bytes(content)


def _file(path: Path, form: _Form, kind: str, stack: ExitStack) -> Source:
    source = form.title
    if form.sheet is not None and kind not in EXCEL:
        raise InvalidParameterError(
            f"read: {arg('sheet')} is for Excel files, {source} is {kind}; leave it out"
        )
    for setting in _OF_CSV:
        if getattr(form, setting) is not None and kind not in DELIMITERS:
            raise InvalidParameterError(
                f"read: {arg(setting)} is for CSV, {source} is {kind}; leave it out"
            )
    load_duckdb()
    if kind in EXCEL:
        from bestdag.data.sources.excel import sheet_as_csv

        folder = stack.enter_context(temporary_folder())
        path, kind = sheet_as_csv(path, folder, source, form.sheet), ".csv"
        form = replace(form, separator=",", sheet=None, encoding=None)
    return _scanned([path], form, kind, stack)


def _scanned(paths: list[Path], form: _Form, kind: str, stack: ExitStack) -> Source:
    from bestdag.data.sources import connection, csv, json, parquet
    from bestdag.data.sources.duckdb import DuckSource

    source = form.title
    con = stack.enter_context(connection.connection())
    folder = stack.enter_context(temporary_folder())
    if kind in DELIMITERS:
        paths = [csv.utf8_copy(path, folder, source, form.encoding) for path in paths]
    if form.separator == " ":
        paths = [csv.comma_copy(path, folder, source) for path in paths]
        form = replace(form, separator=",")
    keys = hive_keys(paths) if len(paths) > 1 else []
    sql_paths = [connection.plain_path(path, folder) for path in paths]
    if kind in DELIMITERS:
        sign, is_given = form.separator or DELIMITERS[kind], form.separator is not None
        stack.enter_context(
            _explained(lambda error: csv.explain_csv_failure(paths, sign, source, error))
        )
        table = csv.csv_table(con, paths, sql_paths, sign, source, is_given, keys)
    elif kind in JSON:
        stack.enter_context(
            _explained(lambda error: json.explain_json_failure(paths, source, error))
        )
        table = json.json_table(con, paths, sql_paths, source)
    else:
        stack.enter_context(
            _explained(lambda error: parquet.explain_parquet_failure(paths, source, error))
        )
        table = parquet.parquet_table(con, sql_paths, source, keys)
    return DuckSource(table, stack)


@contextmanager
def _explained(explain: Callable[[Exception], DataError]) -> Iterator[None]:
    """Say what is wrong with a table when DuckDB fails."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise explain(error) from None


def _kind(path: Path, source: str) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        kind = suffixes[-2] if len(suffixes) > 1 else ""
        known = (*DELIMITERS, *JSON)
    else:
        kind = suffixes[-1] if suffixes else ""
        known = (*DELIMITERS, *JSON, *PARQUET, *EXCEL)
    if kind in NETWORKS:
        file = source if source.startswith(("'", '"')) else "NETWORK"
        python = "Network.load reads it, and its sample(n) draws rows"
        commands = f"to draw rows from it: bestdag sample {file} -n 1000 -o rows.csv; to look at it"
        commands += f": bestdag info {file}"
        raise DataError(f"read: {source} is a network, not a table; {by_reader(python, commands)}")
    if kind not in known:
        raise DataError(
            f"read: the kind of {source} is not known from its ending; known: "
            f"{', '.join((*DELIMITERS, *JSON))}, these also with .gz, "
            f"{', '.join((*PARQUET, *EXCEL))}, and .zip with one of them"
        )
    return kind
