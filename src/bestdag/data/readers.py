"""`read`: one door for every kind of table."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from bestdag.data.choice import Choice, text_list
from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cutter import Cutter
from bestdag.data.discretization.numbers import DuckNumbers, FrameNumbers
from bestdag.data.duck import require_readable
from bestdag.data.encode import RawColumn, ReadOptions, build, check_states, weights_of
from bestdag.data.frames import frame_columns, is_from, raw_column
from bestdag.data.interrupts import load_duckdb, temporary_folder
from bestdag.data.schema import Variable
from bestdag.data.unpack import refuse_by_sight, unzipped, utf8_copy
from bestdag.errors import DataError, InvalidParameterError, require_choice, require_count

__all__ = ["read", "read_cut", "read_matching"]

_DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t"}
SEPARATORS = (",", ";", "\t", "|")
_PARQUET = (".parquet", ".pq")
_JSON = (".jsonl", ".ndjson")
_EXCEL = (".xlsx", ".xlsm")


def read(
    source: Any,
    *,
    states: Mapping[str, Sequence[str]] | None = None,
    missing: str = "error",
    missing_values: Iterable[str] = ("",),
    max_states: int = 50,
    weights: str | npt.ArrayLike | None = None,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
) -> Dataset:
    """Read a table of discrete data.

    Parameters
    ----------
    source : path, stream or table
        A path to CSV (``.csv``, ``.txt``: commas), TSV (``.tsv``), JSON lines (``.jsonl``,
        ``.ndjson``), these also with ``.gz``, Parquet (``.parquet``, ``.pq``) or Excel (``.xlsx``,
        ``.xlsm``; needs ``bestdag[excel]``), or to a ``.zip`` with one of these in it; text is
        UTF-8, or UTF-16 with its mark at the beginning;
        ``"-"`` or an open stream with CSV; a pandas or polars frame, an Arrow table, a DuckDB
        relation, a dict of columns, a structured NumPy array, or a two-dimensional one with
        `columns` as its names; a Dataset.
    states : mapping of str to sequence of str, optional
        The states of some columns, in order. A value not listed is an error.
    missing : {"error", "drop", "state", "keep"}, default "error"
        What to do about missing cells: refuse them; drop their rows (with a DataWarning);
        give the columns that have some a last state called ``missing``; keep them as they are.
    missing_values : iterable of str, default ("",)
        Texts that mark a missing cell, beside nulls and NaN. They replace the default: list
        ``""`` too, or empty cells are a state called ``''`` (with a DataWarning).
    max_states : int, default 50
        Most distinct values of a column whose states are not declared. Declared ones (by
        `states`, a pandas Categorical, a polars Enum, an Arrow dictionary) may be up to 65,535.
    weights : str or array, optional
        The column that says how often each row counts (it is then no variable), or an array.
    columns : str or iterable of str, optional
        The columns to read, in that order.
    drop : str or iterable of str, optional
        Columns to leave out.
    allow_few_rows : bool, default False
        Go on when ``missing="drop"`` leaves less than a third of the rows, which is otherwise
        refused.
    separator : str, optional
        What stands between the cells of CSV, a comma, semicolon, tab or bar (``|``), instead of
        what the ending says. A file whose header
        shows another one is refused.
    sheet : str, optional
        The sheet of an Excel workbook; without it, the only one that has data.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the table cannot be used as it is; the message says where and what to do.
    UnknownNameError
        If `columns`, `drop`, `states` or `weights` name no column, or a value no state.

    Warns
    -----
    DataWarning
        If columns have one state, or empty text as a state that nobody declared, or rows were
        dropped.

    Notes
    -----
    States that are not declared are the values seen, sorted as numbers when all are numbers,
    else by code point; so neither the order of rows nor that of columns matters. Booleans always
    have the states ``False`` and ``True``. The intervals that `discretize` and ``to_csv`` write
    (``<=0.8``, ``0.8 to 2``, ``>2``: all of them and nothing else but ``missing``) are in their
    own order and have their cut points. In CSV a label is the text of the cell, spaces
    included; nothing is guessed. Blank lines are skipped, except in a table of one column, where
    they are empty cells.

    Examples
    --------
    >>> data = read({"smoke": ["no", "yes", "yes"], "age": [40, 9, 40]})
    >>> data.variable("age").states
    ('9', '40')
    >>> read({"a": ["x", "y"], "n": [3, 7]}, weights="n").total_weight
    10
    """
    choice = _choice(
        source,
        states,
        missing,
        missing_values,
        max_states,
        weights,
        columns,
        drop,
        allow_few_rows=allow_few_rows,
        separator=separator,
        sheet=sheet,
    )
    return _read(source, choice)


def read_matching(
    source: Any,
    variables: Iterable[Variable],
    *,
    ignore_extra: bool = False,
    missing: str = "error",
    missing_values: Iterable[str] = ("",),
    max_states: int = 50,
    weights: str | npt.ArrayLike | None = None,
    drop: str | Iterable[str] | None = None,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
    owner: str = "the network",
    may_lack: bool = False,
    cut_names: list[str] | None = None,
) -> Dataset:
    """Read the columns that are these variables, with their states, in their order.

    The numbers of a variable with cut points become its states; a column may also hold those
    states themselves. A value that is not a state, a column that is missing and, unless
    `ignore_extra`, a column too many is an error that names it and whose variables these are
    (`owner`). With `may_lack` columns may be missing, though not all of them: those that are
    there are read. `cut_names` gets the names of the columns whose numbers were cut. The other
    settings are those of `read`.
    """
    listed = list(variables)
    cut = {variable.name: variable for variable in listed if variable.cuts is not None}
    states = {variable.name: variable.states for variable in listed}
    cutter = None
    if cut:
        cutter = Cutter(cut=frozenset(), given=cut, may_lack=may_lack, cut_names=cut_names)
    choice = _choice(
        source,
        states,
        missing,
        missing_values,
        max_states,
        weights,
        list(states),
        drop,
        owner=None if ignore_extra else owner,
        cutter=cutter,
        may_lack=may_lack,
        allow_few_rows=allow_few_rows,
        separator=separator,
        sheet=sheet,
    )
    return _read(source, choice)


def read_cut(
    source: Any,
    cutter: Cutter,
    *,
    states: Mapping[str, Sequence[str]] | None,
    missing: str,
    missing_values: Iterable[str],
    max_states: int,
    weights: str | npt.ArrayLike | None,
    columns: str | Iterable[str] | None,
    drop: str | Iterable[str] | None,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
) -> Dataset:
    """Read a table and cut number columns; the settings are those of `read`."""
    choice = _choice(
        source,
        states,
        missing,
        missing_values,
        max_states,
        weights,
        columns,
        drop,
        cutter=cutter,
        allow_few_rows=allow_few_rows,
        separator=separator,
        sheet=sheet,
    )
    return _read(source, choice)


def _choice(
    source: Any,
    states: Mapping[str, Sequence[str]] | None,
    missing: str,
    missing_values: Iterable[str],
    max_states: int,
    weights: str | npt.ArrayLike | None,
    columns: str | Iterable[str] | None,
    drop: str | Iterable[str] | None,
    *,
    owner: str | None = None,
    cutter: Cutter | None = None,
    may_lack: bool = False,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
) -> Choice:
    if separator is not None:
        require_choice("read", "separator", separator, SEPARATORS)
    marks = frozenset(text_list("missing_values", missing_values, "texts"))
    require_choice("read", "missing", missing, ["error", "drop", "state", "keep"])
    options = ReadOptions(
        source=_describe(source),
        states=check_states(states, marks),
        missing=missing,
        missing_values=marks,
        max_states=require_count("read", "max_states", max_states, minimum=1),
        allow_few_rows=bool(allow_few_rows),
    )
    return Choice(
        columns,
        drop,
        weights,
        options,
        owner=owner,
        cutter=cutter,
        may_lack=may_lack,
        separator=separator,
        sheet=sheet,
    )


def _read(source: Any, choice: Choice) -> Dataset:
    if isinstance(source, str | os.PathLike):
        if os.fspath(source) == "-":
            if sys.stdin is None:
                raise DataError("read: standard input is closed; give a file")
            return _read_stream(sys.stdin, choice)
        if not os.fspath(source):
            raise DataError("read: a file name is needed, got an empty one")
        return _read_path(Path(source), choice)
    is_stream = hasattr(source, "read") and callable(source.read)
    if choice.separator is not None and not is_stream:
        raise InvalidParameterError(
            f"read: separator is for CSV, {choice.options.source} has columns already; leave it out"
        )
    if choice.sheet is not None:
        raise InvalidParameterError(
            f"read: sheet is for Excel files, {choice.options.source} is none; leave it out"
        )
    if is_from("duckdb", source) and hasattr(source, "aggregate"):
        return _read_relation(source, choice)
    if is_stream:
        return _read_stream(source, choice)
    listed = frame_columns(source, choice.columns)
    if listed is None:
        raise DataError(
            f"read: cannot read an object of type {type(source).__name__}; give a path, a stream, "
            f"a pandas or polars frame, an Arrow table, a DuckDB relation, a dict of columns or an "
            f"array"
        )
    return _read_frame(source, listed, choice)


def _read_frame(source: Any, listed: list[tuple[str, Any]], choice: Choice) -> Dataset:
    names = choice.variables([name for name, _ in listed])
    by_name = dict(listed)
    who = f"read: {choice.options.source}"
    if choice.cutter is None:
        columns = [raw_column(name, by_name[name], who) for name in names]
        lengths = {column.name: len(column.codes) for column in columns}
    else:
        table = FrameNumbers(by_name, choice.options)
        lengths = {name: table.length(name) for name in names}
    n_rows = lengths[names[0]]
    for name, length in lengths.items():
        if length != n_rows:
            raise DataError(
                f"{who}: column {name!r} has {length:,} rows, column {names[0]!r} has {n_rows:,}"
            )
    if isinstance(choice.weights, str):
        raw = raw_column(choice.weights, by_name[choice.weights], who)
        weights: npt.NDArray[Any] | None = weights_of(raw, choice.options)
    else:
        weights = choice.given_weights(n_rows)
    if weights is None and isinstance(source, Dataset):
        weights = source.weights
    if choice.cutter is not None:
        columns = choice.cutter.columns(table, names, weights, choice.options)
    return _built(columns, weights, choice)


def _built(
    columns: Sequence[RawColumn], weights: npt.NDArray[Any] | None, choice: Choice
) -> Dataset:
    is_chosen = choice.cutter is not None and choice.cutter.method is not None
    return build(columns, weights, choice.options, cuts_are_chosen=is_chosen)


def _read_duck(table: Any, choice: Choice) -> Dataset:
    by_name = {field.name: field for field in table.fields}
    names = choice.variables([field.name for field in table.fields])
    weight = by_name[choice.weights] if isinstance(choice.weights, str) else None
    fields = [by_name[name] for name in names]
    if choice.cutter is not None:
        return _read_cut(table, fields, weight, choice)
    columns, weights = table.read(fields, weight, choice.options)
    if weights is None:
        weights = choice.given_weights(len(columns[0].codes))
    return _built(columns, weights, choice)


def _read_cut(table: Any, fields: Sequence[Any], weight: Any, choice: Choice) -> Dataset:
    """Read a table column by column, cutting some."""
    assert choice.cutter is not None
    require_readable(fields, choice.options)
    if not table.by_column:
        with table.stored(fields, weight) as (copy, moved):
            return _read_cut(copy, copy.fields[: len(fields)], moved, choice)
    numbers = DuckNumbers(table, {field.name: field for field in fields}, choice.options)
    weights = choice.given_weights(numbers.n_rows) if weight is None else numbers.weights(weight)
    names = [field.name for field in fields]
    columns = choice.cutter.columns(numbers, names, weights, choice.options)
    return _built(columns, weights, choice)


def _read_relation(relation: Any, choice: Choice) -> Dataset:
    import duckdb

    from bestdag.data.duck import DuckTable
    from bestdag.data.duck_connection import one_line
    from bestdag.data.duck_types import typed_fields

    source = choice.options.source
    seen: dict[str, str] = {}
    for name in relation.columns:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise DataError(
                f"read: {source}: columns {other!r} and {name!r} differ only in case, which DuckDB "
                f"cannot tell apart; rename one"
            )
    try:
        fields = typed_fields(relation, relation.columns)
        return _read_duck(DuckTable(relation, fields), choice)
    except duckdb.Error as error:
        raise DataError(f"read: {source} cannot be read: {one_line(error)}") from None


def _read_path(path: Path, choice: Choice) -> Dataset:
    source = choice.options.source
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise DataError(f"read: there is no file {source}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"read: cannot open {source}: {reason}") from None
    except ValueError as error:  # a NUL in the name
        raise DataError(f"read: cannot open {source}: {error}") from None
    if stat.S_ISDIR(mode):
        raise DataError(f"read: {source} is a folder; a file is needed")
    try:
        if not stat.S_ISREG(mode):
            with path.open("rb") as stream:
                return _read_stream(stream, choice)
        with path.open("rb") as stream:
            if not stream.read(1):
                raise DataError(f"read: {source} is empty; column names and rows are needed")
    except PermissionError:
        raise DataError(f"read: no permission to read {source}") from None
    refuse_by_sight(path, source)
    if path.suffix.lower() != ".zip":
        return _read_file(path, choice, _kind(path, source))
    with temporary_folder() as folder:
        inner = unzipped(path, folder, source)
        refuse_by_sight(inner, f"the file in {source}")
        return _read_file(inner, choice, _kind(inner, f"the file in {source}"))


def _read_stream(stream: Any, choice: Choice) -> Dataset:
    """Spool a stream of CSV to a file, because it is read more than once."""
    if isinstance(stream, io.TextIOBase) and hasattr(stream, "buffer") and stream is sys.stdin:
        stream = stream.buffer
    with temporary_folder() as folder:
        path = Path(folder) / "stream.csv"
        with path.open("wb") as file:
            while chunk := _chunk(stream, choice.options.source):
                file.write(chunk)
        if path.stat().st_size == 0:
            raise DataError(
                f"read: {choice.options.source} is empty; column names and rows are needed"
            )
        return _read_file(path, choice, ".csv")


def _chunk(stream: Any, source: str) -> bytes:
    try:
        chunk = stream.read(1 << 20)
        found = chunk.encode("utf-8", "surrogateescape") if isinstance(chunk, str) else chunk
    except UnicodeError as error:
        raise DataError(
            f"read: {source} holds what is not text: {error}; open it in binary mode or with its "
            f"own encoding"
        ) from None
    except (OSError, ValueError) as error:  # closed, or open for writing only
        raise DataError(f"read: {source} cannot be read: {error}") from None
    if not isinstance(found, bytes | bytearray | memoryview):
        kind = type(chunk).__name__
        raise DataError(f"read: {source} must give text or bytes, its read() gave {kind}")
    return bytes(found)


def _read_file(path: Path, choice: Choice, kind: str) -> Dataset:
    from bestdag.data import csv_source, duck_connection, duck_types, json_source

    duckdb = load_duckdb()
    source = choice.options.source
    given = choice.separator
    if choice.sheet is not None and kind not in _EXCEL:
        what = f"sheet is for Excel files, {source} is {kind}; leave it out"
        raise InvalidParameterError(f"read: {what}").with_option(f"read: --{what}")
    if given is not None and kind not in _DELIMITERS:
        what = f"separator is for CSV, {source} is {kind}; leave it out"
        raise InvalidParameterError(f"read: {what}").with_option(f"read: --{what}")
    if kind in _EXCEL:
        from bestdag.data.excel_source import sheet_as_csv

        with temporary_folder() as folder:
            sheet = sheet_as_csv(path, folder, source, choice.sheet)
            return _read_file(sheet, choice.of_plain_csv(), ".csv")
    with duck_connection.connection() as con, temporary_folder() as folder:
        if kind in _DELIMITERS and path.suffix.lower() != ".gz":
            path = utf8_copy(path, folder, source)
        sql_path = duck_connection.plain_path(path, folder)
        try:
            if kind in _DELIMITERS:
                table = csv_source.csv_table(
                    con, path, sql_path, given or _DELIMITERS[kind], source, given is not None
                )
            elif kind in _JSON:
                table = json_source.json_table(con, path, sql_path, source)
            else:
                table = duck_types.parquet_table(con, sql_path)
            return _read_duck(table, choice)
        except duckdb.Error as error:
            if kind in _DELIMITERS:
                raise csv_source.explain_csv_failure(
                    path, given or _DELIMITERS[kind], source, error
                ) from None
            if kind in _JSON:
                raise json_source.explain_json_failure(path, source, error) from None
            raise duck_types.explain_parquet_failure(path, source, error) from None


def _kind(path: Path, source: str) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        kind = suffixes[-2] if len(suffixes) > 1 else ""
        known = (*_DELIMITERS, *_JSON)
    else:
        kind = suffixes[-1] if suffixes else ""
        known = (*_DELIMITERS, *_JSON, *_PARQUET, *_EXCEL)
    if kind not in known:
        raise DataError(
            f"read: the kind of {source} is not known from its ending; known: "
            f"{', '.join((*_DELIMITERS, *_JSON))}, these also with .gz, "
            f"{', '.join((*_PARQUET, *_EXCEL))}, and .zip with one of them"
        )
    return kind


def _describe(source: Any) -> str:
    if isinstance(source, str | os.PathLike):
        text = os.fsdecode(source)
        return "standard input" if text == "-" else repr(text)
    return f"the {type(source).__name__}"
