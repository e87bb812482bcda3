"""What this machine offers to this process: processors and memory."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field

from bestdag.errors import NotEnoughMemoryError, bad_setting, require_count, require_positive
from bestdag.wording import arg, by_reader

__all__ = [
    "MemoryLimit",
    "address_space_left",
    "available_memory",
    "do_without",
    "has_memory",
    "memory_left",
    "memory_limit",
    "peak_memory",
    "readable_size",
    "require_memory",
    "require_row_memory",
    "settled_memory",
    "size_in_bytes",
    "thread_count",
]

# Of what is available; the rest is left to the system and to what a forecast does not see.
_SHARE_OF_MEMORY = 0.8
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)
_PREFIXES = " kmgtp"


@dataclass(frozen=True, slots=True, eq=False)
class MemoryLimit:
    """So many bytes more than the process had when the limit was set.

    Attributes
    ----------
    n_bytes : float
        Infinite where nobody knows what is free.
    n_before : int
        What the process had.
    is_stated : bool
        Whether somebody asked for it; otherwise it is a share of what was free.
    sharers : int
        So many threads take of it at once: what is left is divided between them.
    shortages : dict
        By kind of work, what was done with less, or not at all, for want of memory.
    """

    n_bytes: float
    n_before: int
    is_stated: bool
    sharers: int = 1
    shortages: dict[str, str] = field(default_factory=dict)

    @property
    def left(self) -> float:
        """Bytes that may still be taken."""
        return self.left_beside(resident_memory())

    def left_beside(self, n_resident: int) -> float:
        """Bytes that may still be taken while the process has so many."""
        return max(0.0, (self.n_bytes - max(0, n_resident - self.n_before)) / self.sharers)

    def __str__(self) -> str:
        size = readable_size(self.n_bytes)
        return (
            f"the memory limit of {size}" if self.is_stated else f"{size}, a share of what is free"
        )


_limits: ContextVar[tuple[MemoryLimit, ...]] = ContextVar("memory limits", default=())


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
    sizes = (free_memory(), room_in_control_group(), address_space_left())
    return min([size for size in sizes if size is not None], default=None)


@contextmanager
def memory_limit(limit: float | str | None, *, sharers: int = 1) -> Iterator[MemoryLimit]:
    """Let everything within take no more memory than this, beyond what the process has already.

    Parameters
    ----------
    limit : float or str or None
        Bytes, or a text such as "2 GB" or "500 MiB"; None means four fifths of what is free
        now. A limit within another does not raise it.
    sharers : int, default 1
        So many threads will work within it at once.

    Notes
    -----
    What the process has taken since then is looked up whenever memory is about to be needed: what
    does not fit into the rest is done with less, or refused before it is begun. The limit holds
    in the thread that sets it, and where its context is taken along.

    Examples
    --------
    >>> with memory_limit("2 GB"):
    ...     0 < memory_left() <= 2e9
    True
    """
    if limit is None:
        free = available_memory()
        n_bytes = math.inf if free is None else _SHARE_OF_MEMORY * free
    else:
        n_bytes = size_in_bytes(limit)
    outer = _limits.get()
    if sharers > 1 and outer:
        n_bytes = min(n_bytes, outer[-1].left)
    new = MemoryLimit(n_bytes, resident_memory(), limit is not None, sharers)
    if limit is None and sharers == 1 and outer and outer[-1].left <= new.n_bytes:
        yield outer[-1]
        return
    token = _limits.set((*outer, new))
    try:
        yield new
    finally:
        _limits.reset(token)


def memory_left() -> float:
    """Bytes that may still be taken: of the limit, and four fifths of what is free now."""
    free = available_memory()
    left = math.inf if free is None else _SHARE_OF_MEMORY * free
    limits = _limits.get()
    n_resident = resident_memory() if limits else 0
    for limit in limits:
        left = min(left, limit.left_beside(n_resident))
    return max(0.0, left)


def settled_memory() -> float:
    """Bytes that do not depend on the moment: the limit that was stated, or four fifths of all.

    For choices that decide what the answer is.
    """
    stated = (limit.n_bytes for limit in _limits.get() if limit.is_stated)
    sizes = (physical_memory(), limit_of_control_group())
    known = (_SHARE_OF_MEMORY * size for size in sizes if size is not None)
    return min((*stated, *known), default=math.inf)


def has_memory(kind: str, what: str, n_bytes: float) -> bool:
    """Whether so much may be taken; if not, what is done without it is remembered by the limit."""
    if n_bytes <= memory_left():
        return True
    do_without(kind, f"{what} needs {readable_size(n_bytes)}")
    return False


def do_without(kind: str, what: str) -> None:
    """Remember what was done with less memory than it could use."""
    for limit in _limits.get():
        limit.shortages[kind] = what


def require_memory(who: str, what: str, n_bytes: float, remedy: str) -> None:
    """Refuse work whose forecast exceeds what may be taken."""
    if n_bytes <= memory_left():
        return
    stated = min(
        (limit for limit in _limits.get() if limit.is_stated),
        key=lambda limit: limit.left,
        default=None,
    )
    if stated is not None and n_bytes > stated.left:
        room = f"{stated} leaves {readable_size(stated.left)}"
    else:
        room = f"{readable_size(available_memory() or 0)} are available"
    raise NotEnoughMemoryError(f"{who}: {what} needs {readable_size(n_bytes)}, {room}; {remedy}")


def require_row_memory(who: str, what: str, n_rows: int, each: float) -> None:
    """Refuse work on single rows that takes so many bytes for each, where these are too many."""
    require_memory(
        who,
        f"{what} {n_rows:,} rows",
        float(n_rows) * each,
        f"raise {by_reader('the memory limit', '--memory-limit')}, or combine identical rows with "
        f"{arg('collapse', True)}",
    )


# So few bytes are never meant: nothing fits into them.
_LEAST_WITHOUT_UNIT = 1000


def size_in_bytes(size: float | str) -> float:
    """Return a number of bytes, given as such or as a text.

    Examples
    --------
    >>> size_in_bytes("2 GB"), size_in_bytes("1.5MiB"), size_in_bytes(4096)
    (2000000000.0, 1572864.0, 4096.0)
    """
    if not isinstance(size, str):
        return float(require_positive("memory", "memory_limit", size))
    parts = _SIZE.fullmatch(size.strip())
    if parts is None or float(parts[1]) == 0 or (parts[3] and not parts[2]):
        needed = "a number of bytes > 0, or a text such as '2 GB'"
        raise bad_setting("memory", "memory_limit", needed, size)
    has_unit = bool(parts[2]) or size.strip().lower().endswith("b")
    if not has_unit and float(parts[1]) < _LEAST_WITHOUT_UNIT:
        needed = f"a size with its unit, such as {parts[1]}GB or {parts[1]}MB (bytes without one)"
        raise bad_setting("memory", "memory_limit", needed, size)
    power = _PREFIXES.index((parts[2] or " ").lower())
    return float(parts[1]) * float(1024 if parts[3] else 1000) ** power


def readable_size(n_bytes: float) -> str:
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
    return f"{size:.1f} PiB" if size < 1024 else f"{size:.1e} PiB"


def address_space_left() -> int | None:
    """Bytes of addresses that may still be mapped, where that is limited (``ulimit -v``)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        n_pages = int(_system_file("/proc/self/statm").split()[0])
        return max(0, most - n_pages * resource.getpagesize())
    except (ImportError, OSError, ValueError):
        return None


