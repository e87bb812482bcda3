"""How long native scoring takes to answer Ctrl-C.

Run: python benchmarks/interrupt.py
"""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time

import numpy as np

from bestdag import Dataset, Variable
from bestdag.counts.engine import CountingEngine
from bestdag.scores.bic import BIC
from bestdag.scores.engine import NativeScores


def delay(engine: CountingEngine, families: list[tuple[str, list[str]]]) -> float:
    """Seconds from the signal to the exception."""
    sent = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.6, interrupt).start()
    try:
        while True:
            NativeScores(engine, BIC().kernel()).families(families)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]


def main() -> None:
    rng = np.random.default_rng(0)
    for n_rows in (10_000, 10_000_000):
        variables = [Variable(f"v{i}", tuple(map(str, range(30)))) for i in range(8)]
        columns = [rng.integers(0, 30, n_rows).astype(np.uint8) for _ in variables]
        engine = CountingEngine(Dataset(variables, columns))
        child, *parents = (v.name for v in variables)
        for n_parents in (1, 7):
            n_families = max(100, 10**9 // n_rows)  # seconds of work, quickly listed
            families = [(child, parents[:n_parents])] * n_families
            seconds = [delay(engine, families) for _ in range(5)]
            print(
                f"{n_rows:>12,} rows, {n_parents} parents: "
                f"median {statistics.median(seconds):.3f} s, worst {max(seconds):.3f} s"
            )


if __name__ == "__main__":
    main()
