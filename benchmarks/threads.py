"""How hill climbing, tabu and the order search use threads: seconds on the clock and of processors.

python benchmarks/threads.py path/to/alarm.bif [rows ...]

Without rows: samples of 100,000 and of 1,000,000. For each search 1, 2, 4, 8 and 16 threads, as far
as the machine has processors; scores must be equal to the last bit.
"""

from __future__ import annotations

import os
import sys
import time
from typing import NamedTuple

from bestdag import Network, learn
from bestdag.data.dataset import Dataset
from bestdag.search.hill_climb import HillClimb
from bestdag.search.order.search import OrderSearch
from bestdag.search.tabu import Tabu

_ROWS = (100_000, 1_000_000)
_THREADS = (1, 2, 4, 8, 16)
_SEARCHES = (HillClimb(), Tabu(), OrderSearch(rounds=8))
_REPEATS = 3


class Timing(NamedTuple):
    """Of the run that was shortest on the clock."""

    wall: float
    cpu: float
    score: float


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python benchmarks/threads.py NET.bif [rows ...]")
    network = Network.load(sys.argv[1])
    n_processors = len(os.sched_getaffinity(0))
    print(f"{n_processors} processors, BIC, best of {_REPEATS}: seconds on the clock (processors)")
    for n_rows in [int(text) for text in sys.argv[2:]] or _ROWS:
        data = network.sample(n_rows)
        print(f"{network!r}, {n_rows:,} rows")
        for search in _SEARCHES:
            _compare(data, search, [t for t in _THREADS if t == 1 or t <= n_processors])


def _compare(data: Dataset, search: HillClimb | Tabu | OrderSearch, threads: list[int]) -> None:
    found = {t: _timed(data, search, t) for t in threads}
    cells = [f"{t:>2}: {x.wall:7.3f} ({x.cpu:7.3f})" for t, x in found.items()]
    print(f"  {search.name:<10}  {'   '.join(cells)}", flush=True)
    if len({timing.score for timing in found.values()}) > 1:
        sys.exit(f"{search.name}: scores depend on threads: {found}")


def _timed(data: Dataset, search: HillClimb | Tabu | OrderSearch, threads: int) -> Timing:
    best = None
    for _ in range(_REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        result = learn(data, "bic", search=search, workers=threads)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        best = min(best or Timing(wall, cpu, result.score), Timing(wall, cpu, result.score))
    assert best is not None
    return best


if __name__ == "__main__":
    main()
