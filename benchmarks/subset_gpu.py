"""Dynamic programming over subsets on a GPU: agreement with the processor, and the table of times.

Run: python benchmarks/subset_gpu.py [--agree 12 14 17 20 22 24 26] [--sets 10 200 3000]
     [--times 33 36 37 38] [--within 60 GB] [--no-statements]

First every problem is solved by both engines, with few and many candidate sets, with near ties,
and with statements about ancestors: structures, values and resolutions must be the same. Then the
time of a proof with its structure, by number of variables.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from bestdag.machine import readable_size, size_in_bytes
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.dp import gpu as device
from bestdag.search.exact.dp import plan
from bestdag.search.exact.dp.engine import solve_dp
from bestdag.search.exact.solver import Solver
from bestdag.search.exact.statements.search import StatementTree
from bestdag.search.exact.statements.statements import Statements
from subset_dp import random_table


def near_ties(n: int, seed: int = 0) -> ScoreTable:
    """Scores that differ by less than the units of 4 bytes, beside some that are far apart."""
    rng = np.random.default_rng(seed)
    children = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        near = [others[i] for i in rng.permutation(n - 1)[:4]]
        sets = [s for k in range(5) for s in itertools.combinations(sorted(near), k)]
        scores = [1e6 * len(s) + 1e-7 * int(rng.integers(999)) for s in sets]
        ranked = sorted(zip(scores, sets, strict=True), key=lambda pair: -pair[0])
        children.append(ParentSets.of([s for s, _ in ranked], [list(p) for _, p in ranked]))
    return ScoreTable([f"v{i}" for i in range(n)], children)


def compare(name: str, table: ScoreTable, gpu: device.Gpu) -> None:
    """Solve on both, and insist on the same answer."""
    start = time.perf_counter()
    there = solve_dp(table, gpu=gpu)
    middle = time.perf_counter()
    here = solve_dp(table)
    end = time.perf_counter()
    same = (there.chosen, there.score, there.resolution, there.status) == (
        here.chosen,
        here.score,
        here.resolution,
        here.status,
    )
    print(
        f"{name:<34} gpu {middle - start:>8.3f} s   processor {end - middle:>8.3f} s   "
        f"{'the same' if same else 'DIFFERENT'}",
        flush=True,
    )
    if not same:
        raise SystemExit(f"{there}\n{here}")


def statements(n: int) -> None:
    """Compare where statements about ancestors make cases, each of which the engine solves."""
    table = random_table(n, 60, seed=1)
    stated = Statements(n, ((0, 1), (2, 3), (4, 0)), (), ())
    scores = {
        engine: StatementTree(table, stated, Solver(engine, None, None)).run().score
        for engine in ("gpu", "dp")
    }
    same = scores["gpu"] == scores["dp"]
    print(f"{n} variables, {'statements':<20} {'the same' if same else 'DIFFERENT'}", flush=True)
    if not same:
        raise SystemExit(f"{scores}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agree", type=int, nargs="*", default=[12, 14, 17, 20, 22, 24, 26])
    parser.add_argument("--sets", type=int, nargs="*", default=[10, 200, 3000])
    parser.add_argument("--times", type=int, nargs="*", default=[33, 36, 37, 38])
    parser.add_argument("--times-sets", type=int, default=200)
    parser.add_argument("--within", help="use no more of the GPU's memory than this")
    parser.add_argument("--statements", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    start = time.perf_counter()
    gpu = device.find_gpu()
    print(
        f"{gpu.name}, {readable_size(gpu.free_bytes)} free, kernels in "
        f"{time.perf_counter() - start:.2f} s",
        flush=True,
    )
    if options.within:
        room = size_in_bytes(options.within)
        whole = device.Gpu.free_bytes
        device.Gpu.free_bytes = property(lambda self: min(room, whole.fget(self)))
    plan._MAX_VARIABLES_DOUBLE = 0  # 4 bytes from the first variable on
    device.GpuCells.few_cells = 0
    for n in options.agree:
        for n_sets in options.sets:
            if n_sets < 2 ** (n - 2):
                compare(f"{n} variables, {n_sets} sets each", random_table(n, n_sets), gpu)
        compare(f"{n} variables, near ties", near_ties(n), gpu)
    device.GpuCells.few_cells = 2**20
    if options.statements:
        statements(22)
    print("| n | ordered pairs | seconds | forecast | GPU memory |\n|---|---|---|---|---|")
    for n in options.times:
        table = random_table(n, options.times_sets)
        needed = gpu.forecast(n, table.n_sets)
        start = time.perf_counter()
        result = solve_dp(table, gpu=gpu, tell=lambda text: print(text, flush=True))
        seconds = time.perf_counter() - start
        assert result.is_proved
        print(
            f"| {n} | {needed.n_pairs} | {seconds:.1f} | {needed.seconds:.1f} | "
            f"{readable_size(needed.n_bytes)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
