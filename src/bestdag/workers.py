"""Many runs at once, in processes that share the processors, the memory limit and Ctrl-C.

They are copies of this process, or the workers of an executor. Work holds the rows, and an executor
sends with each item all that it is given: work that is large is therefore put into a file without a
name, which ends with the process, and what travels with an item says where that file is
(`_Broadcast`). A worker of this machine reads it for its first item; one elsewhere says that it
cannot, and gets the work itself.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
)
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bestdag import _core
from bestdag.errors import BestdagError, InvalidParameterError, bad_setting, require_count
from bestdag.machine import memory_limit, thread_count
from bestdag.progress import unwatched
from bestdag.wording import arg

__all__ = ["Workers", "resolve_workers", "run_all"]

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")
_DIE_WITH_PARENT = 1  # of Linux's prctl
_LARGE = 1 << 16  # bytes: less is sent with each item
_MISSED = b""  # what a worker answers that has no such work


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Who works, as the argument `workers` says it.

    Attributes
    ----------
    threads : int or None
        Of this machine; None is one per processor, and with an executor one for each task.
    executor : concurrent.futures.Executor or None
        Runs elsewhere what can be done in parallel.
    cluster : distributed.Client, str or None
        Holds the rows and counts: the client, the address of its scheduler, or "local".
    """

    threads: int | None = None
    executor: Executor | None = None
    cluster: Any = None


def resolve_workers(who: str, workers: Any, *, holds_rows: bool = False) -> Workers:
    """Say what the argument `workers` means; a cluster only where it can hold the rows.

    Examples
    --------
    >>> resolve_workers("learn", 4)
    Workers(threads=4, executor=None, cluster=None)
    """
    if isinstance(workers, Workers):
        resolved = workers
    elif workers is None:
        resolved = Workers()
    elif isinstance(workers, int):
        resolved = Workers(threads=require_count(who, "workers", workers, minimum=1))
    elif callable(getattr(workers, "scheduler_info", None)) or isinstance(workers, str):
        resolved = Workers(cluster=workers)
    elif callable(getattr(workers, "submit", None)):
        resolved = Workers(executor=workers)
    else:
        what = "a number, an Executor of concurrent.futures"
        what += ", a Dask client or an address" if holds_rows else ""
        raise bad_setting(who, "workers", what, workers)
    if resolved.cluster is not None and not holds_rows:
        raise InvalidParameterError(
            f"{who}: a cluster cannot hold the rows here, got {workers!r:.60}; give the executor "
            "of a Dask client, client.get_executor(), or a number of threads"
        )
    return resolved


