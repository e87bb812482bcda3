"""EM and structural EM on rows of a network with missing values, beside other programs.

    python benchmarks/em.py NETWORK.bif [--rows 10000] [--share 0.1] [--threads 2] [--repeats 3]
        [--pyagrum PYTHON] [--bnlearn RLIB] [--rival-rows 2000]
    python benchmarks/em.py NETWORK.bif --scaling 10000 100000 1000000 [--share 0.1] [--threads 2]
        [--kinds 1000]

Rows are drawn from the network and each cell is taken away with the given probability. Printed are
the best wall-clock and processor seconds of the repeats, for: parameters by EM to a relative change
of 1e-6; one E step, at half and at all of the rows (the cost is linear); structural EM by hill
climbing with BIC; imputation; and the largest memory of the process. PYTHON is an interpreter that
has pyAgrum, RLIB a folder of R packages that has bnlearn; what is not given or not there is left
out. bnlearn gets --rival-rows of the rows.

With --scaling, how the cost of an iteration and memory grow: for each number of rows, in a process
of its own, the different rows and the cases among them, processor seconds to make the rows ready,
for one E step and for all of EM, and by how much the peak of memory exceeds what the process had
with the table in it. With --kinds, no more rows than that are drawn, and repeated.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bestdag as bd
from bestdag.inference.rows import IncompleteRows
from bestdag.network.fitting import tables_for
from bestdag.parameters.em import Expectation

_PYAGRUM = """
import sys, time
import pyagrum as gum
network, data = sys.argv[1:]
bn = gum.loadBN(network)
learner = gum.BNLearner(data, bn, ["?"])
learner.useSmoothingPrior()
learner.useEM(1e-4)
wall, cpu = time.perf_counter(), time.process_time()
learner.learnParameters(bn.dag())
print(time.perf_counter() - wall, time.process_time() - cpu)
"""

_BNLEARN = """
arguments <- commandArgs(trailingOnly = TRUE)
library(bnlearn, lib.loc = arguments[1])
data <- read.csv(arguments[2], na.strings = "", colClasses = "factor")
took <- system.time(found <- structural.em(data, maximize = "hc",
  maximize.args = list(score = "bic"), max.iter = 3))
cat(took["elapsed"], took["user.self"], "\\n")
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("network")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pyagrum", metavar="PYTHON")
    parser.add_argument("--bnlearn", metavar="RLIB")
    parser.add_argument("--rival-rows", type=int, default=2000)
    parser.add_argument("--scaling", type=int, nargs="+", metavar="ROWS")
    parser.add_argument("--kinds", type=int)
    settings = parser.parse_args()
    network = bd.Network.load(settings.network)
    if settings.scaling:
        scaling(network, settings)
        return
    data = with_holes(network.sample(settings.rows, seed=1), settings.share)
    print(f"{settings.network}: {data!r}"[:120])
    ours(network, data, settings)
    with tempfile.TemporaryDirectory() as folder:
        if settings.pyagrum:
            pyagrum(settings, data, Path(folder))
        if settings.bnlearn:
            bnlearn(settings, data.select(rows=slice(settings.rival_rows)), Path(folder))


def with_holes(data: bd.Dataset, share: float) -> bd.Dataset:
    """Take cells away completely at random."""
    random = np.random.default_rng(0)
    return bd.Dataset(
        data.variables,
        [
            np.where(random.random(data.n_rows) < share, data.arities[n], data.codes(n))
            for n in data.names
        ],
    )


