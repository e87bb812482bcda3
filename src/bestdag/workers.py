"""Many runs at once: threads that share the processors, the memory limit and Ctrl-C."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Generic, TypeVar

from bestdag._core import StopRequest
from bestdag.machine import memory_limit, thread_count

__all__ = ["run_all"]

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")
_PATIENCE = 0.02  # seconds between looks


def run_all(
    work: Callable[[_Item, int], _Answer],
    items: Sequence[_Item],
    *,
    threads: int | None,
    who: str,
    on_done: Callable[[int], None] | None = None,
) -> list[_Answer]:
    """Return work(item, threads) for every item, in their order, on all processors.

    Parameters
    ----------
    work : callable
        Takes an item and the number of threads it may use itself; what it returns must not depend
        on the latter, nor on what runs beside it. Native kernels run at once, Python in turns.
    items : sequence
    threads : int or None
        For all of them together; one per processor unless given.
    who : str
        Whom errors name.
    on_done : callable, optional
        Called in this thread with the numbers of items as they are done, in any order.

    Notes
    -----
    The first failure, or Ctrl-C, ends all of them before it is raised. The memory limit is divided
    between those that run at once.

    Examples
    --------
    >>> run_all(lambda item, threads: item * item, [3, 1, 2], threads=2, who="doctest")
    [9, 1, 4]
    """
    n_threads = thread_count(threads, who=who)
    n_workers = max(1, min(n_threads, len(items)))
    if n_workers == 1:
        answers = []
        for number, item in enumerate(items):
            answers.append(work(item, n_threads))
            if on_done is not None:
                on_done(number)
        return answers
    with memory_limit(None, sharers=n_workers):
        crew = _Crew(work, items, n_threads // n_workers)
        crew.run(n_workers, on_done)
    return [crew.answers[number] for number in range(len(items))]


class _Crew(Generic[_Item, _Answer]):
    """Threads that take items until there are none, one fails, or they are told to stop."""

    def __init__(
        self, work: Callable[[_Item, int], _Answer], items: Sequence[_Item], threads: int
    ) -> None:
        self.answers: dict[int, _Answer] = {}
        self._work = work
        self._items = items
        self._threads = threads
        self._waiting = deque(range(len(items)))
        self._done: deque[int] = deque()
        self._failures: dict[int, BaseException] = {}
        self._request = StopRequest()
        self._is_stopped = False
        self._news = threading.Event()

    def run(self, n_workers: int, on_done: Callable[[int], None] | None) -> None:
        workers = [
            threading.Thread(
                target=copy_context().run, args=(self._take_items,), name="bestdag-run", daemon=True
            )
            for _ in range(n_workers)
        ]
        stopped: BaseException | None = None
        begun = 0
        # Ctrl-C may come at any line, and again: every thread that began must have ended.
        while begun < n_workers or any(worker.is_alive() for worker in workers):
            try:
                if stopped is not None or self._failures:
                    begun = n_workers  # whoever has not begun never will
                    self._stop(workers)
                while begun < n_workers:
                    begun += 1
                    workers[begun - 1].start()
                self._news.wait(_PATIENCE)
                self._news.clear()
                self._tell(on_done)
            except BaseException as error:
                stopped = stopped or error
        self._is_stopped = True  # also for one that began as Ctrl-C came
        if stopped is not None:
            raise stopped
        if self._failures:
            raise self._failures[min(self._failures)]
        self._tell(on_done)

    def _tell(self, on_done: Callable[[int], None] | None) -> None:
        while self._done:
            number = self._done.popleft()
            if on_done is not None:
                on_done(number)

    def _take_items(self) -> None:
        self._request.listen()
        number = -1
        try:
            while self._waiting and not self._is_stopped:
                try:
                    number = self._waiting.popleft()
                except IndexError:
                    break  # another thread was faster
                self.answers[number] = self._work(self._items[number], self._threads)
                self._done.append(number)
                self._news.set()
        except BaseException as error:
            if not self._is_stopped:
                self._failures[number] = error
        self._news.set()

    def _stop(self, workers: Sequence[threading.Thread]) -> None:
        """End native work by the request, and work in Python by an exception in its thread."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self._request.send()
        for worker in workers:
            if worker.is_alive() and worker.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(worker.ident), ctypes.py_object(KeyboardInterrupt)
                )
