"""What dynamic programming takes, and how it goes about it within the memory that there is.

Flat, all 2^n values are in memory at once. In layers, those of two neighbouring sizes of blocks:
about a third of it at 34 variables, for the same time. With p ordered pairs of variables besides,
there are 2^p runs over (3/4)^p of the subsets each: less memory, and (3/2)^p of the time.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from bestdag import _core
from bestdag.machine import has_memory, memory_left, readable_size, thread_count

__all__ = ["MAX_VARIABLES", "Forecast", "Precision", "cell_bytes", "forecast", "plan_for"]

Precision = Literal["auto", "single", "double"]

MAX_VARIABLES = 40  # the native limit
_MAX_VARIABLES_DOUBLE = 16  # up to here cells of 8 bytes take half a MiB and a millisecond
_NANOSECONDS = {4: 12.0, 8: 24.0}  # per subset and thread, measured with thousands of sets


class Forecast(NamedTuple):
    """What solving takes: bytes of memory, seconds (within a factor of about two), and how.

    Attributes
    ----------
    n_pairs : int
        Pairs of variables that are ordered each way in turn, in 2^n_pairs runs.
    in_layers : bool
        Whether two layers of subsets are in memory at a time, and not all.
    """

    n_bytes: int
    seconds: float
    n_pairs: int = 0
    in_layers: bool = False

    @property
    def has_room(self) -> bool:
        """Whether the memory that may still be taken suffices."""
        return has_memory("dp", "dynamic programming", self.n_bytes)

    def __str__(self) -> str:
        how = "all subsets at once"
        if self.in_layers:
            how = "layer by layer"
        if self.n_pairs:
            how += f" with {self.n_pairs} ordered pairs, {2**self.n_pairs:,} runs"
        return f"{how}: {readable_size(self.n_bytes)}, about {_duration(self.seconds)}"


def cell_bytes(n: int, precision: Precision) -> int:
    """Bytes of one value."""
    if precision == "auto":
        return 8 if n <= _MAX_VARIABLES_DOUBLE else 4
    return 8 if precision == "double" else 4


def plan_for(
    n: int, n_sets: int, threads: int, cell: int, room: float, *, most_middle: int = 9
) -> _core.SubsetPlan:
    """Return the fastest way within so many bytes, or the smallest one there is."""
    return _core.plan_subsets(n, n_sets, threads, cell, min(room, 1e18), most_middle)


def forecast(
    n: int,
    *,
    n_sets: int = 0,
    threads: int | None = None,
    precision: Precision = "auto",
    room: float | None = None,
) -> Forecast:
    """Say what a problem of n variables that depend on each other takes.

    Parameters
    ----------
    n : int
        Number of variables.
    n_sets : int, default 0
        Number of candidate sets; they matter little.
    threads : int, optional
        One per processor unless given.
    precision : {"auto", "single", "double"}
        As in `solve_dp`.
    room : float, optional
        Bytes that may be taken; what there is unless given. With less memory than all subsets take
        it is done layer by layer, and with less than that some pairs of variables are ordered.

    Examples
    --------
    >>> flat = forecast(32, threads=1, room=2**36)
    >>> flat.n_bytes >= 2**32 * 4, flat.in_layers
    (True, False)
    >>> layers = forecast(34, threads=2, room=24e9)
    >>> layers.n_bytes < 24e9, layers.in_layers, layers.n_pairs
    (True, True, 0)
    """
    cell = cell_bytes(n, precision)
    n_threads = thread_count(threads, who="dp")
    if n > MAX_VARIABLES:
        return Forecast(cell << n, math.inf)
    plan = plan_for(n, n_sets, n_threads, cell, memory_left() if room is None else room)
    seconds = 1e-9 * _NANOSECONDS[cell] * plan.visited / n_threads
    return Forecast(int(plan.n_bytes), seconds, plan.pairs, plan.within > 0)


def _duration(seconds: float) -> str:
    """Write a time to be waited for.

    Examples
    --------
    >>> _duration(0.3), _duration(95), _duration(5000), _duration(400000)
    ('1 s', '95 s', '84 min', '112 h')
    """
    if math.isinf(seconds):
        return "for ever"
    for size, name, most in ((1, "s", 100), (60, "min", 6000)):
        if seconds <= most:
            return f"{math.ceil(seconds / size)} {name}"
    return f"{math.ceil(seconds / 3600)} h"
