"""Rows on disk: reading and hill climbing within a memory limit, cold and warm, and the peak.

    python benchmarks/rows_beyond_memory.py NETWORK ... [--rows N] [--limit 512MB] [--read-only]

For each network file, rows are drawn into Parquet parts (kept in --folder), scanned with
``collapse=False`` and a cache, then scanned again from the cache; without ``--read-only`` the same
two runs are made by ``bestdag learn --rows-in disk --no-collapse --search hill_climb``. The peak is
that of anonymous memory (RssAnon), children included; the size of the process before is part of it.
Needs Linux.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

_READ = """
import sys
from bestdag import memory_limit, scan
with memory_limit(sys.argv[2]):
    rows = scan(sys.argv[1], collapse=False, cache=sys.argv[3])
print(rows.n_rows, sum(rows.codes(name).nbytes for name in rows.names) >> 20, "MiB on disk")
"""


def anonymous(pid: int) -> int:
    """Bytes of anonymous memory of a process and its children."""
    total = 0
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith("RssAnon"):
                    total += int(line.split()[1]) * 1024
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                total += sum(anonymous(int(child)) for child in file.read().split())
    except OSError:
        pass
    return total


def watched(command: list[str]) -> tuple[float, float, int, str]:
    """Run a command; return its seconds, its processor seconds, its peak and what it said."""
    before = os.times()
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = 0
    while child.poll() is None:
        peak = max(peak, anonymous(child.pid))
        time.sleep(0.02)
    after = os.times()
    spent = after.children_user - before.children_user
    spent += after.children_system - before.children_system
    assert child.stdout is not None
    return time.monotonic() - start, spent, peak, child.stdout.read().strip()


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--part-rows", type=int, default=2_000_000)
    parser.add_argument("--limit", default="512MB")
    parser.add_argument("--folder", default="rows-beyond-memory")
    parser.add_argument("--read-only", action="store_true")
    given = parser.parse_args()
    bestdag = [sys.executable, "-m", "bestdag"]
    for network in given.networks:
        name = Path(network).stem
        parts = Path(given.folder) / name
        cache = Path(given.folder) / f"{name}-codes"
        if not parts.exists():
            rows = ["-n", str(given.rows), "--part-rows", str(given.part_rows)]
            command = [*bestdag, "sample", network, *rows, "-o", str(parts), "--quiet"]
            print(f"{name}: drawing rows: {watched(command)[0]:.1f} s", flush=True)
        shutil.rmtree(cache, ignore_errors=True)
        ways = {"read": [sys.executable, "-c", _READ, str(parts), given.limit, str(cache)]}
        if not given.read_only:
            ways["learn"] = [
                *(*bestdag, "learn", str(parts), "--search", "hill_climb", "--no-collapse"),
                *("--rows-in", "disk", "--memory-limit", given.limit, "--cache", str(cache)),
                "--quiet",
            ]
        for what, command in ways.items():
            for how in ("cold", "warm"):
                if how == "cold":
                    shutil.rmtree(cache, ignore_errors=True)
                seconds, spent, peak, said = watched(command)
                print(
                    f"{name}: {what}, {how}: {seconds:.1f} s ({spent:.1f} s of processors), "
                    f"peak {peak >> 20} MiB; {said.splitlines()[0] if said else ''}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
