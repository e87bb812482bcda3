"""Many runs at once: processes that share the processors, the memory limit and Ctrl-C."""

from __future__ import annotations

import ctypes
import gc
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor
from concurrent.futures import wait as wait_for
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from bestdag.errors import BestdagError, InvalidParameterError
from bestdag.machine import memory_limit, thread_count
from bestdag.shipment import Shipment, is_missed
from bestdag.wording import arg

__all__ = ["run_all"]

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")
_DIE_WITH_PARENT = 1  # of Linux's prctl
_FOR_EVER = 1e6  # seconds; no system waits much longer
_BETWEEN_LOOKS = 0.5  # seconds, at whether executors may go on


def run_all(
    work: Callable[[_Item, int], _Answer],
    items: Sequence[_Item],
    *,
    threads: int | None,
    who: str,
    on_done: Callable[[int], None] | None = None,
    on_answer: Callable[[int, _Answer], None] | None = None,
    may_begin: Callable[[], bool] | None = None,
    end: float = math.inf,
    apart: bool = False,
    executor: Executor | None = None,
) -> list[_Answer]:
    """Return work(item, threads) for every item, in their order, on all processors.

    Parameters
    ----------
    work : callable
        Takes an item and the number of threads it may use itself; what it returns, which must be
        possible to pickle, must not depend on the latter, nor on what runs beside it.
    items : sequence
    threads : int or None
        For all of them together; one per processor unless given.
    who : str
        Whom errors name.
    on_done : callable, optional
        Called here with the numbers of items as they are done, in any order.
    on_answer : callable, optional
        Called here with the number of an item and its answer as soon as that is known.
    may_begin : callable, optional
        Asked here before each item; once it says no, no other item is begun, and the answers are
        those of the items that were.
    end : float, default infinity
        A time of ``time.monotonic()`` at which all work stops: items that are not done by then are
        dropped, and the answers are those of the others. Where items come one after another in
        this process, or run elsewhere, one that has begun cannot be stopped: here it ends, there
        nobody waits for it.
    apart : bool, default False
        Work in other processes where they can be had, even if there is only one: Ctrl-C and `end`
        then stop what answers them in ways of its own.
    executor : concurrent.futures.Executor, optional
        Who works, instead of processes of this machine: a pool of processes, Dask's
        ``client.get_executor()``, MPI's. Work, items and answers must then be possible to pickle;
        each item has `threads` threads, one unless given. Work reaches each worker of this
        machine once, see `bestdag.shipment`.

    Notes
    -----
    Under Linux each thread's share is a process that begins as a copy of this one: it has the data
    at once, and Python code runs at once too. Elsewhere such copies are not safe, and items come
    one after another, each with all threads; so it is outside the main thread. The first failure,
    or Ctrl-C, ends all of them before it is raised. The memory limit is divided between those that
    run at once.

    Examples
    --------
    >>> run_all(lambda item, threads: item * item, [3, 1, 2], threads=2, who="doctest")
    [9, 1, 4]
    """
    if executor is not None:
        given = _Given(work, 1 if threads is None else thread_count(threads, who=who))
        return _run_by(executor, given, items, who, on_done, on_answer, _Gate(may_begin, end))
    n_threads = thread_count(threads, who=who)
    n_workers = min(n_threads, len(items))
    gate = _Gate(may_begin, end)
    if (n_workers > 1 or (n_workers == 1 and apart)) and _can_copy():
        own = n_threads // n_workers
        with memory_limit(None, sharers=n_workers):
            crew = _Crew(lambda number: work(items[number], own), len(items), who)
            try:
                if crew.begin(n_workers):
                    return crew.run(on_done, on_answer, gate)
            finally:
                crew.end()
    answers = []
    for number, item in enumerate(items):
        if not gate.is_open():
            break
        answers.append(work(item, n_threads))
        if on_answer is not None:
            on_answer(number, answers[-1])
        if on_done is not None:
            on_done(number)
    return answers


@dataclass(frozen=True, slots=True)
class _Gate:
    """Whether items may begin, and how long there is to wait for those that have."""

    may_begin: Callable[[], bool] | None
    end: float

    def is_open(self) -> bool:
        return self.left() != 0 and (self.may_begin is None or self.may_begin())

    def left(self) -> float | None:
        seconds = self.end - time.monotonic()
        return None if seconds > _FOR_EVER else max(0.0, seconds)


@dataclass(frozen=True, slots=True)
class _Given(Generic[_Item, _Answer]):
    """Work as an executor gets it."""

    work: Callable[[_Item, int], _Answer]
    threads: int

    def __call__(self, item: _Item) -> bytes:
        return _tried(lambda _: self.work(item, self.threads), 0)


def _run_by(
    executor: Executor,
    work: _Given[_Item, _Answer],
    items: Sequence[_Item],
    who: str,
    on_done: Callable[[int], None] | None,
    on_answer: Callable[[int, _Answer], None] | None,
    gate: _Gate,
) -> list[_Answer]:
    if not callable(getattr(executor, "submit", None)):
        raise InvalidParameterError(
            f"{who}: executor must be an Executor of concurrent.futures, got {executor!r:.60}"
        )
    waiting: dict[Any, int] = {}
    answers: dict[int, _Answer] = {}
    shipment = _sendable(work, who)
    try:
        for number, item in enumerate(items):
            waiting[executor.submit(shipment.parcel, item)] = number
        while waiting:
            if not gate.is_open():
                waiting = {future: n for future, n in waiting.items() if not future.cancel()}
            left = gate.left()
            looks = None if gate.may_begin is None else _BETWEEN_LOOKS
            seconds = min((s for s in (left, looks) if s is not None), default=None)
            done = wait_for(waiting, seconds, FIRST_COMPLETED).done
            if not done and left == 0:
                break
            for future in sorted(done, key=waiting.__getitem__):
                number = waiting.pop(future)
                result = _result(future, who)
                if is_missed(result):  # by a worker of another machine
                    waiting[executor.submit(shipment.whole(), items[number])] = number
                    continue
                answers[number] = _answer(result)
                if on_answer is not None:
                    on_answer(number, answers[number])
                if on_done is not None:
                    on_done(number)
    finally:
        for future in waiting:  # after a failure, or Ctrl-C; what runs already runs to its end
            future.cancel()
        shipment.close()
    return [answers[number] for number in sorted(answers)]


