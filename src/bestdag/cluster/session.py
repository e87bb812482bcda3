"""Joining a cluster, waiting for its answers, and what a task may do on its worker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestdag import _core
from bestdag.errors import (
    BestdagError,
    ClusterError,
    InvalidParameterError,
    NotEnoughMemoryError,
    RowsLostError,
    import_optional,
)
from bestdag.machine import memory_limit, thread_count
from bestdag.progress import check_interrupt
from bestdag.wording import arg, by_reader, count_of, first_names

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = [
    "PLACED",
    "CalledOffError",
    "Machine",
    "awaited",
    "is_there",
    "joined",
    "machines",
    "same_everywhere",
    "until_called_off",
    "within_worker_memory",
]

# Seconds: to reach a scheduler, and for a first worker to come.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Machine:
    """A worker: where it is, its threads, and the bytes of memory it has left, if limited."""

    address: str
    threads: int
    memory: float | None


@contextmanager
def joined(cluster: Any, *, threads: int | None = None) -> Iterator[Client]:
    """Return the client of a cluster; what was started or opened for it is closed at the end.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client, which stays open; the address of a scheduler, such as "tcp://host:8786"; or
        "local", which starts worker processes on this machine.
    threads : int, optional
        Of the workers of "local", all together; one per processor unless given.
    """
    distributed = import_optional("distributed", who="cluster", extra="cluster")
    if isinstance(cluster, distributed.Client):
        yield cluster
    elif cluster == "local":
        from distributed.deploy.utils import nprocesses_nthreads

        n_workers, each = nprocesses_nthreads(thread_count(threads, who="cluster"))
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=each, dashboard_address="127.0.0.1:0"
            ) as started,
            distributed.Client(started) as client,
        ):
            yield client
    elif isinstance(cluster, str) and "://" in cluster:
        try:
            client = distributed.Client(cluster, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"cluster: no scheduler answers at {cluster} ({type(error).__name__}); is it "
                "running, and can this machine reach it?"
            ) from None
        with client:
            yield client
    else:
        raise InvalidParameterError(
            f"{arg('workers', option='--cluster')} must be {by_reader('a client of Dask, ', '')}"
            "'local' or the address "
            f"of a scheduler, such as tcp://host:8786, got {cluster!r:.60}"
        )


def machines(client: Client) -> list[Machine]:
    """List the workers, by address; refuse workers with another version of bestdag."""
    import bestdag

    def greeting(dask_worker: Any) -> tuple[str | None, int, float | None]:
        try:  # runs there; it is sent as code, because the package may not be there
            from bestdag import __version__ as version
        except ImportError:
            version = None
        limit = dask_worker.memory_manager.memory_limit
        left = None if not limit else limit - dask_worker.monitor.get_process_memory()
        return version, dask_worker.state.nthreads, left

    replies = client.run(greeting)
    if not replies:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise ClusterError(
                f"cluster: the scheduler at {client.scheduler.address} has no workers; start some "
                "with: dask worker ADDRESS"
            ) from None
        replies = client.run(greeting)
    here = bestdag.__version__
    others = {address: has for address, (has, _, _) in replies.items() if has != here}
    if others:
        address, has = min(others.items())
        what = "does not have bestdag" if has is None else f"has bestdag {has}"
        more = "" if len(others) == 1 else f", and {len(others) - 1} more differ"
        raise ClusterError(
            f"cluster: the worker at {address} {what}, this is {here}{more}; install the same "
            "version on all machines"
        )
    return [
        Machine(address, threads, None if left is None else max(0.0, left))
        for address, (_, threads, left) in sorted(replies.items())
    ]


def same_everywhere(client: Client, source: str, look: Any, *arguments: Any) -> Any:
    """Return what every worker sees, or say which ones do not see the same.

    What `look` raises on purpose, it returns.
    """
    replies: dict[str, Any] = client.run(look, *arguments)
    failures = {a: seen for a, seen in sorted(replies.items()) if isinstance(seen, BestdagError)}
    if len(failures) == len(replies):
        raise next(iter(failures.values()))
    if failures:
        raise ClusterError(
            f"cluster: {source} must be seen by all workers, and "
            f"{_listed(failures)} of {count_of(len(replies), 'worker')} "
            f"{'does' if len(failures) == 1 else 'do'} not see it "
            f"({next(iter(failures.values()))}); put it where all machines see it, such as a "
            "shared file system"
        )
    seen = sorted(replies.items())
    others = [address for address, facts in seen if facts != seen[0][1]]
    if others:
        raise ClusterError(
            f"cluster: {source} is not the same on all workers: {seen[0][0]} and {others[0]} see "
            "other files or sizes; put it where all machines see it, such as a shared file system"
        )
    return seen[0][1]


def _listed(addresses: Sequence[str] | dict[str, Any]) -> str:
    return first_names(list(addresses))


# Seconds: between looks at time, listeners and the connection; and how long a lost connection may
# take to come back.
_LOOK, _PATIENCE_WITH_SCHEDULER = 0.02, 5.0
# Seconds: between looks at the workers, and how long all of them may be gone or at rest.
_LOOK_AT_WORKERS, _PATIENCE_WITH_WORKERS = 5.0, 60.0
# How the keys begin of tasks that have a worker of their own.
PLACED = ("rows-", "recoded-", "count-")


def awaited(client: Client, ask: Callable[[], list[Future]], what: str) -> list[Any]:
    """Return what the futures that `ask` makes will be.

    Raises
    ------
    RowsLostError
        When the scheduler is gone.
    NotEnoughMemoryError
        When workers die of what they are given, or all of them rest for want of memory.
    ClusterError
        When no worker is left, and none comes.
    OutOfTimeError
        And what else a callback raises (see `bestdag.progress.check_interrupt`).
    """
    from distributed.scheduler import KilledWorker

    if client.status == "closed":
        raise ClusterError("cluster: the client of the rows is closed; keep it open while in use")
    futures: list[Future] = []
    try:
        futures = ask()
        return _gathered(client, futures)
    except KilledWorker as error:
        raise NotEnoughMemoryError(
            f"cluster: workers kept dying over {what}, probably out of memory "
            f"(the last at {error.last_worker.address}); give them more memory, or start more of "
            "them"
        ) from None
    except (CancelledError, asyncio.CancelledError, OSError, TimeoutError) as error:
        if isinstance(error, BestdagError):  # which a worker raised
            raise
        raise _lost(client) from None
    except MemoryError as error:
        if isinstance(error, BestdagError):
            raise
        raise NotEnoughMemoryError(
            f"cluster: a worker ran out of memory over {what}; give the workers more memory, or "
            "start more of them"
        ) from None
    except BaseException:  # Ctrl-C or the time limit: what has not begun never does
        if is_there(client):
            client.cancel(futures, force=True)
        raise


def _gathered(client: Client, futures: Sequence[Future]) -> list[Any]:
    """Return what all of them are once they are done, or raise why one failed."""
    # By the client's own loop: so the wait ends with the answer, and limits hold on its way.
    answer = asyncio.run_coroutine_threadsafe(
        client.gather(list(futures), asynchronous=True), client.loop.asyncio_loop
    )
    there_at = time.monotonic()
    workers = _Watch(client, there_at)
    # Who leaves before it is there cancels the futures, and so ends it.
    while not wait([answer], timeout=_LOOK).done:
        check_interrupt()
        now = time.monotonic()
        if is_there(client):
            there_at = now
            workers.look(now)
        elif now - there_at > _PATIENCE_WITH_SCHEDULER:
            raise _lost(client)
    results: list[Any] = answer.result()
    return results


class _Watch:
    """Looks at the workers now and then: those without memory to spare begin nothing more."""

    def __init__(self, client: Client, now: float) -> None:
        self._client = client
        self._look_at = now + _LOOK_AT_WORKERS
        self._well_at = now

    def look(self, now: float) -> None:
        """Refuse to wait for workers that have long been gone or at rest."""
        if now < self._look_at:
            return
        self._look_at = now + _LOOK_AT_WORKERS
        try:
            workers = self._client.scheduler_info()["workers"]
            self._client.run_on_scheduler(_free_stranded)
        except (OSError, TimeoutError):  # whether it is gone, others find out
            return
        if any(worker["status"] == "running" for worker in workers.values()):
            self._well_at = now
        elif now - self._well_at > _PATIENCE_WITH_WORKERS:
            raise _starved(len(workers), now - self._well_at)


def _free_stranded(dask_scheduler: Any) -> None:
    """Let any worker do the tasks of one that is gone.

    They may be done by others, but Dask does not think of it again when a worker comes after all
    were gone.
    """
    keys = [task.key for task in dask_scheduler.unrunnable if task.loose_restrictions]
    keys = [
        key for key in keys if str(key[0] if isinstance(key, tuple) else key).startswith(PLACED)
    ]
    if keys and dask_scheduler.running:
        dask_scheduler.set_restrictions(dict.fromkeys(keys))
        dask_scheduler.transitions(dict.fromkeys(keys, "processing"), "bestdag-free-stranded")


def _starved(n_paused: int, seconds: float) -> ClusterError | NotEnoughMemoryError:
    if n_paused:
        return NotEnoughMemoryError(
            f"cluster: for {seconds:.0f} s {count_of(n_paused, 'worker')} had too little memory "
            "left to go on, and no other is there; give them more memory, or start more of them"
        )
    return ClusterError(
        f"cluster: no worker is left, and none came for {seconds:.0f} s; were they short of "
        "memory? start them again, with more memory or more of them"
    )


def is_there(client: Client) -> bool:
    """Whether the scheduler can be reached."""
    return bool(client.status == "running")


def _lost(client: Client) -> RowsLostError:
    return RowsLostError(
        f"cluster: the scheduler at {_address(client)} is gone, and the rows with it; start it and "
        "its workers again, and learn again"
    )


def _address(client: Client) -> str:
    scheduler = client.scheduler
    return "its address" if scheduler is None else str(scheduler.address)


class CalledOffError(Exception):
    """The task was cancelled, as a time limit and Ctrl-C do."""


@contextmanager
def until_called_off() -> Iterator[None]:
    """Let native work of the task at hand raise `CalledOffError` once the task is cancelled.

    Dask never ends a task that has begun: the next ones would wait for it.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def look() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise CalledOffError

    before = _core.set_listener(look)
    try:
        yield
    finally:
        _core.set_listener(before)


# Of a worker's memory; at 0.8 it begins no more tasks, at 0.95 it is ended.
_SHARE_OF_WORKER = 0.8
# However little is left.
_ALWAYS = 4e6


@contextmanager
def within_worker_memory(*, is_alone: bool = False) -> Iterator[None]:
    """Let what is within take no more memory than the worker has left, which its threads share."""
    from distributed import get_worker

    worker = get_worker()
    limit = worker.memory_manager.memory_limit
    if not limit:
        yield
        return
    left = _SHARE_OF_WORKER * limit - worker.monitor.get_process_memory()
    sharers = 1 if is_alone else worker.state.nthreads
    with memory_limit(max(_ALWAYS, left), sharers=sharers):
        yield
