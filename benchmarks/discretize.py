"""Time of `discretize` on a table of random numbers and of its parts on one column.

    python benchmarks/discretize.py [--rows 1000000] [--columns 10] [--classes 3]

The goal: a million rows by ten columns in memory in under 5 s.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bestdag
from bestdag.data.discretization.cuts import apply_cuts
from bestdag.data.discretization.fayyad_irani import cut_points


def timed(what: str, work: Callable[[], Any]) -> Any:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what:32} {wall:8.3f} s   {cpu:8.3f} s CPU")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--classes", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    target = rng.integers(0, args.classes, args.rows)
    # Columns from useless to telling, so that few and many cuts are found.
    table: dict[str, Any] = {
        f"x{i}": rng.normal(size=args.rows) + target * i / args.columns for i in range(args.columns)
    }
    last = table[f"x{args.columns - 1}"]
    cuts = timed("one column: cut points", lambda: cut_points(last, target, args.classes))
    timed("one column: sorting alone", lambda: np.argsort(last))
    timed("one column: codes", lambda: apply_cuts(last, cuts))
    table["target"] = target
    for method in ("fayyad_irani", "quantile", "uniform"):
        data = timed(
            f"table in memory, {method}",
            lambda m=method: bestdag.discretize(table, target="target", method=m),
        )
        print(" " * 32, [len(v.cuts) for v in data.variables if v.cuts is not None], "cuts")
    import duckdb
    import pyarrow

    arrow = pyarrow.table(table)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("parquet", "csv"):
            path = str(Path(folder) / f"table.{kind}")
            duckdb.connect().from_arrow(arrow).project("*").query("t", f"COPY t TO '{path}'")
            again = timed(kind, lambda p=path: bestdag.discretize(p, target="target"))
            print(f"{'':32} the same table: {again == bestdag.discretize(table, target='target')}")


if __name__ == "__main__":
    main()
