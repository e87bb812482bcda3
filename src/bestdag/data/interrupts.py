"""Ctrl-C while DuckDB works: the query ends at once, and nothing is left running."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["interruptible"]

_T = TypeVar("_T")
_PATIENCE = 0.05  # seconds between looks


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
        self._work = work
        self._ended = threading.Event()
        self._first = threading.Lock()  # taken by the work, or by who calls it off

    @property
    def over(self) -> bool:
        return self._ended.is_set()

    def run(self) -> None:
        if not self._first.acquire(blocking=False):
            return
        try:
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
            self._ended.set()  # it had not begun, and cannot any more
        while not self._ended.is_set():
            con.interrupt()
            self._ended.wait(_PATIENCE)


def _own(error: BaseException) -> BaseException:
    """Turn DuckDB's two ways to say that it was interrupted into Python's one."""
    says_so = isinstance(error, RuntimeError) or type(error).__name__ == "InterruptException"
    return KeyboardInterrupt() if says_so and "interrupt" in str(error).lower() else error
