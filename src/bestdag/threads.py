"""How many threads native work may use."""

from __future__ import annotations

import os

from bestdag.errors import require_count

__all__ = ["n_threads"]


def n_threads(threads: int | None = None) -> int:
    """Return the number of threads to use; ``None`` means every processor we may run on.

    Examples
    --------
    >>> n_threads(3)
    3
    """
    if threads is not None:
        return require_count("threads", "threads", threads, minimum=1)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
