"""Chow-Liu trees and TAN from data in memory to structure, and Edmonds on dense matrices.

Data: 10,000 rows drawn from alarm (37 variables; TAN with class HYPOVOLEMIA), and the first 15,000
rows of letter (16 attributes of 16 values, 26 classes). Times that R bnlearn 4.9 took once for the
same tasks (`chow.liu`, `tree.bayes`) are printed beside ours; they are not measured here.

Run: python benchmarks/trees.py alarm.bif letter.csv.gz [--threads 2] [--repeats 30]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import bestdag as bd
from bestdag import _core

# Seconds of R bnlearn 4.9: Chow-Liu, TAN.
BNLEARN = {"alarm": (0.011, 0.012), "letter": (0.004, 0.013)}


def best_of(repeats: int, work: Callable[[], object]) -> tuple[float, float]:
    """Least seconds by the clock and of processor time."""
    clock, processor = [], []
    for _ in range(repeats):
        start, spent = time.perf_counter(), time.process_time()
        work()
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - spent)
    return min(clock), min(processor)


def compare(what: str, data: bd.Dataset, target: str, threads: int, repeats: int) -> None:
    """Time both searches with three scores."""
    attributes = data.select(columns=[name for name in data.names if name != target])
    cases = (
        ("Chow-Liu", attributes if what == "letter" else data, bd.ChowLiu()),
        ("TAN", data, bd.TAN(target=target)),
    )
    for (label, table, search), peer in zip(cases, BNLEARN[what], strict=True):
        for score in ("ll", "bdeu", "fnml"):

            def work(table=table, score=score, search=search) -> object:
                return bd.learn(table, score, search=search, workers=threads)

            clock, processor = best_of(repeats, work)
            print(
                f"{what:7} {label:9} {score:5} {1e3 * clock:7.2f} ms (processor "
                f"{1e3 * processor:6.2f} ms), bnlearn {1e3 * peer:4.0f} ms, "
                f"{peer / clock:5.1f} times faster"
            )


def edmonds(n: int) -> None:
    """Time maximum directed spanning trees of random dense graphs."""
    weights = np.random.default_rng(0).normal(size=(n, n))
    parents = np.empty(n, np.int32)
    work = {
        "Edmonds": lambda: _core.maximum_branching(weights, np.zeros(n), True, parents),
        "Prim": lambda: _core.maximum_spanning_tree(weights + weights.T, 0, parents),
    }
    for name, call in work.items():
        clock, processor = best_of(3, call)
        print(f"{name} on {n:,} nodes: {clock:.3f} s (processor {processor:.3f} s)")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("alarm")
    parser.add_argument("letter")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    rows = bd.Network.load(options.alarm).sample(10_000, seed=1)
    compare("alarm", rows, "HYPOVOLEMIA", options.threads, options.repeats)
    letter = bd.read(options.letter)
    letter = letter.select(rows=np.arange(min(15_000, letter.n_rows)))
    compare("letter", letter, "lettr", options.threads, options.repeats)
    edmonds(2000)


if __name__ == "__main__":
    main()
