"""Dynamic programming over subsets: seconds and nanoseconds per subset.

Run: python benchmarks/subset_dp.py [--variables 22 24 26 28] [--sets 20 200 3000]
     [--threads 1 2] [--precision auto single double] [--files a.jkl.gz ...]

Random tables first, for every instruction set of this processor; then score files, if any are
named, from reading to proof. A line of load averages tells whether other work disturbed it.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from bestdag import _core
from bestdag.machine import thread_count
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.dp.engine import forecast, solve_dp


def random_table(n: int, n_sets: int, seed: int = 0, max_parents: int = 5) -> ScoreTable:
    """Draw sets of one to five random parents; the empty set is the worst."""
    rng = np.random.default_rng(seed)
    children = []
    for v in range(n):
        others = np.array([u for u in range(n) if u != v])
        sets: set[tuple[int, ...]] = set()
        while len(sets) < n_sets - 1:
            size = int(rng.integers(1, max_parents + 1))
            sets.add(tuple(sorted(others[rng.permutation(n - 1)[:size]].tolist())))
        scores = np.append(-rng.uniform(0, 100, n_sets - 1), -150.0)
        children.append(ParentSets.of(scores.tolist(), [*sorted(sets), ()]))
    return ScoreTable([f"v{i}" for i in range(n)], children)


def measure(table: ScoreTable, threads: int, precision: str) -> tuple[float, float]:
    """Wall and processor seconds of one proof."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = solve_dp(table, threads=threads, precision=precision)
    assert result.is_proved
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, nargs="*", default=[22, 24, 26, 28])
    parser.add_argument("--sets", type=int, nargs="*", default=[20, 200, 3000])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, thread_count(None, who="")])
    parser.add_argument("--precision", nargs="*", default=["auto"])
    parser.add_argument("--instruction-sets", nargs="*", default=_core.instruction_sets())
    parser.add_argument("--files", nargs="*", default=[])
    options = parser.parse_args()
    print("load average", *(f"{x:.1f}" for x in os.getloadavg()))
    print(" n  sets/var  cells    set       threads  seconds  cpu s  ns/subset  forecast s")
    for n in options.variables:
        for n_sets in options.sets:
            table = random_table(n, n_sets)
            for precision in options.precision:
                for name in options.instruction_sets:
                    _core.use_instruction_set(name)
                    for threads in options.threads:
                        wall, cpu = measure(table, threads, precision)
                        seconds = forecast(n, threads=threads, precision=precision).seconds
                        print(
                            f"{n:>2}  {n_sets:>8,}  {precision:<7}  {name:<8}  {threads:>7}  "
                            f"{wall:>7.3f}  {cpu:>5.2f}  {wall * 1e9 / 2**n:>9.2f}  "
                            f"{seconds:>10.2f}",
                            flush=True,
                        )
    _core.use_instruction_set(_core.instruction_sets()[-1])
    for file in options.files:
        start = time.perf_counter()
        table = ScoreTable.load(file)
        read = time.perf_counter() - start
        wall, cpu = measure(table, max(options.threads), "auto")
        print(
            f"{os.path.basename(file):<28} {table.n_variables} variables, {table.n_sets:,} sets: "
            f"read {read:.3f} s, proof {wall:.3f} s (cpu {cpu:.2f} s)"
        )
    print("load average", *(f"{x:.1f}" for x in os.getloadavg()))


if __name__ == "__main__":
    main()
