"""The PC algorithm beside other programs on the same rows, and on large tables: processor seconds.

    python benchmarks/pc.py [NETWORK.bif ...] [--rows 10000] [--alpha 0.05] [--repeats 5]
        [--threads 2] [--large]

For each network, rows are sampled once and given to every program; the least processor seconds of
`--repeats` runs are printed, without reading the data, with the links found, missing and extra
against the network. --large adds a table of 1,000 variables and 5,000 rows (alpha 0.01, conditions
of at most two variables).

The other programs: BESTDAG_PEERS names a Python interpreter that has pybnesian, pyagrum and pandas;
without it this one is tried. bnlearn is an R package: `Rscript` is on the PATH, or BESTDAG_RSCRIPT
names it. What is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bestdag import Dataset, G2Test, Network, X2Test, pc

Links = set[tuple[str, str]]

_PYBNESIAN = """
import json, sys, time
import pandas as pd, pybnesian as pb
path, alpha, repeats = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
d = pd.read_csv(path, dtype=str).astype("category")
times = []
for _ in range(repeats):
    t = time.process_time()
    g = pb.PC().estimate(pb.ChiSquare(d), alpha=alpha)
    times.append(time.process_time() - t)
links = [list(a) for a in g.arcs()] + [list(a) for a in g.edges()]
print(json.dumps([min(times), links]))
"""

_PYAGRUM = """
import json, sys, time
import pyagrum as gum
path, alpha, repeats, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
times = []
for _ in range(repeats):
    learner = gum.BNLearner(path)
    learner.usePC()
    learner.useG2Test()
    learner.setPCAlpha(alpha)
    learner.setPCStable(True)
    learner.setNumberOfThreads(threads)
    t = time.process_time()
    g = learner.learnPDAG()
    times.append(time.process_time() - t)
names = learner.names()
links = [[names[i], names[j]] for i, j in list(g.arcs()) + list(g.edges())]
print(json.dumps([min(times), links]))
"""

_BNLEARN = """
a <- commandArgs(TRUE)
if (nchar(Sys.getenv("R_LIBS")) > 0) .libPaths(c(Sys.getenv("R_LIBS"), .libPaths()))
suppressMessages(library(bnlearn))
d <- read.csv(a[1], colClasses = "factor")
best <- Inf
for (i in 1:as.integer(a[3])) {
  t <- system.time(g <- pc.stable(d, alpha = as.numeric(a[2]), test = "mi"))
  best <- min(best, sum(t[1:2]))
}
e <- g$arcs
cat(best, "\\n")
for (i in seq_len(nrow(e))) cat(e[i, 1], e[i, 2], "\\n", sep = "\\t")
"""


def peer(source: str) -> Callable[[Path, argparse.Namespace], tuple[float, Links]]:
    """Return what runs a Python program of another package."""

    def run(path: Path, args: argparse.Namespace) -> tuple[float, Links]:
        python = os.environ.get("BESTDAG_PEERS", sys.executable)
        asked = [python, "-c", source, str(path), str(args.alpha), str(args.repeats)]
        made = subprocess.run([*asked, str(args.threads)], capture_output=True, text=True)
        if made.returncode:
            raise RuntimeError((made.stderr.strip().splitlines() or ["failed"])[-1])
        seconds, links = json.loads(made.stdout.splitlines()[-1])
        return seconds, _links(links)

    return run


def bnlearn(path: Path, args: argparse.Namespace) -> tuple[float, Links]:
    """Run bnlearn's pc.stable."""
    rscript = os.environ.get("BESTDAG_RSCRIPT") or shutil.which("Rscript")
    if rscript is None:
        raise RuntimeError("no Rscript")
    with tempfile.NamedTemporaryFile("w", suffix=".R") as script:
        script.write(_BNLEARN)
        script.flush()
        asked = [rscript, script.name, str(path), str(args.alpha), str(args.repeats)]
        made = subprocess.run(asked, capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError((made.stderr.strip().splitlines() or ["failed"])[-1])
    first, *rest = made.stdout.splitlines()
    return float(first), _links(line.split("\t")[:2] for line in rest)


def ours(test: G2Test | X2Test) -> Callable[[Dataset, argparse.Namespace], tuple[float, Links]]:
    """Return what runs PC here; from the data set, as the others do."""

    def run(data: Dataset, args: argparse.Namespace) -> tuple[float, Links]:
        times = []
        for _ in range(args.repeats):
            begun = time.process_time()
            found = pc(data, test=test, alpha=args.alpha, threads=args.threads, keep_tests=False)
            times.append(time.process_time() - begun)
        return min(times), set(found.skeleton.edges)

    return run


def _links(pairs: object) -> Links:
    return {tuple(sorted(pair)) for pair in pairs}  # type: ignore[attr-defined, misc]


def compare(name: str, network: Network, args: argparse.Namespace) -> None:
    """Run every program on rows of one network."""
    data = network.sample(args.rows, seed=1)
    true = {tuple(sorted(arc)) for arc in network.dag.arcs}
    programs = {
        "bestdag, g2": lambda: ours(G2Test())(data, args),
        "bestdag, x2": lambda: ours(X2Test())(data, args),
        "bestdag, g2, declared df": lambda: ours(G2Test(df="declared"))(data, args),
        "pybnesian, x2": lambda: peer(_PYBNESIAN)(path, args),
        "pyagrum, g2": lambda: peer(_PYAGRUM)(path, args),
        "bnlearn, g2": lambda: bnlearn(path, args),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        data.to_csv(path)
        for program, run in programs.items():
            try:
                seconds, links = run()
            except (RuntimeError, OSError, ValueError) as error:
                print(f"{name:<12} {program:<26} not run: {error}")
                continue
            print(
                f"{name:<12} {program:<26} {seconds:>8.3f} {len(links):>6} "
                f"{len(true - links):>8} {len(links - true):>6}",
                flush=True,
            )


def large(args: argparse.Namespace) -> None:
    """Run PC on a thousand variables."""
    from ges import random_network

    network = random_network(1000, seed=1)
    data = network.sample(5000, seed=1)
    wall, processor = time.perf_counter(), time.process_time()
    found = pc(data, alpha=0.01, max_conditioning=2, threads=args.threads, keep_tests=False)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    true = {tuple(sorted(arc)) for arc in network.dag.arcs}
    links = set(found.skeleton.edges)
    print(
        f"{'1,000':<12} {'bestdag, g2':<26} {processor:>8.3f} {len(links):>6} "
        f"{len(true - links):>8} {len(links - true):>6}  ({wall:.2f} s wall, "
        f"{found.n_tests:,} questions)"
    )


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("networks", nargs="*", type=Path, help="BIF files")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--large", action="store_true", help="a thousand variables, too")
    args = parser.parse_args()
    header = (
        f"{'network':<12} {'program':<26} {'cpu s':>8} {'links':>6} {'missing':>8} {'extra':>6}"
    )
    print(header)
    for path in args.networks:
        compare(path.name.split(".")[0], Network.load(path), args)
    if args.large:
        large(args)


if __name__ == "__main__":
    main()