def ours(network: bd.Network, data: bd.Dataset, settings: argparse.Namespace) -> None:
    """Time what bestdag does."""
    threads = settings.threads
    found = timed("EM", settings.repeats, lambda: bd.run_em(network.dag, data, threads=threads))
    print(f"    {found.iterations} iterations, log-likelihood {found.log_likelihood:.3f}")
    for n in (data.n_rows // 2, data.n_rows):
        part = data.select(rows=slice(n))
        rows = IncompleteRows(part, part.variables, threads=threads, who="benchmark")
        expect = Expectation(rows, tables_for(rows, network.dag))
        start = expect.tables.normalized(np.zeros(expect.tables.n_cells))
        timed(f"one E step, {n:,} rows", 5 * settings.repeats, lambda: expect(start))  # noqa: B023
    learned = timed(
        "structural EM",
        settings.repeats,
        lambda: bd.learn(data, "bic", search="hill_climb", missing="em", workers=threads),
    )
    print(f"    {learned.notes[0]}; score {learned.score:.3f}")
    timed("impute", settings.repeats, lambda: network.impute(data, threads=threads))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table = sum(data.codes(n).nbytes for n in data.names) / 2**20
    print(f"{'memory':28} {peak:8.0f} MiB at most; the table has {table:.1f}")


def scaling(network: bd.Network, settings: argparse.Namespace) -> None:
    """Print a line for one number of rows, or start a process for each of several."""
    if len(settings.scaling) > 1:
        print(
            "| rows | different | cases | ready s | E step s | ns a row | EM s | iterations |",
            end="",
        )
        print(" table MiB | peak MiB above | times |")
        for n in settings.scaling:
            options = [*sys.argv[1 : sys.argv.index("--scaling")], "--scaling", str(n)]
            options += ["--share", str(settings.share), "--threads", str(settings.threads)]
            options += ["--kinds", str(settings.kinds)] if settings.kinds else []
            subprocess.run([sys.executable, __file__, *options], check=True)
        return
    (n,) = settings.scaling
    drawn = with_holes(network.sample(min(n, settings.kinds or n), seed=1), settings.share)
    data = drawn
    if settings.kinds:
        places = np.arange(n) % drawn.n_rows
        data = bd.Dataset(drawn.variables, [drawn.codes(name)[places] for name in drawn.names])
    part = data.select(rows=slice(100))
    bd.run_em(network.dag, part)  # loads what is loaded on first use
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = status("VmRSS")
    start = time.process_time()
    rows = IncompleteRows(data, data.variables, threads=settings.threads, who="benchmark")
    expect = Expectation(rows, tables_for(rows, network.dag))
    ready = time.process_time() - start
    values = expect.tables.normalized(np.zeros(expect.tables.n_cells))
    start = time.process_time()
    expect(values)
    step = time.process_time() - start
    n_kinds, n_cases = rows.n_distinct, repr(expect).split()[1]
    del rows, expect
    start = time.process_time()
    found = bd.run_em(network.dag, data, threads=settings.threads)
    whole = time.process_time() - start
    table = sum(data.codes(name).nbytes for name in data.names)
    above = status("VmHWM") - before
    print(
        f"| {n:,} | {n_kinds:,} | {n_cases} | {ready:.2f} | {step:.4f} | {1e9 * step / n:.0f} | "
        f"{whole:.2f} | {found.iterations} | {table / 2**20:.1f} | {above / 2**20:.0f} | "
        f"{above / table:.1f} |",
        flush=True,
    )


def status(key: str) -> int:
    """Read the memory of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(key)).split()[1])


def timed(what: str, repeats: int, work: Callable[[], Any]) -> Any:
    """Run some times; print the best times and return the last result."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    print(f"{what:28} {min(walls):8.3f} s wall {min(cpus):8.3f} s processor")
    return found


def pyagrum(settings: argparse.Namespace, data: bd.Dataset, folder: Path) -> None:
    """Run pyAgrum's EM on the same rows, to its usual change of 1e-4."""
    path = folder / "data.csv"
    data.to_csv(path)
    lines = path.read_text().splitlines()
    filled = [",".join(cell or "?" for cell in line.split(",")) for line in lines]
    path.write_text("\n".join(filled) + "\n")
    run("pyAgrum EM (1e-4)", [settings.pyagrum, "-c", _PYAGRUM, settings.network, str(path)])


def bnlearn(settings: argparse.Namespace, data: bd.Dataset, folder: Path) -> None:
    """Run bnlearn's structural.em on some of the rows, three rounds."""
    path, script = folder / "part.csv", folder / "script.R"
    data.to_csv(path)
    script.write_text(_BNLEARN)
    run(f"bnlearn ({data.n_rows:,} rows)", ["Rscript", str(script), settings.bnlearn, str(path)])


def run(what: str, command: list[str]) -> None:
    """Run another program and print the times it says."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{what:28} not run: {error}")
        return
    if done.returncode:
        print(f"{what:28} failed: {done.stderr.strip()[-200:]!r}")
        return
    wall, cpu = done.stdout.split()[:2]
    print(f"{what:28} {float(wall):8.3f} s wall {float(cpu):8.3f} s processor")


if __name__ == "__main__":
    main()