def peak_memory() -> int | None:
    """Return the most bytes this process had whenever that was looked up; None if never."""
    resident_memory()
    return _peak or None


_peak = 0


def resident_memory() -> int:
    """Bytes of this process in memory; where nobody says, the most there ever were, or 0.

    Files that are mapped are left out: the system takes their pages back when it needs them.
    """
    global _peak
    n_bytes = 0
    try:
        _, resident, shared, *_ = _system_file("/proc/self/statm").split()
        n_bytes = (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        with suppress(ImportError):
            import resource

            n_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes, on macOS
    _peak = max(_peak, n_bytes)
    return n_bytes


def _system_file(path: str) -> str:
    """Read a small file of the system's; this is done often."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 1 << 16).decode()
    finally:
        os.close(file)


def free_memory() -> int | None:
    """Bytes that the machine says are free; where it does not, all there are."""
    try:
        for line in _system_file("/proc/meminfo").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return physical_memory()  # elsewhere


def physical_memory() -> int | None:
    """Bytes of all the memory there is."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def room_in_control_group() -> int | None:
    """Bytes a container may still use (Linux control groups, version 2)."""
    try:
        limit = limit_of_control_group()
        if limit is None:
            return None
        folder = _control_group()
        used = int(_system_file(f"{folder}/memory.current"))
        stat = dict(line.split() for line in _system_file(f"{folder}/memory.stat").splitlines())
        return max(0, limit - used + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None


def limit_of_control_group() -> int | None:
    """Bytes a container may use in all; None without a limit."""
    try:
        return int(_system_file(f"{_control_group()}/memory.max"))
    except (OSError, ValueError):  # no control group, or "max": no limit
        return None


@functools.cache
def _control_group() -> str:
    """Return the folder of the control group of this process, which it does not leave."""
    for line in _system_file("/proc/self/cgroup").splitlines():
        if line.startswith("0::"):
            return "/sys/fs/cgroup" + line.removeprefix("0::")
    raise ValueError("no control group of version 2")
