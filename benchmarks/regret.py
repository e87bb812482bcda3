"""Nanoseconds per value of the regret, by number of rows and of states.

Run: python benchmarks/regret.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bestdag.special import regret, szpankowski_regret

ROWS = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
STATES = (2, 3, 5, 10, 30, 100, 512, 513, 1e6, 1e10, 1e20)


def nanoseconds(function: Callable[..., npt.NDArray[np.float64]], n: int, r: float) -> float:
    """Best of five, over values of n that differ."""
    rows = np.arange(n, n + 2_000)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        function(rows, r)
        best = min(best, time.perf_counter() - start)
    return best / rows.size * 1e9


def main() -> None:
    for function in (regret, szpankowski_regret):
        print(f"\n{function.__name__}: ns per value")
        print(f"{'r':>10}" + "".join(f"{f'n={n:.0e}':>10}" for n in ROWS))
        for r in STATES:
            print(f"{r:>10.4g}" + "".join(f"{nanoseconds(function, n, r):>10.0f}" for n in ROWS))


if __name__ == "__main__":
    main()
