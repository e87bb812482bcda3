"""Work that a worker gives up once nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bestdag import _core

__all__ = ["CalledOffError", "until_called_off"]


class CalledOffError(Exception):
    """Whoever asked for the work has cancelled it, as a time limit and Ctrl-C do."""


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
