"""Forecast and peak of memory, side by side: what commands say they need, and what they take.

Run: python benchmarks/memory.py [--limit "512 MB"] [--only NAME,...] [--scale 1.0]

Each line is one piece of work in a process of its own. The forecast is the largest need that was
asked for and granted (`require_memory`, `has_memory`); the peak is that of anonymous memory,
children included, above what the process had before. Without a limit a line holds when the peak
is within the forecast and 8 MB for the interpreter, or within 64 MB where nothing large was
forecast; with one, when it is within the limit. Lines that do not hold are printed as well, and
counted at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SMALL, _NOISE = 64 << 20, 8 << 20
FORECASTS = [0.0]  # what was granted
_PARTS: dict[str, Callable[[float, Any], Callable[[], object]]] = {}


def work(function: Callable[[float, Any], Callable[[], object]]) -> Any:
    """List a piece of work: called with a scale and a limit, it prepares, and returns the work."""
    _PARTS[function.__name__.replace("_", " ")] = function
    return function


def table(n: int, n_rows: int, arity: int = 3, seed: int = 1) -> Any:
    """Draw a table in which each variable depends on three before it."""
    import numpy as np

    from bestdag import Dataset, Variable

    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, arity, n_rows, np.uint8) for _ in range(3)]
    for k in range(3, n):
        a, b, c = rng.choice(k, 3, replace=False)
        clean = (columns[a] * columns[b] + columns[c]) % arity
        noise = rng.integers(0, arity, n_rows, np.uint8)
        columns.append(np.where(rng.random(n_rows) < 0.35, noise, clean).astype(np.uint8))
    states = tuple(map(str, range(arity)))
    return Dataset([Variable(f"v{k:04}", states) for k in range(n)], columns)


def within(limit: Any, do: Callable[[], object]) -> Callable[[], object]:
    """Return the same work, done within a limit."""
    from bestdag import memory_limit

    def limited() -> object:
        with memory_limit(limit):
            return do()

    return limited


def learned(limit: Any, data: Any, search: str, **settings: Any) -> Callable[[], object]:
    """Return the work of learning."""
    from bestdag import learn
    from bestdag.search import make_search

    made, more = make_search(search, **settings.pop("of_search", {})), settings
    return within(limit, lambda: learn(data, "bic", search=made, workers=2, **more))


@work
def exact_over_all_sets(scale: float, limit: Any) -> Callable[[], object]:
    """Dynamic programming over every parent set."""
    return learned(limit, table(round(22 * scale), 1_000), "exact", of_search={"engine": "dp"})


@work
def exact_dp_from_lists(scale: float, limit: Any) -> Callable[[], object]:
    """Dynamic programming over the subsets, from lists."""
    data = table(round(26 * scale), 1_000)
    return learned(limit, data, "exact", of_search={"engine": "dp"}, max_parents=2)


@work
def exact_bnc(scale: float, limit: Any) -> Callable[[], object]:
    """Branch and cut."""
    data = table(round(40 * scale), 1_000)
    return learned(limit, data, "exact", of_search={"engine": "bnc"}, max_parents=3, time_limit=20)


@work
def order(scale: float, limit: Any) -> Callable[[], object]:
    """Search over orders, with its lists and its rows of scores."""
    return learned(limit, table(round(100 * scale), 2_000), "order", of_search={"rounds": 12})


@work
def hill_climb(scale: float, limit: Any) -> Callable[[], object]:
    """Climbing among all arcs of many variables."""
    data = table(round(1000 * scale), 1_000)
    return learned(limit, data, "hill_climb", of_search={"reinsert": False}, time_limit=20)


@work
def ges(scale: float, limit: Any) -> Callable[[], object]:
    """Equivalence classes of many variables."""
    return learned(limit, table(round(400 * scale), 1_000), "ges", time_limit=20)


@work
def auto(scale: float, limit: Any) -> Callable[[], object]:
    """Run the default for some seconds."""
    return learned(limit, table(round(40 * scale), 2_000), "auto", time_limit=8)


@work
def score_table(scale: float, limit: Any) -> Callable[[], object]:
    """All sets of at most three parents, not pruned."""
    from bestdag import Scorer
    from bestdag.scores.parent_sets.build import build_score_table

    scorer = Scorer(table(round(56 * scale), 5_000), "bic", threads=2)
    return within(limit, lambda: build_score_table(scorer, max_parents=3, prune=False))


@work
def posterior_over_DAGs(scale: float, limit: Any) -> Callable[[], object]:  # noqa: N802 (its name)
    """Exact sums, every DAG once."""
    from bestdag import posterior

    data = table(round(15 * scale), 500, 2)
    return within(limit, lambda: posterior(data, method="exact", workers=2))


@work
def posterior_over_orders(scale: float, limit: Any) -> Callable[[], object]:
    """Exact sums over orders."""
    from bestdag import _core, memory_limit, posterior
    from bestdag.averaging.exact import _ways_for

    n = round(21 * scale)
    data = table(n, 500, 2)

    def compute() -> object:
        with memory_limit(limit):  # of what there is the sums take what makes them fastest
            FORECASTS.append(_core.order_sums_bytes(n, (_ways_for(n, 2) or (0, 2))[0], 2))
        with memory_limit(limit):
            return posterior(data, method="exact", prior="order", max_parents=4, workers=2)

    return compute


@work
def posterior_by_chains(scale: float, limit: Any) -> Callable[[], object]:
    """Markov chains and what they drew."""
    from bestdag import posterior

    data = table(round(40 * scale), 500, 2)

    def draw() -> object:
        return posterior(data, method="chains", max_parents=2, steps=5_000, workers=2)

    return within(limit, draw)


@work
def bootstrap_replicates(scale: float, limit: Any) -> Callable[[], object]:
    """Replicates in processes of their own."""
    from bestdag import bootstrap

    data = table(round(40 * scale), 20_000)
    return within(limit, lambda: bootstrap(data, "bic", replicates=20, workers=2))


@work
def query_of_a_large_network(scale: float, limit: Any) -> Callable[[], object]:
    """Probabilities of every variable, by a junction tree of large cliques."""
    from bestdag import random_network

    network = random_network(round(46 * scale), "order", max_parents=3, seed=7)
    return within(limit, lambda: network.query(network.names[-1]))


def watched(name: str, scale: float, limit: str | None) -> None:
    """Do one piece of work in this process, and print what it took."""
    from bestdag import machine
    from bestdag.errors import BestdagError

    asked = FORECASTS
    require, has = machine.require_memory, machine.has_memory

    def required(who: str, what: str, n_bytes: float, *rest: Any, **more: Any) -> None:
        require(who, what, n_bytes, *rest, **more)
        asked.append(n_bytes)

    def had(kind: str, what: str, n_bytes: float) -> bool:
        found = has(kind, what, n_bytes)
        asked.append(n_bytes if found else 0.0)
        return found

    machine.require_memory, machine.has_memory = required, had  # before others import them
    do = _PARTS[name](scale, limit)
    import highspy  # noqa: F401 (its pages are no matter of the work)

    base, peak, is_over = anonymous(), [0], threading.Event()

    def look() -> None:
        while not is_over.wait(0.002):
            peak[0] = max(peak[0], anonymous())

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    began, outcome = time.monotonic(), "done"
    try:
        do()
    except BestdagError as error:
        outcome = f"refused: {error}"
    seconds = time.monotonic() - began
    is_over.set()
    looker.join()
    took = max(0, peak[0] - base)
    print(json.dumps({"asked": max(asked), "took": took, "seconds": seconds, "outcome": outcome}))


def anonymous() -> int:
    """Return the anonymous memory of this process and its children, in bytes."""
    pids = [os.getpid()]
    for task in Path("/proc/self/task").iterdir():
        try:
            pids += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    # Pages that a child has not written to are its parent's: each counts once.
    file, field = ("status", "RssAnon") if len(pids) == 1 else ("smaps_rollup", "Pss_Anon")
    total = 0
    for pid in pids:
        try:
            for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
                if line.startswith(field):
                    total += 1024 * int(line.split()[1])
        except OSError:
            continue
    return total


def main() -> None:
    """Do every piece of work, without a limit and with one, and print a line for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", default="512 MB")
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--one", nargs=2, metavar=("NAME", "LIMIT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        name, limit = options.one
        watched(name, options.scale, limit or None)
        return
    from bestdag.machine import size_in_bytes

    mb = 1 << 20
    n_lost = 0
    print(f"{'work':28} {'limit MB':>9} {'forecast MB':>12} {'peak MB':>9} {'s':>7}  holds")
    for name in options.only.split(",") if options.only else _PARTS:
        for limit in ("", options.limit):
            command = [
                sys.executable,
                __file__,
                "--scale",
                str(options.scale),
                "--one",
                name,
                limit,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name:28} failed: {done.stderr.strip().splitlines()[-1:]}")
                n_lost += 1
                continue
            one = json.loads(done.stdout.splitlines()[-1])
            allowed = size_in_bytes(limit) if limit else max(one["asked"] + _NOISE, _SMALL)
            holds = one["took"] <= allowed
            n_lost += not holds
            shown = f"{size_in_bytes(limit) / mb:9.0f}" if limit else f"{'':9}"
            end = "yes" if holds else "NO"
            told = "" if one["outcome"] == "done" else f"  {one['outcome'][:90]}"
            print(
                f"{name:28} {shown} {one['asked'] / mb:12.1f} {one['took'] / mb:9.1f} "
                f"{one['seconds']:7.1f}  {end}{told}",
                flush=True,
            )
    print(f"{n_lost} of these do not hold" if n_lost else "all of these hold")


if __name__ == "__main__":
    main()