def _sendable(work: Any, who: str) -> Shipment:
    """Pack work for others; refuse what cannot be sent before some of it is done."""
    try:
        return Shipment(work)
    except BestdagError:
        raise
    except Exception as error:
        raise InvalidParameterError(
            f"{who}: what executor gets must be possible to pickle, and is not ({error}); use a "
            "score, search and estimator whose classes are in a module"
        ) from None


def _result(future: Any, who: str) -> bytes:
    try:
        found: bytes = future.result()
    except BrokenExecutor:
        what = f"{who}: a worker of the executor was ended, perhaps because memory ran out"
        raise BestdagError(f"{what}; use fewer workers") from None
    return found


def _answer(sent: bytes) -> Any:
    done = pickle.loads(sent)
    assert isinstance(done, _Done)
    for warned in done.warned:
        warnings.warn_explicit(warned[0], None, *warned[1:])
    if done.failure is not None:
        raise done.failure
    return done.answer


def _can_copy() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return sys.platform == "linux" and is_main and not multiprocessing.current_process().daemon


@dataclass(frozen=True, slots=True)
class _Done:
    """What a process says of one item."""

    answer: Any
    failure: BaseException | None
    warned: list[tuple[Warning, str, int]]


class _Crew(Generic[_Answer]):
    """Processes that are each given an item whenever they have none."""

    def __init__(self, work: Callable[[int], _Answer], n_items: int, who: str) -> None:
        self._work = work
        self._n_items = n_items
        self._who = who
        self._processes: list[Any] = []
        self._lines: list[Connection] = []

    def begin(self, n_workers: int) -> bool:
        """Start processes; False when the system has none to give."""
        context = multiprocessing.get_context("fork")
        for _ in range(n_workers):
            try:
                here, there = context.Pipe()
                self._lines.append(here)
                process = context.Process(
                    target=_work_on, args=(self._work, there, os.getpid()), daemon=True
                )
                self._processes.append(process)
                with warnings.catch_warnings():
                    # Other threads are not copied; kernels have none between calls.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
                there.close()
            except OSError:
                return False
        return True

    def run(
        self,
        on_done: Callable[[int], None] | None,
        on_answer: Callable[[int, _Answer], None] | None,
        gate: _Gate,
    ) -> list[_Answer]:
        answers: dict[int, _Answer] = {}
        busy: dict[Any, int] = {}
        waiting = takewhile(lambda _: gate.is_open(), range(self._n_items))
        for first in self._lines:
            self._give(first, next(waiting, None), busy)
        while busy:
            heard = wait(list(busy), gate.left())
            if not heard:  # the time is over: what they do is dropped
                break
            for line in list(heard):
                number = busy.pop(line)
                answers[number] = _answer(self._heard(line))
                self._give(line, next(waiting, None), busy)
                if on_answer is not None:
                    on_answer(number, answers[number])
                if on_done is not None:
                    on_done(number)
        return [answers[number] for number in sorted(answers)]

    def _give(self, line: Any, number: int | None, busy: dict[Any, int]) -> None:
        if number is None:
            return
        with suppress(BrokenPipeError):  # it is heard of when its answer is read
            line.send(number)
        busy[line] = number

    def _heard(self, line: Any) -> bytes:
        try:
            sent: bytes = line.recv_bytes()
        except (EOFError, ConnectionError):
            raise BestdagError(
                f"{self._who}: one of the processes was ended, perhaps because memory ran out; use "
                f"a smaller {arg('threads')}"
            ) from None
        return sent

    def end(self) -> None:
        """Let no process be left, however often Ctrl-C comes."""
        stopped: BaseException | None = None
        while self._processes:
            try:
                process = self._processes[-1]
                if process.pid is not None:
                    process.kill()
                    process.join()
                self._processes.remove(process)
            except BaseException as error:
                stopped = error
        for line in self._lines:
            line.close()
        if stopped is not None:
            raise stopped


def _work_on(work: Callable[[int], Any], line: Connection, parent: int) -> None:
    """Answer for items until no more come; signals are the first process's to answer."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before that
        os._exit(1)
    gc.freeze()  # what the first process has is not looked through, nor copied by that
    with suppress(EOFError):
        while True:
            line.send_bytes(_tried(work, line.recv()))


def _tried(work: Callable[[int], Any], number: int) -> bytes:
    with warnings.catch_warnings(record=True) as caught:
        try:
            done = _Done(work(number), None, _told(caught))
            return pickle.dumps(done)
        except BaseException as error:
            return pickle.dumps(_Done(None, _that_travels(error), _told(caught)))


def _told(caught: Sequence[warnings.WarningMessage]) -> list[tuple[Warning, str, int]]:
    return [(one.message, one.filename, one.lineno) for one in caught]  # type: ignore[misc]


def _that_travels(error: BaseException) -> BaseException:
    """Return the error, or one with its text where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