def run_all(
    work: Callable[[_Item, int], _Answer],
    items: Sequence[_Item],
    *,
    threads: int | None,
    who: str,
    on_done: Callable[[int], None] | None = None,
    on_answer: Callable[[int, _Answer], None] | None = None,
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
    executor : concurrent.futures.Executor, optional
        Who works, instead of processes of this machine: a pool of processes, Dask's
        ``client.get_executor()``, MPI's. Work, items and answers must then be possible to pickle;
        each item has `threads` threads, one unless given.

    Notes
    -----
    Under Linux each thread's share is a process that begins as a copy of this one: it has the data
    at once, and Python code runs at once too. Elsewhere such copies are not safe, and items come
    one after another, each with all threads; so it is outside the main thread. The first failure,
    or Ctrl-C, ends all of them before it is raised. The memory limit is divided between those that
    run at once. docs/decisions/0051 has what joblib and loky do instead.

    Examples
    --------
    >>> run_all(lambda item, threads: item * item, [3, 1, 2], threads=2, who="doctest")
    [9, 1, 4]
    """

    def take(number: int, answer: _Answer) -> None:
        if on_answer is not None:
            on_answer(number, answer)
        if on_done is not None:
            on_done(number)

    n_threads = thread_count(threads, who=who)
    if executor is not None:
        if not callable(getattr(executor, "submit", None)):
            raise InvalidParameterError(
                f"{who}: workers must be an Executor of concurrent.futures, got {executor!r:.60}"
            )
        with _broadcast(_Task(work, 1 if threads is None else n_threads), who) as shared:
            return _gathered(executor, shared, items, who, take)
    n_workers = min(n_threads, len(items))
    if n_workers > 1 and _can_copy():
        task = _Task(lambda number, own: work(items[number], own), n_threads // n_workers)
        with memory_limit(None, sharers=n_workers), _copies(n_workers, task) as pool:
            if pool is not None:
                return _gathered(pool, _Inherited(), range(len(items)), who, take)
    answers = []
    for number, item in enumerate(items):
        with unwatched():
            answers.append(work(item, n_threads))
        take(number, answers[-1])
    return answers


def _gathered(
    executor: Executor,
    shared: _Inherited | _Broadcast,
    items: Sequence[_Item],
    who: str,
    take: Callable[[int, Any], None],
) -> list[Any]:
    """Give all items to an executor and take their answers as they come."""
    waiting: dict[Future[bytes], int] = {}
    answers: dict[int, Any] = {}
    try:
        for number, item in enumerate(items):
            waiting[executor.submit(shared, item)] = number
        while waiting:
            done = wait_for(waiting, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=waiting.__getitem__):
                number = waiting.pop(future)
                sent = future.result()
                if sent == _MISSED and isinstance(shared, _Broadcast):  # on another machine
                    waiting[executor.submit(shared.whole(), items[number])] = number
                    continue
                answers[number] = _unpacked(sent)
                take(number, answers[number])
    except BrokenExecutor:
        if isinstance(shared, _Broadcast):
            what = f"{who}: a worker of the executor was ended, perhaps because memory ran out"
            raise BestdagError(f"{what}; use fewer workers") from None
        what = f"{who}: one of the processes was ended, perhaps because memory ran out"
        raise BestdagError(f"{what}; use fewer {arg('workers')}") from None
    finally:
        # After a failure, or Ctrl-C; what runs already runs to its end. Copies are killed instead:
        # a pool whose processes die must not find a future cancelled (a bug before Python 3.12).
        for future in waiting if isinstance(shared, _Broadcast) else ():
            future.cancel()
    return [answers[number] for number in range(len(items))]


# What is done with an item, wherever that is.


@dataclass(frozen=True, slots=True)
class _Done:
    """What a worker says of one item."""

    answer: Any
    failure: BaseException | None
    warned: list[tuple[Warning, str, int]]


@dataclass(frozen=True, slots=True)
class _Task:
    """Work with its threads, whose answers can be sent."""

    work: Callable[[Any, int], Any]
    threads: int

    def __call__(self, item: Any) -> bytes:
        with warnings.catch_warnings(record=True) as caught, unwatched():
            failure, packed = None, b""
            try:
                answer = self.work(item, self.threads)
                warned = [(one.message, one.filename, one.lineno) for one in caught]
                packed = pickle.dumps(_Done(answer, None, warned))  # type: ignore[arg-type]
            except BaseException as error:
                failure = _that_travels(error)
                warned = [(one.message, one.filename, one.lineno) for one in caught]
        if failure is not None:
            packed = pickle.dumps(_Done(None, failure, warned))  # type: ignore[arg-type]
        return packed


def _that_travels(error: BaseException) -> BaseException:
    """Return the error, or one with its text where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _unpacked(sent: bytes) -> Any:
    done = pickle.loads(sent)
    assert isinstance(done, _Done)
    for message, path, line in done.warned:
        warnings.warn_explicit(message, None, path, line)
    if done.failure is not None:
        raise done.failure
    return done.answer


# Copies of this process.

# Of a copy: what it was made for.
_inherited: _Task | None = None


class _Inherited:
    """What travels with an item to a copy, which has the work already."""

    def __call__(self, number: Any) -> bytes:
        assert _inherited is not None
        return _inherited(number)


def _can_copy() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    is_copy = _inherited is not None or multiprocessing.current_process().daemon
    return sys.platform == "linux" and is_main and not is_copy


@contextmanager
def _copies(n_workers: int, task: _Task) -> Iterator[Executor | None]:
    """Give a pool of copies, of which none is left afterwards; None when there are none to have."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        n_workers, multiprocessing.get_context("fork"), _begin_copy, (task, os.getpid())
    )
    try:
        with warnings.catch_warnings():
            # Other threads are not copied; kernels have none between calls.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                pool.submit(int)  # which makes all copies
            except OSError:
                yield None
                return
        yield pool
    finally:
        signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # they wait for the end of this
        try:
            for process in set(multiprocessing.active_children()) - before:
                process.kill()
            pool.shutdown()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)


def _begin_copy(task: _Task, parent: int) -> None:
    """Leave signals to the first process, and end with it."""
    global _inherited
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before that
        os._exit(1)
    _inherited = task
    _core.set_listener(None)
    gc.freeze()  # what the first process has is not looked through, nor copied by that


# Work that reaches each worker of an executor once.

# What this process has sent; copies of it have that, too, and so have its threads.
_OWN: dict[bytes, _Task] = {}
# What a thread of a worker has worked on last: tasks that run at once share nothing.
_LAST = threading.local()


@dataclass(frozen=True, slots=True)
class _Broadcast:
    """What travels with an item: what to do with it, or the file where that is to be had."""

    digest: bytes
    path: str | None = None
    packed: bytes | None = None

    def __call__(self, item: Any) -> bytes:
        """Work on an item, or say that the work is not here."""
        task = self._task()
        return _MISSED if task is None else task(item)

    def whole(self) -> _Broadcast:
        """Return the same for a worker that cannot read the file."""
        return replace(self, packed=pickle.dumps(_OWN[self.digest]))

    def _task(self) -> _Task | None:
        if (own := _OWN.get(self.digest)) is not None:
            return own
        if getattr(_LAST, "digest", None) != self.digest:
            packed = self._read() if self.packed is None else self.packed
            if packed is None:
                return None
            _LAST.task, _LAST.digest = None, None  # two at once would take twice the memory
            _LAST.task, _LAST.digest = pickle.loads(packed), self.digest
        task: _Task = _LAST.task
        return task

    def _read(self) -> bytes | None:
        try:
            with open(self.path or "", "rb") as file:
                packed = file.read()
        except OSError:
            return None
        return packed if _digest(packed) == self.digest else None


@contextmanager
def _broadcast(task: _Task, who: str) -> Iterator[_Broadcast]:
    """Pack work for other processes; its file is gone afterwards, when they have read it.

    What cannot be sent is refused before some of it is done.
    """
    try:
        packed = pickle.dumps(task)
    except BestdagError:
        raise
    except Exception as error:
        raise InvalidParameterError(
            f"{who}: what an executor gets must be possible to pickle, and is not ({error}); use a "
            "score, search and estimator whose classes are in a module"
        ) from None
    digest = _digest(packed)
    _OWN[digest] = task
    file: Any = None
    try:
        shared = _Broadcast(digest, packed=packed)
        if len(packed) >= _LARGE:
            try:
                file, path = _unnamed_file()
                file.write(packed)
                file.flush()
                shared = _Broadcast(digest, path)
            except OSError:  # no room for it: it is sent with each item
                pass
        yield shared
    finally:
        del _OWN[digest]
        if file is not None:
            file.close()


def _unnamed_file() -> tuple[Any, str]:
    if sys.platform == "linux":
        file: Any = tempfile.TemporaryFile()  # noqa: SIM115
        path = f"/proc/{os.getpid()}/fd/{file.fileno()}"
    else:
        file = tempfile.NamedTemporaryFile()  # noqa: SIM115
        path = file.name
    return file, path


def _digest(packed: bytes) -> bytes:
    return hashlib.blake2b(packed, digest_size=32).digest()
