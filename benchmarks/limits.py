"""How far searches overshoot their time limit, and how long they take to answer Ctrl-C and SIGTERM.

Run: python benchmarks/limits.py [--seconds 1] [--sizes 10,100,500,1000,5000] [--searches ...]

Each line is one search, kind of score, kind of knowledge and number of variables: the seconds
beyond the limit, and from the signal to the answer. With --checkpoint it is a run of `learn` that
is kept in a file: reading its settings and what is written count too. Beside the time on the wall
stands what the process computed in that time: on a busy machine the smaller of the two is the
fairer. The last lines give the worst, and which exceed the larger of 0.1 s and 2 % of the limit.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, ClassVar

import numpy as np

from bestdag import Checkpoint, Dataset, Knowledge, Scorer, Variable, learn
from bestdag.cli.entry import Interrupts
from bestdag.counts.family import FamilyCounts
from bestdag.search import SEARCHES, make_search
from bestdag.search.bound import shared_with_bound
from bestdag.search.problem import Problem

_N_ROWS = 500
_LONG = 600.0  # a limit that a signal comes before


@dataclass(frozen=True)
class InPython:
    """The Bayesian information criterion without a native twin."""

    name: ClassVar[str] = "in_python"
    is_score_equivalent: ClassVar[bool] = True

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        table = counts.table.astype(float)
        rows = table.sum(axis=1, keepdims=True)
        fit = float(np.sum(table * np.log(np.maximum(table, 1) / np.maximum(rows, 1))))
        n_free = counts.n_configurations * (counts.arity - 1)
        return fit - 0.5 * np.log(max(1.0, float(rows.sum()))) * n_free

    def kernel(self) -> None:
        """Say that there is no native twin."""
        return


SCORES: dict[str, Any] = {"bdeu": "bdeu", "in_python": InPython()}
KNOWLEDGE = {
    "nothing": [],
    "arcs": ["v0000 -> v0001", "v0002 !> v0003", "tiers: v0004 v0005 | v0006 v0007"],
    "paths": ["v0000 ~> v0005", "v0002 -- v0003"],
}


def data(n: int) -> Dataset:
    """Columns that depend on a few others each."""
    rng = np.random.default_rng(n)
    columns: list[Any] = []
    for i in range(n):
        noise = rng.integers(0, 3, _N_ROWS)
        near = columns[int(rng.integers(max(0, i - 10), i))] if i else noise
        columns.append(np.where(rng.random(_N_ROWS) < 0.6, near, noise).astype(np.uint8))
    names = [f"v{i:04d}" for i in range(n)]
    return Dataset([Variable(name, ("0", "1", "2")) for name in names], columns)


def _settings(name: str) -> dict[str, Any]:
    return {"target": "v0000"} if name in ("tan", "naive_bayes") else {}


@dataclass(frozen=True)
class Case:
    """What is run: a search, a score, what is known, whether a bound follows, and the file."""

    search: str
    score: str
    known: str
    with_bound: bool
    kept_in: str | None

    def solve(self, dataset: Dataset, scorer: Scorer, limit: float) -> str:
        """Search until the limit, and say how it ended."""
        knowledge = Knowledge.parse(KNOWLEDGE[self.known])
        search = make_search(self.search, **_settings(self.search))
        if self.kept_in is None and not self.with_bound:
            return Problem(scorer, knowledge=knowledge, time_limit=limit).solve(search).status
        seconds, for_bound = shared_with_bound(limit) if self.with_bound else (limit, None)
        result = learn(
            dataset,
            SCORES[self.score],
            search=search,
            knowledge=knowledge,
            time_limit=seconds,
            checkpoint=None if self.kept_in is None else Checkpoint(self.kept_in, force=True),
        )
        return result.bounded(for_bound).status if self.with_bound else result.status


def _work(pipe: Any, dataset: Dataset, case: Case, limit: float) -> None:
    """Search once in a process of its own; sends when it ended, and what it computed since."""
    marks: list[float] = []
    with Interrupts():
        try:
            scorer = Scorer(dataset, SCORES[case.score])
            pipe.send("ready")
            timer = threading.Timer(limit, lambda: marks.append(time.process_time()))
            timer.daemon = True
            timer.start()
            began = time.monotonic()
            status = case.solve(dataset, scorer, limit)
        except KeyboardInterrupt:
            status = "KeyboardInterrupt"
        except Exception as error:
            status = f"{type(error).__name__}: {error}"[:70]
        ended, spent = time.monotonic(), time.process_time()
    pipe.send((status, ended - began, ended, spent - marks[0] if marks else 0.0, spent))


def _cpu_seconds(pid: int) -> float:
    """Return the seconds that a process has computed so far."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def run(dataset: Dataset, case: Case, limit: float, sent: int | None) -> tuple[str, float, float]:
    """Search until the limit, or until a signal: how it ended, seconds too many, of computing."""
    fork = get_context("fork")
    ours, theirs = fork.Pipe()
    process = fork.Process(
        target=_work, args=(theirs, dataset, case, limit if sent is None else _LONG)
    )
    process.start()
    assert ours.recv() == "ready"
    came = computed = None
    if sent is not None and not ours.poll(limit):
        computed, came = _cpu_seconds(process.pid or 0), time.monotonic()
        os.kill(process.pid or 0, sent)
    if not ours.poll(limit + 120):
        process.kill()
        return "does not end", limit + 120.0, limit + 120.0
    status, seconds, ended, late, spent = ours.recv()
    process.join()
    if sent is None:
        return status, max(0.0, seconds - limit), late
    if came is None:
        return status, 0.0, 0.0  # it had ended by itself
    return status, ended - came, max(0.0, spent - (computed or 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--sizes", default="10,100,500,1000,5000")
    parser.add_argument("--searches", default=",".join(SEARCHES))
    parser.add_argument("--scores", default=",".join(SCORES))
    parser.add_argument("--knowledge", default=",".join(KNOWLEDGE))
    parser.add_argument("--bound", action="store_true", help="bound the best score, too")
    parser.add_argument("--checkpoint", metavar="FILE", help="keep each run in this file")
    parser.add_argument("--repeat", type=int, default=1, help="the least of so many is shown")
    parser.add_argument("--signals", default="SIGINT,SIGTERM")
    given = parser.parse_args()
    most = max(0.1, 0.02 * given.seconds)
    signals = [getattr(signal, name) for name in given.signals.split(",") if name]
    print("search, score, knowledge, variables: seconds too many at the limit (computed); signals")
    worst: list[tuple[float, str]] = []
    for n in map(int, given.sizes.split(",")):
        dataset = data(n)
        for name in given.searches.split(","):
            for score in given.scores.split(","):
                for known in given.knowledge.split(","):
                    case = Case(name, score, known, given.bound, given.checkpoint)
                    shown = f"{name:12} {score:10} {known:8} {n:>5}:"
                    for sent in (None, *signals):
                        status, wall, cpu = min(
                            (run(dataset, case, given.seconds, sent) for _ in range(given.repeat)),
                            key=lambda seen: min(seen[1:]),
                        )
                        what = "limit" if sent is None else signal.Signals(sent).name
                        shown += f"  {what} {wall:.3f} ({cpu:.3f}) {status};"
                        worst.append((min(wall, cpu), f"{name} {score} {known} {n} {what}"))
                    print(shown, flush=True)
    worst.sort(reverse=True)
    print(f"worst: {worst[0][0]:.3f} s, {worst[0][1]}")
    for seconds, where in worst:
        if seconds > most:
            print(f"beyond {most:.2f} s: {seconds:.3f} s, {where}")


if __name__ == "__main__":
    main()
