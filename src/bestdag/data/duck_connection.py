"""A private DuckDB: its connection, its files and its SQL."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bestdag.data.interrupts import interruptible, load_duckdb, temporary_folder
from bestdag.machine import address_space_left, memory_left, thread_count

__all__ = [
    "connection",
    "described",
    "hive_sql",
    "one_line",
    "plain_path",
    "run_sql",
    "sql_name",
    "sql_text",
    "sql_texts",
    "stored_table",
]

# The rows of a group in a database file are a multiple of the first and by default the second.
_VECTOR = 2048
_GROUP = 60 * _VECTOR
# Of the memory there is, for DuckDB before it spills; it needs some bytes in any case. The encoded
# columns take the rest.
_SHARE_OF_MEMORY, _LEAST_BYTES = 0.5, 32 << 20
# A thread's stack, its heap and its buffers.
_ADDRESSES_PER_THREAD = 256 << 20


@contextmanager
def connection() -> Iterator[Any]:
    """Open a private in-memory DuckDB that spills to a folder of its own, removed at the end."""
    with temporary_folder() as folder:
        con = _connected(_shares())
        try:
            for setting in (
                f"temp_directory = {sql_text(os.path.join(folder, 'spill'))}",
                "preserve_insertion_order = true",
                "enable_progress_bar = false",
                "parquet_metadata_cache = true",
            ):
                run_sql(con, f"SET {setting}")
            # What is stored is left with the connection: there is no point in tidying it up.
            run_sql(con, "PRAGMA disable_checkpoint_on_shutdown")
            yield con
        finally:
            con.close()


def _connected(config: dict[str, str]) -> Any:
    duckdb = load_duckdb()
    try:
        return interruptible(lambda: duckdb.connect(":memory:", config=config), None)
    except duckdb.Error:
        if "async_threads" not in config:
            raise
        return _connected({k: v for k, v in config.items() if k != "async_threads"})


def _shares() -> dict[str, str]:
    """Say how many threads DuckDB may have, and how much memory before it spills to disk."""
    shares = {}
    left = memory_left()
    if math.isfinite(left):
        shares["memory_limit"] = f"{max(_LEAST_BYTES, int(_SHARE_OF_MEMORY * left))}B"
    addresses = address_space_left()
    if addresses is not None:
        most = thread_count(None, who="read")
        shares["threads"] = str(min(most, max(1, addresses // _ADDRESSES_PER_THREAD)))
        shares["async_threads"] = "0"  # for files that are not here; before 2.0 there are none
    return shares


@contextmanager
def stored_table(con: Any, query: str, folder: str, group_rows: int) -> Iterator[str]:
    """Keep the rows of a query in a database file, and say what to select them from.

    It is no Parquet file because DuckDB 2.0, interrupted while it writes one, may wait for
    itself for ever.
    """
    path = sql_text(os.path.join(folder, "columns.db"))
    rows = max(1, min(group_rows, _GROUP) // _VECTOR) * _VECTOR
    try:
        run_sql(con, f"ATTACH {path} AS stored (ROW_GROUP_SIZE {rows})")
        run_sql(con, f"CREATE TABLE stored.main.columns AS {query}")
        yield "stored.main.columns"
    finally:
        run_sql(con, "DETACH DATABASE IF EXISTS stored")


def run_sql(con: Any, query: str) -> list[tuple[Any, ...]]:
    """Run SQL on a connection of our own and return its rows."""
    return interruptible(lambda: list(con.execute(query).fetchall()), con)


def described(con: Any, origin: str) -> Any:
    """Describe what a SQL text selects from, as a relation with names and types."""
    return interruptible(lambda: con.sql(f"FROM {origin}"), con)


def sql_text(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def sql_texts(texts: Sequence[str]) -> str:
    """Quote a list of texts for SQL; one stands alone."""
    quoted = [sql_text(text) for text in texts]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def hive_sql(keys: Sequence[str]) -> str:
    """Return the options that make columns of text of ``key=value`` folders, or none."""
    if not keys:
        return "hive_partitioning = false"
    return "hive_partitioning = true, hive_types_autocast = false"


def sql_name(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def one_line(error: BaseException) -> str:
    """Shorten a message of several lines to its first sentence, for use inside our own."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return re.sub(r"^[\w ]*Error: ", "", first)[:200].rstrip(". ") or type(error).__name__


def plain_path(path: Path, folder: str) -> str:
    """Give DuckDB a path it will not read as a pattern: a link, if the name has such characters."""
    text = os.path.abspath(path)
    if not any(sign in text for sign in "*?[]{}"):
        return text
    link = os.path.join(folder, f"source-{len(os.listdir(folder))}{''.join(path.suffixes[-2:])}")
    os.symlink(text, link)
    return link
