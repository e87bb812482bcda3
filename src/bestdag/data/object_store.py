"""Parquet files that are not on this machine: DuckDB fetches what it needs of them."""

from __future__ import annotations

import glob
import re
from pathlib import PurePosixPath
from typing import Any

from bestdag.data.duck import DuckTable
from bestdag.data.duck_connection import one_line, run_sql, sql_text
from bestdag.data.duck_types import parquet_table
from bestdag.data.many_files import hive_keys
from bestdag.errors import DataError

__all__ = ["explain_fetching", "remote_table"]

_PARQUET = (".parquet", ".pq")
# How DuckDB names the extension that it has not: fetched in vain, or not looked for.
_LACKS = re.compile(r"(?:required extension '|requires the extension |extension ')(\w+)")


def remote_table(con: Any, address: str, source: str) -> DuckTable:
    """Describe the files of an address or a pattern of addresses, in the order of their names."""
    if not address.lower().partition("?")[0].endswith(_PARQUET):
        raise DataError(f"read: {source}: from elsewhere Parquet files are read, and no others")
    if address.lower().startswith("http") or not glob.has_magic(address):
        return parquet_table(con, [address])
    found = [name for (name,) in run_sql(con, f"SELECT file FROM glob({sql_text(address)})")]
    if not found:
        raise DataError(f"read: there is no file {source}")
    keys = hive_keys([PurePosixPath(name) for name in found]) if len(found) > 1 else []
    return parquet_table(con, sorted(found), keys)


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
