"""Bootstrap and posterior probabilities, the first beside R bnlearn's boot.strength.

    python benchmarks/how_sure.py NETWORK_FOLDER [--rscript Rscript] [--replicates 200] [--large]

Rows are sampled from the networks in the folder. CPU and wall seconds of one run; of the bootstrap
per replicate, hill climbing with BIC on 1,000 rows of alarm, ours plain as bnlearn's (without
reinsertion) and with our defaults. bnlearn runs where R has it. Posterior: scoring apart. --large
adds 25 variables with at most 4 parents.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bestdag as bd
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.exact import ancestors_by_sums, sum_over_dags, sum_over_orders
from bestdag.averaging.local_weights import local_weights
from bestdag.machine import thread_count
from bestdag.search.problem import Problem

R = """
library(bnlearn)
data <- read.csv("{path}", stringsAsFactors = TRUE, colClasses = "factor")
seconds <- system.time(boot.strength(data, R = {replicates}, algorithm = "hc",
                                     algorithm.args = list(score = "bic")))
cat(seconds[["user.self"]] + seconds[["sys.self"]], seconds[["elapsed"]], "\\n")
"""


def _cpu_seconds() -> float:
    """Return what this process computed, and those it started and has waited for."""
    return sum(os.times()[:4])


def timed(what: str, work: Callable[[], Any], share: int = 1) -> Any:
    """Run once and print seconds, divided by `share`."""
    cpu, wall = _cpu_seconds(), time.perf_counter()
    found = work()
    cpu, wall = _cpu_seconds() - cpu, time.perf_counter() - wall
    print(f"{what:<62} {cpu / share:9.4f} CPU s {wall / share:9.4f} s", flush=True)
    return found


def bootstraps(folder: Path, n: int, rscript: str | None) -> None:
    """Time replicates, ours and those of bnlearn."""
    data = bd.Network.load(folder / "alarm.bif").sample(1000, seed=1)
    bd.learn(data, "bic", search="hill_climb")  # what is loaded once
    for text, search in (
        ("plain hill climbing", bd.HillClimb(reinsert=False)),
        ("hill climbing", bd.HillClimb()),
    ):
        timed(
            f"bootstrap, {text}, each of {n}",
            lambda search=search: bd.bootstrap(data, "bic", search=search, replicates=n),
            n,
        )
    if rscript is None:
        return
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "rows.csv"
        data.to_csv(path)
        code = R.format(path=path, replicates=n)
        done = subprocess.run([rscript, "-e", code], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"bnlearn: {done.stderr.strip().splitlines()[-1:]}")
        return
    cpu, wall = map(float, done.stdout.split()[-2:])
    print(f"{f'bnlearn boot.strength, each of {n}':<62} {cpu / n:9.4f} CPU s {wall / n:9.4f} s")


def posteriors(folder: Path, name: str, n: int, max_parents: int | None) -> None:
    """Time sums over the first n variables of a network."""
    data = bd.Network.load(folder / f"{name}.bif").sample(1000, seed=1)
    data = data.select(sorted(data.names)[:n])
    limits = {
        "threads": thread_count(None, who="benchmark"),
        "deadline": Deadline("benchmark", None),
    }
    limit = "any number of parents" if max_parents is None else f"{max_parents} parents"
    what = f"{name}, {n} variables, {limit}"
    problem = Problem(bd.Scorer(data, "bdeu"))
    weights = timed(f"{what}: scoring", lambda: local_weights("benchmark", problem, max_parents))
    timed(f"{what}: orders", lambda: sum_over_orders("benchmark", weights, **limits))
    if n <= 16:
        timed(f"{what}: DAGs", lambda: sum_over_dags("benchmark", weights, **limits))
    if n <= 15:
        timed(f"{what}: paths", lambda: ancestors_by_sums("benchmark", weights, **limits))


def chains(folder: Path) -> None:
    """Time Markov chains on whole networks, until they agree."""
    for name, n_rows in (
        ("alarm", 1000),
        ("alarm", 5000),
        ("insurance", 1000),
        ("hailfinder", 1000),
    ):
        data = bd.Network.load(folder / f"{name}.bif").sample(n_rows, seed=1)
        for prior in ("uniform", "order"):
            found = timed(
                f"{name}, {n_rows:,} rows, {len(data.names)} variables: chains, {prior}",
                lambda data=data, prior=prior: bd.posterior(
                    data, "bdeu", prior=prior, method="chains"
                ),
            )
            print(f"  {found.diagnostics}")


def main() -> None:
    """Read the arguments and run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rscript", default=shutil.which("Rscript"))
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    bootstraps(given.folder, given.replicates, given.rscript)
    posteriors(given.folder, "child", 15, None)
    posteriors(given.folder, "child", 20, None)
    if given.large:
        posteriors(given.folder, "alarm", 25, 4)
    chains(given.folder)


if __name__ == "__main__":
    main()
