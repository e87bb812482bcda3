"""Waiting for a cluster: Ctrl-C and lost schedulers are answered, worker's errors are said."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, wait
from typing import TYPE_CHECKING, Any

from bestdag.errors import BestdagError, ClusterError, NotEnoughMemoryError, RowsLostError
from bestdag.progress import heed
from bestdag.wording import count_of

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["PLACED", "awaited", "is_there"]

# Seconds: between looks at time, listeners and the connection; and how long a lost connection may
# take to come back.
_LOOK, _PATIENCE = 0.02, 5.0
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
        And what else those raise who listen to native work (see `bestdag.progress.heed`).
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
        heed()
        now = time.monotonic()
        if is_there(client):
            there_at = now
            workers.look(now)
        elif now - there_at > _PATIENCE:
            raise _lost(client)
    found: list[Any] = answer.result()
    return found


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
            found = self._client.scheduler_info()["workers"]
            self._client.run_on_scheduler(_free_stranded)
        except (OSError, TimeoutError):  # whether it is gone, others find out
            return
        if any(worker["status"] == "running" for worker in found.values()):
            self._well_at = now
        elif now - self._well_at > _PATIENCE_WITH_WORKERS:
            raise _starved(len(found), now - self._well_at)


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
