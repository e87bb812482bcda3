"""The structures next to the best: seconds from the table to the list.

Run: python benchmarks/near_best.py [--data DIR] [--threads 2]

The figures that are asked for: 20 variables with at most 4 parents, k = 1,000, in less than 30 s;
alarm (37 variables) with 1,000 rows and at most 3 parents, k = 100, in minutes; classes of both,
everything within a Bayes factor, and score files. Rows are drawn with a fixed seed.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path
from typing import Any

import bestdag as bd

_FOLDER = Path(__file__).parents[2] / "shared" / "data"
# Network, rows, parents at most, what is asked for.
_CASES: list[tuple[str, int, int, bd.NearOptimal]] = [
    ("child", 1000, 4, bd.NearOptimal(k=1000)),
    ("child", 1000, 4, bd.NearOptimal(k=1000, per_class=True)),
    ("child", 200, 4, bd.NearOptimal(k=1000)),
    ("child", 1000, 4, bd.NearOptimal(within=math.log(20))),
    ("insurance", 1000, 3, bd.NearOptimal(k=1000)),
    ("alarm", 1000, 3, bd.NearOptimal(k=100)),
    ("alarm", 1000, 3, bd.NearOptimal(k=100, per_class=True)),
    ("alarm", 1000, 3, bd.NearOptimal(within=math.log(3))),
]
_FILES = ["alarm1000.BDeu.k3.jkl.gz", "insurance1000.BDeu.k3.jkl.gz"]


def measure(
    what: str, data: Any, asked: bd.NearOptimal, threads: int | None, **settings: Any
) -> None:
    """Learn, and print a line."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = bd.learn(data, near_optimal=asked, workers=threads, **settings)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert result.structures is not None
    print(f"{what:58} {wall:8.2f} {cpu:8.2f}  {result.structures.summary()}", flush=True)


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("BESTDAG_DATA", _FOLDER)))
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    print("load average", *(f"{x:.1f}" for x in os.getloadavg()))
    print(f"{'case':58} {'wall s':>8} {'cpu s':>8}  outcome")
    for name, n_rows, most, asked in _CASES:
        network = bd.Network.load(options.data / "networks" / f"{name}.bif")
        size = f"k {asked.k:,}" if asked.within is None else f"within {asked.within:.4g}"
        text = f"{size}, {'classes' if asked.per_class else 'structures'}"
        what = f"{name} {n_rows:,} rows, {most} parents, {text}"
        data = network.sample(n_rows, seed=1)
        measure(what, data, asked, options.threads, score="bdeu", max_parents=most)
    for name in _FILES:
        table = bd.ScoreTable.load(options.data / "scores" / name)
        measure(f"{name}, k 100", table, bd.NearOptimal(k=100), options.threads)


if __name__ == "__main__":
    main()
