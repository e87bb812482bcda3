"""Comparing structures, ranks and random graphs, beside R bnlearn and pyAgrum where installed.

    python benchmarks/how_good.py [--rscript Rscript] [--pyagrum PYTHON]

CPU seconds, the least of several runs; by the clock where there is a star. `--pyagrum` names a
Python that has pyAgrum. bnlearn's `ic-dag` is given as many steps as ours takes, 10 n^2.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import time
from collections.abc import Callable

import bestdag as bd

R = """
library(bnlearn)
nodes <- function(n) sprintf("v%04d", seq_len(n))
least <- function(f, k = 3) min(replicate(k, system.time(f())[["user.self"]]))
set.seed(1)
for (n in c(40, 100, 200))
  cat(sprintf("ic-dag, %d nodes, degree 6, 10 n^2 steps|%.4f\\n", n,
    least(function() random.graph(nodes(n), method = "ic-dag", max.degree = 6,
                                  burn.in = 10 * n^2))))
cat(sprintf("ordered, 1000 nodes|%.4f\\n", least(function()
  random.graph(nodes(1000), method = "ordered", prob = 4 / 999))))
a <- random.graph(nodes(1000), method = "ordered", prob = 4 / 999)
b <- random.graph(nodes(1000), method = "ordered", prob = 4 / 999)
cat(sprintf("cpdag, 1000 nodes|%.4f\\n", least(function() cpdag(a))))
cat(sprintf("shd, 1000 nodes|%.4f\\n", least(function() shd(a, b))))
"""

PYAGRUM = """
import time
import pyagrum as gum
def least(work, k=3):
    found = []
    for _ in range(k):
        start = time.process_time(); work(); found.append(time.process_time() - start)
    return min(found)
for n in (40, 100):
    print(f"randomBN, {n} nodes|{least(lambda: gum.randomBN(n=n)):.4f}")
"""


def least(work: Callable[[], object], repeats: int = 5) -> float:
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def show(program: str, what: str, seconds: float) -> None:
    print(f"{program:10}{what:68}{1000 * seconds:12.2f} ms")


def ours() -> None:
    for n in (40, 100, 200):
        seconds = least(lambda n=n: bd.random_dag(n, max_degree=6))
        show("bestdag", f"markov_chain, {n} nodes, degree 6, 10 n^2 steps", seconds)
    show(
        "bestdag", "markov_chain, 50 nodes, width 4", least(lambda: bd.random_dag(50, max_width=4))
    )
    show("bestdag", "order, 1,000 nodes", least(lambda: bd.random_dag(1000, "order")))
    show("bestdag", "uniform, 100 nodes", least(lambda: bd.random_dag(100, "uniform")))
    one, other = (bd.random_dag(1000, "order", seed=seed) for seed in (1, 2))
    show("bestdag", "cpdag, 1,000 nodes", least(one.cpdag))
    show("bestdag", "compare (everything), 1,000 nodes", least(lambda: bd.compare(one, other)))
    many = least(lambda: bd.random_network(10_000, "order", max_parents=5), 2)
    show("bestdag", "random_network, 10,000 nodes, with tables", many)
    net = bd.random_network(5, "order", n_arcs=7, arities=(2, 4), pseudo_count=0.5)
    data = net.sample(1000)
    for among in ("dags", "classes"):
        seconds = least(lambda among=among: bd.structural_rank(net, bd.Scorer(data), among=among))
        show("bestdag", f"structural_rank among {among}, 1,000 rows", seconds)
    small = bd.random_network(14, max_degree=6).sample(2000)
    large = bd.random_network(150, max_degree=6).sample(5000)
    for threads in (1, None):
        on = "1 thread" if threads == 1 else "all threads"
        start = time.perf_counter()
        found = bd.cross_validate(small, ["bdeu", "bic", "fnml"], "exact", workers=threads)
        took = time.perf_counter() - start
        show("bestdag", f"cross_validate, 14 variables, 30 proofs, {on} *", took)
        assert all(method.n_proved == 10 for method in found.methods)
        start = time.perf_counter()
        bd.cross_validate(large, ["bdeu", "bic"], "tabu", workers=threads)
        took = time.perf_counter() - start
        show("bestdag", f"cross_validate, 150 variables, 20 tabu searches, {on} *", took)


def rival(program: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [line.split("|") for line in done.stdout.splitlines() if "|" in line]
    if not rows:
        print(f"{program}: not run ({done.stderr.strip()[-100:]})")
    for what, seconds in rows:
        show(program, what, float(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rscript", default=shutil.which("Rscript"))
    parser.add_argument("--pyagrum", metavar="PYTHON")
    given = parser.parse_args()
    ours()
    if given.rscript:
        rival("bnlearn", [given.rscript, "-e", R])
    if given.pyagrum:
        rival("pyAgrum", [given.pyagrum, "-c", PYAGRUM])


if __name__ == "__main__":
    main()
