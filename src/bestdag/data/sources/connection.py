"""A private DuckDB: its connection, its SQL, queries as sources, and Ctrl-C while it works."""

from __future__ import annotations

import importlib
import math
import os
import re
import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Generic, TypeVar

from bestdag.errors import (
    DataError,
    InvalidParameterError,
    NotEnoughMemoryError,
    is_short_of_memory,
    no_memory,
)
from bestdag.files import temporary
from bestdag.machine import address_space_left, memory_left, readable_size, thread_count
from bestdag.wording import first_names

__all__ = [
    "SqlQuery",
    "SqlText",
    "Task",
    "connection",
    "described",
    "hive_sql",
    "interruptible",
    "is_from_duckdb",
    "load_duckdb",
    "looks_like_sql",
    "one_line",
    "plain_path",
    "resource_settings",
    "run_sql",
    "sql",
    "sql_name",
    "sql_source",
    "sql_text",
    "sql_texts",
    "stored_table",
    "temporary_folder",
    "to_the_end",
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
        con = _connected(resource_settings())
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


def resource_settings() -> dict[str, str]:
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


_T = TypeVar("_T")
_PATIENCE = 0.05  # seconds between looks
_LEAST_ADDRESSES = 160 << 20  # DuckDB's own code is half of it
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not there on Windows
_STOPPING = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


def interruptible(work: Callable[[], _T], con: Any) -> _T:
    """Run a query so that Ctrl-C ends it at once, as a KeyboardInterrupt.

    DuckDB looks at signals only between its own steps, which may be minutes apart; so the query
    runs in a thread while this one waits, and is interrupted from here. Without a connection of
    our own to interrupt, it runs here and Ctrl-C waits for DuckDB.
    """
    if con is None or threading.current_thread() is not threading.main_thread():
        try:
            return work()
        except Exception as error:
            raise _own(error) from None
    return _watched(work, con)


def to_the_end(work: Callable[[], _T]) -> _T:
    """Run a query that must not be interrupted: Ctrl-C is answered when it has ended."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    return _watched(work, None)


def load_duckdb() -> ModuleType:
    """Import DuckDB; signals are answered afterwards, in its native part they would abort all."""
    is_main = threading.current_thread() is threading.main_thread()
    if "duckdb" not in sys.modules:
        _require_addresses()
    if "duckdb" in sys.modules or not is_main:
        return importlib.import_module("duckdb")
    before = {number: signal.getsignal(number) for number in _STOPPING}
    waiting: list[tuple[int, FrameType | None]] = []
    answered = [number for number, handler in before.items() if callable(handler)]
    for number in answered:
        signal.signal(number, lambda number, frame: waiting.append((number, frame)))
    try:
        return importlib.import_module("duckdb")
    finally:
        for number in answered:
            signal.signal(number, before[number])
        if waiting:
            number, frame = waiting[0]
            answer = before[number]
            assert callable(answer)
            answer(number, frame)


def _require_addresses() -> None:
    """Refuse to load DuckDB where it would end the process for want of memory."""
    left = address_space_left()
    if left is not None and left < _LEAST_ADDRESSES:
        raise NotEnoughMemoryError(
            f"read: DuckDB, which reads tables, needs {readable_size(_LEAST_ADDRESSES)} of memory, "
            f"{readable_size(left)} are left; raise the limit (ulimit -v)"
        )


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Make a folder that is gone afterwards, whenever Ctrl-C comes."""
    path = os.path.join(tempfile.gettempdir(), f"bestdag-{secrets.token_hex(8)}")
    with temporary(path):  # which knows it before it is there
        os.mkdir(path, 0o700)
        yield path


def _watched(work: Callable[[], _T], con: Any) -> _T:
    task = Task(work)
    stopped: BaseException | None = None
    # Ctrl-C may come at any line below, and again: the task must have ended in every case.
    while not task.over:
        try:
            if stopped is None:
                task.begin()
            else:
                task.cancel(con)
        except BaseException as error:
            stopped = stopped or error
    if stopped is not None:
        raise stopped
    if task.failure is not None:
        raise _own(task.failure) from None
    return task.results[0]


class Task(threading.Thread, Generic[_T]):
    """Work in a thread that either never begins or is waited for."""

    def __init__(self, work: Callable[[], _T]) -> None:
        super().__init__(name="bestdag-read", daemon=True)
        self.results: list[_T] = []
        self.failure: BaseException | None = None
        self._work: Callable[[], _T] | None = work
        self._ended = threading.Event()
        self._first = threading.Lock()  # taken by the work, or by who calls it off

    @property
    def over(self) -> bool:
        """Whether it has ended, or never will begin."""
        return self._ended.is_set()

    def run(self) -> None:
        """Work, unless it was called off."""
        if not self._first.acquire(blocking=False):
            return
        try:
            if self._work is not None:
                self.results.append(self._work())
        except BaseException as error:
            self.failure = error
        finally:
            self._ended.set()

    def begin(self) -> None:
        """Start, and wait for the end."""
        self.start()
        while not self._ended.wait(_PATIENCE):
            pass

    def cancel(self, con: Any) -> None:
        """Call it off, or end its query and wait for that."""
        if self._first.acquire(blocking=False):
            self._work = None  # it had not begun, and cannot any more
            self._ended.set()
        while not self._ended.is_set():
            if con is not None:
                con.interrupt()
            self._ended.wait(_PATIENCE)


def _own(error: BaseException) -> BaseException:
    """Turn DuckDB's two ways to say that it was interrupted into Python's one.

    So with its ways to say that memory, or a thread's share of it, could not be had.
    """
    says_so = isinstance(error, RuntimeError) or type(error).__name__ == "InterruptException"
    if says_so and "interrupt" in str(error).lower():
        return KeyboardInterrupt()
    return no_memory("read") if is_short_of_memory(error) else error


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
    """Return a SQL query as a table, for `read`, `learn` and all that takes a table.

    Parameters
    ----------
    query : str
        One statement that selects: ``SELECT``, ``FROM`` or ``WITH``. It may name files and, with
        `con`, tables. Anything that writes, attaches or installs is refused.
    con : duckdb.DuckDBPyConnection, optional
        The connection that runs it; a private one unless given.

    Raises
    ------
    InvalidParameterError
        If the query is not text.
    DataError
        If it cannot be parsed, or is not one statement that selects.

    Notes
    -----
    A text is never taken for a query by the way it begins: a name such as ``"select.csv"`` is a
    file, and a query could write one.

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
        statements = duckdb.extract_statements(text)
    except duckdb.Error as error:
        raise DataError(f"sql: {text!r:.60} cannot be parsed: {one_line(error)}") from None
    kinds = [statement.type.name for statement in statements]
    if kinds == ["SELECT"]:
        return str(statements[0].query).strip().rstrip(";").rstrip()
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
