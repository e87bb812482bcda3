"""`scan`: a table whose codes lie on disk."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from bestdag.data.choice import Choice, choose, require_collapse
from bestdag.data.column_folder import ColumnFolder, build_folder, mapped, read_manifest
from bestdag.data.disk_rows import Scan
from bestdag.data.interrupts import temporary_folder
from bestdag.data.many_files import local_files
from bestdag.data.opening import open_table
from bestdag.data.scanned_table import ScannedTable
from bestdag.data.settle import warn
from bestdag.data.source_stamp import reading_key, stamp_of
from bestdag.data.sql_source import sql_source
from bestdag.data.streamed import encode_stream
from bestdag.errors import DataWarning, InvalidParameterError, require_count
from bestdag.machine import memory_limit as limited_memory

__all__ = ["scan", "scanned"]


def scan(
    source: Any,
    *,
    query: str | None = None,
    memory_limit: float | str | None = None,
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = False,
    block_rows: int | None = None,
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
    encoding: str | None = None,
) -> Scan:
    """Read a table of discrete data whose codes stay on disk.

    Parameters
    ----------
    source : path, pattern, folder, address, sql(...), or DuckDB connection or relation
        A file that `read` takes; a pattern such as ``"rows/*.parquet"`` or a folder, whose files
        are one table, in the order of their names (``key=value`` folders are columns); the
        address of Parquet files in an object store that DuckDB reads; a query
        (``sql("SELECT ...")``); a DuckDB relation, or a connection with a `query` or a single
        table.
    query : str, optional
        What to ask a DuckDB connection.
    memory_limit : float or str, optional
        What reading may take beyond what the process has already: bytes, or a text such as "2 GB".
    cache : path, optional
        A folder to keep the codes in. They are used again while source and settings are the same:
        size, time and a checksum of a sample of every file; results of queries and files in
        object stores are encoded anew. Without it they lie in a temporary file that is gone with
        the scan.
    collapse : bool or None, default False
        Put equal rows together, as one row with a weight; None does so where a sample promises
        at most an eighth of the rows.
    block_rows : int, optional
        Rows that are counted at a time; chosen by the memory limit unless given.
    states, missing, missing_values, max_states, weights, columns, drop, allow_few_rows, separator
    sheet, encoding
        As for `read`.

    Returns
    -------
    Scan
        Equal to the Dataset that `read` gives.

    Raises
    ------
    DataError, UnknownNameError
        As for `read`.
    WriteError
        If the disk has too little room; nothing is left behind.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.examples import example
    >>> rows = scan(example("asia.csv"))
    >>> rows.rows_in, rows == read(example("asia.csv"))
    ('disk', True)
    """
    choice = choose(
        sql_source(source, query),
        states=states,
        missing=missing,
        missing_values=missing_values,
        max_states=max_states,
        weights=weights,
        columns=columns,
        drop=drop,
        allow_few_rows=allow_few_rows,
        separator=separator,
        sheet=sheet,
        encoding=encoding,
    )
    if block_rows is not None:
        require_count("scan", "block_rows", block_rows, minimum=1)
    require_collapse("scan", collapse)
    with limited_memory(memory_limit):
        found = scanned(
            sql_source(source, query), choice, cache=cache, collapse=collapse, block_rows=block_rows
        )
    found.memory_limit = memory_limit
    return found


def scanned(
    source: Any,
    choice: Choice,
    *,
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = False,
    block_rows: int | None = None,
) -> Scan:
    """Do what `scan` does, with settings that are checked, within the limits that hold."""
    if cache is None:
        with temporary_folder() as parent:
            _encode(source, choice, collapse, parent, "rows", stamp=None)
            return _opened(os.path.join(parent, "rows"), block_rows, keeps=False)
    parent = os.fspath(cache)
    if not parent:
        what = "must name a folder, got an empty name"
        raise InvalidParameterError(f"scan: cache {what}").with_option(f"scan: --cache {what}")
    files = local_files(source)
    if files is None:  # nobody knows whether it is what it was
        with temporary_folder() as inner:
            name = "rows-" + os.path.basename(inner)
            _encode(source, choice, collapse, parent, name, stamp=None)
            place = os.path.join(parent, name)
            try:
                return _opened(place, block_rows, keeps=False)
            finally:
                shutil.rmtree(place, ignore_errors=True)
    name = "rows-" + reading_key(os.fspath(source), choice, collapse)
    place, stamp = os.path.join(parent, name), stamp_of(files)
    manifest = read_manifest(place)
    if manifest is not None and manifest["stamp"] == stamp:
        for said in manifest["warnings"]:
            warn(*said)
    else:
        _encode(source, choice, collapse, parent, name, stamp=stamp)
    return _opened(place, block_rows, keeps=True)


def _encode(
    source: Any,
    choice: Choice,
    collapse: bool | None,
    parent: str,
    name: str,
    *,
    stamp: list[list[Any]] | None,
) -> None:
    with build_folder(parent, name) as folder, open_table(source, choice) as table:
        if not isinstance(table, ScannedTable):
            raise InvalidParameterError(
                f"scan: {choice.options.source} is in memory already; use read"
            )
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", DataWarning)
            _encode_into(folder, table, choice, collapse, stamp, heard)
    for one in heard:
        if isinstance(one.message, DataWarning):
            warn(str(one.message), one.message.on_command_line)


def _encode_into(
    folder: ColumnFolder,
    table: ScannedTable,
    choice: Choice,
    collapse: bool | None,
    stamp: list[list[Any]] | None,
    heard: Sequence[warnings.WarningMessage],
) -> None:
    found = encode_stream(table, choice.options, folder, collapse=collapse)
    said = [
        [str(one.message), one.message.on_command_line]
        for one in heard
        if isinstance(one.message, DataWarning)
    ]
    about = {
        "stamp": stamp,
        "warnings": said,
        "notes": found.notes,
        "n_source": found.n_source if found.is_collapsed else None,
        # Where equal rows are together, the cells of the rows held are fewer than those counted.
        "missing": None if found.is_collapsed else found.missing_counts,
    }
    folder.finish(found.variables, found.n_rows, about)


def _opened(place: str, block_rows: int | None, *, keeps: bool) -> Scan:
    manifest = read_manifest(place)
    assert manifest is not None
    return Scan._mapped(
        *mapped(place, manifest),
        missing=manifest["missing"],
        notes=tuple(manifest["notes"]),
        n_source=manifest["n_source"],
        folder=Path(place) if keeps else None,
        block_rows=block_rows,
    )
