"""Independent pieces of work on all processors, with Ctrl-C answered at once."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["each_in_turn"]

_T = TypeVar("_T")


class _Stopped(Exception):  # noqa: N818 (not an error)
    """The others are no longer waited for."""


def each_in_turn(
    n: int, threads: int, work: Callable[[int, Callable[[str], None] | None], _T]
) -> list[_T]:
    """Return work(0, ...) to work(n - 1, ...), in this order.

    With one thread the work is done here, and hears Ctrl-C itself. Otherwise threads do it, and
    this one waits: on Ctrl-C, or when a piece fails, the error is raised at once, and work that is
    under way ends when it next reports its progress to the function it was given.
    """
    if threads == 1 or n < 2:
        return [work(i, None) for i in range(n)]
    done: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
    left = iter(range(n))
    lock, stopped = threading.Lock(), threading.Event()

    def report(_text: str) -> None:
        if stopped.is_set():
            raise _Stopped

    def labour() -> None:
        while not stopped.is_set():
            with lock:
                i = next(left, None)
            if i is None:
                return
            try:
                done.put((i, work(i, report), None))
            except BaseException as error:
                done.put((i, None, error))
                return

    for _ in range(min(threads, n)):
        # Memory limits are those of this thread.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(labour,), daemon=True).start()
    found: dict[int, _T] = {}
    try:
        while len(found) < n:
            i, value, error = done.get()
            if error is not None:
                raise error
            found[i] = value
    finally:
        stopped.set()
    return [found[i] for i in range(n)]
