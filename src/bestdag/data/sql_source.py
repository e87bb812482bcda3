"""SQL as a source: a query, run by DuckDB on its own or on a connection of the user's."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from bestdag.data.duck_connection import run_sql, sql_name
from bestdag.errors import DataError, InvalidParameterError
from bestdag.wording import first_names

__all__ = ["SqlQuery", "sql_source"]

_BEGINS = re.compile(r"\s*\(?\s*(select|from|with)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class SqlQuery:
    """A query, and the connection to ask; None for one of our own."""

    text: str
    con: Any = None

    def __str__(self) -> str:
        words = " ".join(self.text.split())
        return f"the query {words if len(words) <= 60 else words[:57] + '...'!r}"


def sql_source(source: Any, query: str | None = None) -> Any:
    """Return the query that a source is, or the source itself."""
    package = type(source).__module__.partition(".")[0]
    if package in ("duckdb", "_duckdb") and hasattr(source, "cursor"):
        return SqlQuery(query or _only_table(source), source)
    if query is not None:
        raise InvalidParameterError(
            f"scan: query is what to ask a DuckDB connection, got a source of type "
            f"{type(source).__name__}; leave it out, or give the query as the source"
        )
    if isinstance(source, str) and _BEGINS.match(source) and not os.path.exists(source):
        return SqlQuery(source.strip().rstrip(";"))
    return source


def _only_table(con: Any) -> str:
    names = [
        name
        for (name,) in run_sql(
            con,
            "SELECT table_name FROM duckdb_tables() WHERE NOT internal UNION ALL "
            "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1",
        )
    ]
    if len(names) == 1:
        return f"FROM {sql_name(names[0])}"
    has = f"has {first_names(names)}" if names else "has no table"
    raise DataError(f"scan: the DuckDB connection {has}; say what to read with query=")
