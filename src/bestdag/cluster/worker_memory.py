"""The memory that a task may take on its worker: what Dask would not end the worker for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bestdag.machine import memory_limit

__all__ = ["within_worker_memory"]

# Of a worker's memory; at 0.8 it begins no more tasks, at 0.95 it is ended.
_SHARE = 0.8
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
    left = _SHARE * limit - worker.monitor.get_process_memory()
    sharers = 1 if is_alone else worker.state.nthreads
    with memory_limit(max(_ALWAYS, left), sharers=sharers):
        yield
