"""Time and peak memory of reading a large Parquet (or CSV) file.

    python benchmarks/read_parquet.py [--rows 10000000] [--columns 20] [--format parquet]

The file is made in a temporary folder by a process of its own; reading happens in a fresh process,
so that its peak is that of the reader alone. The promise: the peak grows by less than three
times the size of the result.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_MAKE = """
import sys, duckdb
path, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
cell = "'s' || (hash(range * {n} + {i}) % {r}) AS v{i}"
cells = ", ".join(cell.format(n=columns, i=i, r=2 + i % 5) for i in range(columns))
con = duckdb.connect()
con.execute("SET enable_progress_bar = false")
con.execute(f"COPY (SELECT {cells} FROM range({rows})) TO '{path}'")
"""


def measure(path: str) -> None:
    import duckdb  # noqa: F401  (its own size is not the reader's)
    import numpy as np

    import bestdag

    before = _status("VmRSS")
    start = time.perf_counter()
    data = bestdag.read(path)
    seconds = time.perf_counter() - start
    size = sum(data.codes(name).nbytes for name in data.names)
    peak = _status("VmHWM") - before
    rows, codes = data.n_rows, np.unique(data.codes(data.names[0])).size
    print(json.dumps({"seconds": seconds, "size": size, "peak": peak, "rows": rows, "c": codes}))


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this benchmark reads /proc/self/status, which only Linux has")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--format", choices=["parquet", "csv"], default="parquet")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/table.{args.format}"
        make = [sys.executable, "-c", _MAKE, path, str(args.rows), str(args.columns)]
        subprocess.run(make, check=True)
        run = [sys.executable, __file__, "--measure", path]
        found = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
        on_disk = Path(path).stat().st_size
    mib = 2**20
    print(
        f"{args.format}: {found['rows']:,} rows x {args.columns} columns, {on_disk / mib:,.0f} MiB "
        f"on disk, read in {found['seconds']:.2f} s; result {found['size'] / mib:,.0f} MiB, "
        f"peak growth {found['peak'] / mib:,.0f} MiB = {found['peak'] / found['size']:.2f} x"
    )


if __name__ == "__main__":
    main()
