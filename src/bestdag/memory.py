"""How much memory there is, asked before much of it is taken."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["available_bytes", "show_bytes"]

# Control groups, version 2 and version 1: (limit, in use).
_CGROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


def available_bytes() -> float:
    """Return the bytes this process may still take, by the machine and by its container."""
    free = [_machine_bytes()]
    for limit, used in _CGROUP_FILES:
        try:
            free.append(float(Path(limit).read_text()) - float(Path(used).read_text()))
        except (OSError, ValueError):  # no such group, or "max": no limit
            continue
    return max(0.0, min(free))


def show_bytes(n: float) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> show_bytes(512), show_bytes(3 * 2**30)
    ('512 B', '3.0 GiB')
    """
    if n < 1024:
        return f"{n:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        n /= 1024
        if n < 1024:
            return f"{n:.1f} {unit}"
    return f"{n / 1024:.1f} TiB"


def _machine_bytes() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    pages = os.sysconf("SC_PHYS_PAGES")
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
