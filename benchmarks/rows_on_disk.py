"""Rows in mapped files against rows in memory, and against a database's own group-by.

python benchmarks/rows_on_disk.py FOLDER [--rows N] [--parents K] [--threads T]

FOLDER has networks/alarm.bif. Rows are sampled and written to a temporary folder, and scanned.
Counting is measured once the pages are warm. Processor seconds are given too, because
they suffer less from other work on the machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import duckdb
import numpy as np

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.data.sinks.disk import scan
from bestdag.machine import peak_memory
from bestdag.network.network import Network
from bestdag.scores.scorer import Scorer

_REPEATS = 5
_GROUP_BYS = 60  # families that the database counts


def mapped(data: Dataset, folder: Path) -> Dataset:
    """Return the same rows on disk."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(data.to_arrow(), folder / "rows.parquet")
    return scan(folder / "rows.parquet")


def timed(work: Callable[[], object], repeats: int = _REPEATS) -> tuple[float, float]:
    """Return wall and processor seconds, the best of some."""
    wall = cpu = float("inf")
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), time.process_time()
        work()
        wall = min(wall, time.perf_counter() - start)
        cpu = min(cpu, time.process_time() - cpu_start)
    return wall, cpu


def compare(label: str, memory: tuple[float, float], disk: tuple[float, float]) -> None:
    print(
        f"{label:<38} memory{memory[0]:>9.4f} s{memory[1]:>9.4f} s cpu   disk{disk[0]:>9.4f} s"
        f"{disk[1]:>9.4f} s cpu   ratio{disk[1] / memory[1]:>6.2f} cpu",
        flush=True,
    )


def count_families(here: Dataset, there: Dataset, threads: int) -> None:
    rng = np.random.default_rng(1)
    engines = CountingEngine(here, threads=threads), CountingEngine(there, threads=threads)
    for n_parents, n_families in [(1, 1), (3, 1), (8, 1), (1, 37), (3, 200)]:
        families = []
        for _ in range(n_families):
            child, *parents = rng.permutation(here.names)[: n_parents + 1].tolist()
            families.append((child, parents))
        label = f"{n_families} famil{'y' if n_families == 1 else 'ies'} of {n_parents} parents"
        memory, disk = (timed(partial(engine.count, families)) for engine in engines)
        compare(label, memory, disk)


def group_by(
    data: Dataset, families: Iterable[tuple[str, list[str]]], threads: int
) -> tuple[float, float]:
    """Return wall and processor seconds of a family by a database with the codes in memory."""
    connection = duckdb.connect(config={"threads": threads})
    frame = {name: data.codes(name) for name in data.names}
    connection.register("rows", frame)
    connection.execute("create table codes as select * from rows")
    start, cpu_start = time.perf_counter(), time.process_time()
    n = 0
    for child, parents in families:
        names = ", ".join(f'"{name}"' for name in [*parents, child])
        connection.execute(f"select {names}, count(*) from codes group by {names}").fetchnumpy()
        n += 1
    return (time.perf_counter() - start) / n, (time.process_time() - cpu_start) / n


def score_tables(here: Dataset, there: Dataset, most: int, threads: int) -> None:
    rng = np.random.default_rng(2)
    sampled = []
    for _ in range(_GROUP_BYS):
        child, *parents = rng.permutation(here.names)[: most + 1].tolist()
        sampled.append((child, parents))
    found = {}
    for label, data in (("memory", here), ("disk", there)):
        scorer = Scorer(data, "bdeu", threads=threads)
        start, cpu_start = time.perf_counter(), time.process_time()
        scores = scorer.all_families(most)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
        n_families = sum(map(len, scores.values()))
        found[label] = wall / n_families, cpu / n_families
        passes = "" if scorer.passes is None else f", {scorer.passes} passes"
        print(
            f"score table, at most {most} parents, {label}: {n_families:,} families in "
            f"{wall:.2f} s, {cpu:.2f} s cpu{passes}"
        )
    each = group_by(here, sampled, threads)
    print(
        f"group by of DuckDB, a family of {most} parents: {1e3 * each[0]:.2f} ms, "
        f"{1e3 * each[1]:.2f} ms cpu"
    )
    for label, (wall, cpu) in found.items():
        print(
            f"  {label}: {1e6 * wall:.1f} us a family, {each[0] / wall:,.0f} times fewer; "
            f"{1e6 * cpu:.1f} us cpu, {each[1] / cpu:,.0f} times fewer"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parents", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    here = Network.load(arguments.folder / "networks" / "alarm.bif").sample(arguments.rows, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        there = mapped(here, Path(folder))
        print(f"alarm, {here.n_rows:,} rows, {arguments.threads} threads")
        count_families(here, there, arguments.threads)
        score_tables(here, there, arguments.parents, arguments.threads)
        print(f"memory of the process at most {(peak_memory() or 0) / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
