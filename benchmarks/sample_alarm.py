"""How fast rows are drawn from a network: seconds and draws per second, best of several runs.

python benchmarks/sample_alarm.py path/to/alarm.bif [rows]
"""

from __future__ import annotations

import sys
import time

from bestdag import Network

_REPEATS = 7


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python benchmarks/sample_alarm.py NET.bif [rows]")
    network = Network.load(sys.argv[1])
    n_rows = int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000
    n_draws = n_rows * len(network.names)
    network.sample(1)  # everything is loaded
    print(f"{network!r}, {n_rows:,} rows")
    for threads in (1, 2):
        seconds = min(_timed(network, n_rows, threads) for _ in range(_REPEATS))
        print(
            f"  {threads} thread{'s' if threads > 1 else ' '}  {seconds:.3f} s  "
            f"{n_draws / seconds / 1e6:,.0f} million draws per second  "
            f"{1e9 * seconds * threads / n_draws:.1f} ns per draw and thread"
        )


def _timed(network: Network, n_rows: int, threads: int) -> float:
    start = time.perf_counter()
    network.sample(n_rows, seed=1, threads=threads)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
