"""SQL as a source: a query, answered by DuckDB on its own or on a connection of the user's."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from bestdag.data.duck_connection import one_line, run_sql, sql_name
from bestdag.data.interrupts import load_duckdb
from bestdag.errors import DataError, InvalidParameterError
from bestdag.wording import first_names

__all__ = ["SqlQuery", "SqlText", "is_from_duckdb", "looks_like_sql", "sql", "sql_source"]

_BEGINS = re.compile(r"\s*\(?\s*(select|from|with)\s", re.IGNORECASE)
_SHOWN = 60


class SqlText(str):
    """A text that was given as a query, on the command line; other texts name files."""


@dataclass(frozen=True, slots=True, eq=False)
class SqlQuery:
    """A query that only reads, and the connection to ask; None for one of our own."""

    text: str
    con: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _one_select(self.text))

    @property
    def origin(self) -> str:
        """What to select from, in SQL; a comment at the end of the query stays within it."""
        return f"({self.text}\n)"

    def __str__(self) -> str:
        words = " ".join(self.text.split())
        return f"the query {words if len(words) <= _SHOWN else words[: _SHOWN - 3] + '...'!r}"


def sql(query: str, con: Any = None) -> SqlQuery:
    """Return a SQL query as a table, for `read`, `learn` and whatever else takes a table.

    Parameters
    ----------
    query : str
        One statement that selects: ``SELECT``, ``FROM`` or ``WITH``. It may name files and, with
        `con`, tables. Anything that writes, attaches or installs is refused.
    con : duckdb.DuckDBPyConnection, optional
        The connection to ask; a private one unless given.

    Examples
    --------
    >>> from bestdag import read
    >>> from bestdag.examples import example
    >>> read(sql(f"SELECT asia, tub FROM '{example('asia.csv')}'")).names
    ('asia', 'tub')
    """
    return SqlQuery(query, con)


def sql_source(source: Any, query: str | None = None) -> Any:
    """Return the query that a source stands for, if it does, or the source itself."""
    if isinstance(source, SqlText):
        return SqlQuery(str(source))
    if is_from_duckdb(source) and hasattr(source, "cursor"):
        return SqlQuery(query or _only_table(source), source)
    if query is not None:
        raise InvalidParameterError(
            f"scan: query is what to ask a DuckDB connection, got a source of type "
            f"{type(source).__name__}; leave it out, or give sql(query) as the source"
        )
    return source


def is_from_duckdb(source: Any) -> bool:
    """Whether an object is DuckDB's."""
    return type(source).__module__.partition(".")[0] in ("duckdb", "_duckdb")


def looks_like_sql(text: str) -> bool:
    """Whether a text that names no file begins as a query does.

    Examples
    --------
    >>> looks_like_sql("SELECT * FROM t"), looks_like_sql("from.csv")
    (True, False)
    """
    return _BEGINS.match(text) is not None and not os.path.lexists(text)


def _one_select(text: Any) -> str:
    """Return the only statement in a text, which must select."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidParameterError(f"sql: a query is needed as text, got {text!r:.60}")
    duckdb = load_duckdb()
    try:
        found = duckdb.extract_statements(text)
    except duckdb.Error as error:
        raise DataError(f"sql: {text!r:.60} cannot be parsed: {one_line(error)}") from None
    kinds = [statement.type.name for statement in found]
    if kinds == ["SELECT"]:
        return str(found[0].query).strip().rstrip(";").rstrip()
    came = " and ".join(kinds[:3]) or "none"
    raise DataError(
        f"sql: one statement that selects is needed (SELECT, FROM or WITH), got {came} in "
        f"{text!r:.60}"
    )


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
