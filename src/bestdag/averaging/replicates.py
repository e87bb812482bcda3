"""Independent pieces of work on all processors, with Ctrl-C answered at once."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from bestdag import _core

__all__ = ["each_in_turn"]

_T = TypeVar("_T")
# Seconds to wait for threads that were told to stop; what is native takes a twentieth.
_PATIENCE = 5.0


def each_in_turn(n: int, threads: int, work: Callable[[int], _T]) -> list[_T]:
    """Return work(0) to work(n - 1), in this order.

    With one thread the work is done here, and hears Ctrl-C itself. Otherwise threads do it, and
    this one waits: on Ctrl-C, or when a piece fails, the others are told to stop, and the error is
    raised when they have.
    """
    if threads == 1 or n < 2:
        return [work(i) for i in range(n)]
    done: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
    left = iter(range(n))
    lock, stop = threading.Lock(), threading.Event()
    sign = _core.StopSign()

    def labour() -> None:
        sign.heed()
        while not stop.is_set():
            with lock:
                i = next(left, None)
            if i is None:
                return
            try:
                done.put((i, work(i), None))
            except BaseException as error:
                done.put((i, None, error))
                return

    # Memory limits are those of this thread.
    workers = [
        threading.Thread(target=contextvars.copy_context().run, args=(labour,), daemon=True)
        for _ in range(min(threads, n))
    ]
    found: dict[int, _T] = {}
    try:
        for worker in workers:
            worker.start()
        while len(found) < n:
            i, value, error = done.get()
            if error is not None:
                raise error
            found[i] = value
    finally:
        stop.set()
        sign.give()
        for worker in workers:
            if worker.ident is not None:
                worker.join(_PATIENCE)
    return [found[i] for i in range(n)]
