"""Parquet files, on this machine or in an object store."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from bestdag.data.sources.connection import (
    described,
    hive_sql,
    one_line,
    run_sql,
    sql_text,
    sql_texts,
)
from bestdag.data.sources.duckdb import DuckTable, typed_fields
from bestdag.data.sources.files import PARQUET, hive_keys
from bestdag.errors import DataError

__all__ = ["explain_fetching", "explain_parquet_failure", "parquet_table", "remote_table"]

# How DuckDB names the extension that it has not: fetched in vain, or not looked for.
_LACKS = re.compile(r"(?:required extension '|requires the extension |extension ')(\w+)")


def remote_table(con: Any, address: str, source: str) -> DuckTable:
    """Describe the files of an address or a pattern of addresses, in the order of their names."""
    if not address.lower().partition("?")[0].endswith(PARQUET):
        raise DataError(f"read: {source}: from elsewhere Parquet files are read, and no others")
    if address.lower().startswith("http") or not glob.has_magic(address):
        return parquet_table(con, [address], source)
    addresses = [name for (name,) in run_sql(con, f"SELECT file FROM glob({sql_text(address)})")]
    if not addresses:
        raise DataError(f"read: there is no file {source}")
    keys = hive_keys([PurePosixPath(name) for name in addresses]) if len(addresses) > 1 else []
    return parquet_table(con, sorted(addresses), source, keys)


def explain_fetching(source: str, error: BaseException) -> DataError:
    """Say what DuckDB lacks, where it is an extension, or what went wrong."""
    lacks = _LACKS.search(str(error))
    if lacks is None:
        return DataError(f"read: {source} cannot be read: {one_line(error)}")
    install = f"python -c \"import duckdb; duckdb.sql('INSTALL {lacks[1]}')\""
    return DataError(
        f"read: {source} cannot be read: DuckDB needs its extension {lacks[1]} for it, and has not "
        f"got it; once, with a network: {install}"
    )


def parquet_table(
    con: Any, sql_paths: Sequence[str], title: str, keys: Sequence[str] = ()
) -> DuckTable:
    """Describe Parquet files, by the names they give their columns.

    `keys` are those of the folders that the files lie in.
    """
    origin = f"read_parquet({sql_texts(sql_paths)}, {hive_sql(keys)})"
    relation = described(con, origin)
    rows = run_sql(
        con,
        f"SELECT name, num_children FROM parquet_schema({sql_text(sql_paths[0])}) "
        f"WHERE file_name = (SELECT min(file_name) FROM parquet_schema({sql_text(sql_paths[0])}))",
    )
    # The schema lists a tree in preorder; DuckDB renames columns that differ by case only.
    names, inner = [], 0
    for name, n_children in rows[1:]:
        if inner == 0:
            names.append(name)
        else:
            inner -= 1
        inner += n_children or 0
    names += [key for key in keys if key not in names]
    fields = typed_fields(relation, names)
    return DuckTable(relation, fields, title, con, origin, by_column=True)


def explain_parquet_failure(paths: Sequence[Path], source: str, error: BaseException) -> DataError:
    """Say whether a file is no Parquet at all, or a damaged one."""
    for path in paths:
        with path.open("rb") as file:
            magic = file.read(4)
        if magic != b"PAR1":
            who = source if len(paths) == 1 else f"{str(path)!r}"
            return DataError(f"read: {who} is not a Parquet file")
    detail = one_line(error)
    if len(paths) == 1:
        detail = detail.replace(os.path.abspath(paths[0]), str(paths[0]))
    return DataError(f"read: {source} cannot be read as Parquet; is it complete? ({detail})")
