"""Ctrl-C while DuckDB works: the query ends at once, and nothing is left running or lying about."""

from __future__ import annotations

import importlib
import os
import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any, Generic, TypeVar

from bestdag.errors import NotEnoughMemoryError, is_short_of_memory, no_memory
from bestdag.files import temporary
from bestdag.machine import address_space_left, readable_size

__all__ = ["interruptible", "load_duckdb", "temporary_folder", "to_the_end"]

_T = TypeVar("_T")
_PATIENCE = 0.05  # seconds between looks
_LEAST_ADDRESSES = 160 << 20  # DuckDB's own code is half of it
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not there on Windows
_STOPPING = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


def interruptible(work: Callable[[], _T], con: Any) -> _T:
    """Run a query so that Ctrl-C ends it at once, as a KeyboardInterrupt.

    DuckDB looks at signals only between its own steps, which may be minutes apart; so the query
    runs in a thread while this one waits, and is told to stop. Without a connection of our own
    to stop, it runs here and Ctrl-C waits for DuckDB.
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
    task = _Task(work)
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


class _Task(threading.Thread, Generic[_T]):
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
        return self._ended.is_set()

    def run(self) -> None:
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
        self.start()
        while not self._ended.wait(_PATIENCE):
            pass

    def cancel(self, con: Any) -> None:
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
