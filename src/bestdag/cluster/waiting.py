"""Waiting for a cluster: Ctrl-C and lost schedulers are answered, worker's errors are said."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bestdag.errors import BestdagError, ClusterError, NotEnoughMemoryError, RowsLostError
from bestdag.progress import heed

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["awaited", "is_there"]

# Seconds: between looks at what is asked for, and at time, listeners and the connection; and how
# long a lost connection may take to come back.
_NAP, _LOOK, _PATIENCE = 0.001, 0.02, 5.0


def awaited(client: Client, ask: Callable[[], list[Future]], what: str) -> list[Any]:
    """Return what the futures that `ask` makes will be.

    Raises
    ------
    RowsLostError
        When the scheduler is gone.
    NotEnoughMemoryError
        When workers die of what they are given.
    OutOfTimeError
        And what else those raise who listen to native work (see `bestdag.progress.heed`).
    """
    import asyncio
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    if client.status == "closed":
        raise ClusterError("cluster: the client of the rows is closed; keep it open while in use")
    futures: list[Future] = []
    try:
        futures = ask()
        _wait_for(client, futures)
        found: list[Any] = client.gather(futures)
        return found
    except KilledWorker as error:
        raise NotEnoughMemoryError(
            f"cluster: workers died again and again over {what}, probably for want of memory "
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


def _wait_for(client: Client, futures: Sequence[Future]) -> None:
    begun = there_at = look_at = now = time.monotonic()
    while not all(future.done() for future in futures):
        time.sleep(min(_LOOK, max(_NAP, (now - begun) / 20)))  # a twentieth more at the most
        now = time.monotonic()
        if now < look_at:
            continue
        look_at = now + _LOOK
        heed()
        if is_there(client):
            there_at = now
        elif now - there_at > _PATIENCE:
            raise _lost(client)


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
