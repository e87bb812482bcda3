"""What rows on a cluster cost beside rows in memory: seconds and bytes per family and pass.

    python benchmarks/cluster.py [--rows 2000000] [--columns 37] [--workers 2]

A table of random numbers is written as Parquet; workers are processes of this machine, each with
one thread, and rows in memory are counted by as many threads. The promise: a pass over many
families takes about as long as in memory, and a pass over one takes milliseconds more. What 10 and
100 machines would do is worked out from these figures in docs/howto/many-machines.md.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bestdag import learn, read
from bestdag.cluster.part import add_counts, packed
from bestdag.cluster.reading import read_on
from bestdag.counts.engine import CountingEngine


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    """Write columns of 2, 3 and 4 states, each a noisy copy of one before it."""
    import duckdb

    cells = []
    for i in range(n_columns):
        own = f"(hash(range * {n_columns} + {i}) % {2 + i % 3})"
        other = f"(hash(range * {n_columns} + {max(0, i - 1 - i % 4)}) % {2 + i % 3})"
        is_noise = f"(hash(range * {n_columns} + {i} + 17) % 4 = 0)"
        cells.append(f"CAST(CASE WHEN {is_noise} THEN {own} ELSE {other} END AS UTINYINT) AS v{i}")
    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    group = max(2048, n_rows // 16)
    query = f"SELECT {', '.join(cells)} FROM range({n_rows})"
    con.execute(f"COPY ({query}) TO '{path}' (ROW_GROUP_SIZE {group})")


def families(names: list[str], n_parents: int, n_families: int) -> list[tuple[str, list[str]]]:
    random = np.random.default_rng(n_parents)
    found = []
    for _ in range(n_families):
        child, *parents = random.choice(names, n_parents + 1, replace=False).tolist()
        found.append((child, parents))
    return found


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds: by the clock, of processors in this process, and of those of the workers."""

    clock: float
    here: float
    workers: float


def cost(client: Any, work: Any, times: int) -> Cost:
    """Return the least of several runs: what else the machine does only adds."""
    taken = []
    for _ in range(times):
        there = sum(client.run(time.process_time).values())
        here, clock = time.process_time(), time.perf_counter()
        work()
        clock, here = time.perf_counter() - clock, time.process_time() - here
        taken.append((clock, here, sum(client.run(time.process_time).values()) - there))
    return Cost(*(min(column) for column in zip(*taken, strict=True)))


def _nothing(number: int) -> int:
    return number


def _empty_tasks(client: Any) -> None:
    """Run a thousand, one by one given as counting is."""
    client.gather([client.submit(_nothing, i, pure=False) for i in range(1000)])


def compare_counting(client: Any, here: CountingEngine, there: CountingEngine, times: int) -> None:
    provider = there.provider
    names = [variable.name for variable in here.variables]
    print("                   in memory, s      on workers, s                  counts of a family")
    print("parents families   clock    cpu   clock   here    workers   bytes  us to add  to unpack")
    for n_parents, n_families in itertools.product((0, 1, 2, 3), (1, 100, 2000)):
        arrays = here.encode(families(names, n_parents, n_families))
        in_memory = cost(client, lambda a=arrays: here.observed(a), times)
        on_workers = cost(client, lambda a=arrays: there.observed(a), times)
        arities = np.array(here.arities)
        counts = packed(here.observed(arrays))
        both = [[(0, counts)]] * 2
        add = cost(client, lambda a=arrays, c=both, r=arities: add_counts(c, a, r), times)
        unpack = cost(client, lambda a=arrays, c=counts, r=arities: c.unpacked(a, r), times)
        print(
            f"{n_parents:7} {n_families:8,} {in_memory.clock:7.3f} {in_memory.here:6.3f}"
            f" {on_workers.clock:7.3f} {on_workers.here:6.3f} {on_workers.workers:10.3f}"
            f" {counts.n_bytes / n_families:7.0f} {1e6 * add.here / n_families:10.3f}"
            f" {1e6 * unpack.here / n_families:13.2f}"
        )
    assert provider is not None
    print(f"{provider.passes} passes")


def main() -> None:
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=37)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--times", type=int, default=5)
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=args.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        path = Path(folder) / "rows.parquet"
        write_table(path, args.rows, args.columns)
        size = path.stat().st_size
        print(f"{args.rows:,} rows, {args.columns} columns, {size / 1e6:.0f} MB of Parquet")
        start = time.perf_counter()
        dataset = read(path)
        print(f"read here:       {time.perf_counter() - start:6.2f} s")
        read_on(client, path)  # the workers load what they need to read
        start = time.perf_counter()
        rows = read_on(client, path)
        print(f"read by workers: {time.perf_counter() - start:6.2f} s, {rows.n_parts} parts")
        empty = cost(client, lambda: _empty_tasks(client), 3)
        print(f"a task of Dask's: {empty.here:.2f} ms of the processor, scheduler and client")
        here = CountingEngine(dataset, threads=args.workers)
        compare_counting(client, here, CountingEngine(rows), args.times)
        for what, data in (("in memory", dataset), ("on workers", rows)):
            found = []
            taken = cost(
                client,
                lambda d=data, f=found: f.append(
                    learn(d, "bic", search="hill_climb", workers=args.workers)
                ),
                1,
            )
            print(
                f"hill climbing, rows {what}: {taken.clock:.2f} s; cpu {taken.here:.2f} s here,"
                f" {taken.workers:.2f} s of workers; score {found[0].score:.6f},"
                f" {found[0].passes} passes"
            )


if __name__ == "__main__":
    main()
