"""What this machine offers to this process: processors and memory."""

from __future__ import annotations

import os
from pathlib import Path

from bestdag.errors import NotEnoughMemoryError, require_count

__all__ = ["SHARE_OF_MEMORY", "available_memory", "readable_size", "require_memory", "thread_count"]

# The rest is left to the system and to what a forecast does not see.
SHARE_OF_MEMORY = 0.8


def thread_count(threads: int | None, *, who: str) -> int:
    """Return the number of threads asked for; None means one per processor we may use.

    Examples
    --------
    >>> thread_count(3, who="sample")
    3
    """
    if threads is not None:
        # More threads than this only wait for each other.
        return min(require_count(who, "threads", threads, minimum=1), 1024)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int | None:
    """Bytes that can be allocated without swapping, or None where nobody says."""
    known = [size for size in (_free_memory(), _room_in_control_group()) if size is not None]
    return min(known, default=None)


def require_memory(
    who: str, what: str, n_bytes: int, remedy: str, *, option: str | None = None
) -> None:
    """Refuse work whose forecast exceeds four fifths of the memory that is available.

    `option` is the remedy in terms of options of the command line, where it differs.
    """
    free = available_memory()
    if free is not None and n_bytes > SHARE_OF_MEMORY * free:
        need = f"{who}: {what} needs {readable_size(n_bytes)}, {readable_size(free)} are available"
        raise NotEnoughMemoryError(f"{need}; {remedy}").with_option(f"{need}; {option or remedy}")


def readable_size(n_bytes: int) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> readable_size(1536), readable_size(37_000_000), readable_size(2**43)
    ('1.5 KiB', '35.3 MiB', '8.0 TiB')
    """
    size = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} PiB"


def _free_memory() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:  # elsewhere: all the memory there is
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _room_in_control_group() -> int | None:
    """Bytes a container may still use (Linux control groups, version 2)."""
    try:
        entry = next(
            line for line in Path("/proc/self/cgroup").read_text().splitlines() if line[:3] == "0::"
        )
        folder = Path("/sys/fs/cgroup" + entry[3:])
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return max(0, limit - used + int(stat.get("inactive_file", 0)))
    except (OSError, StopIteration, ValueError):  # no control group, or "max": no limit
        return None
