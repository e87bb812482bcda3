"""What studies do most: rank a structure among all over five nodes, and learn UCI tables exactly.

    python -m benchmarks.study_trials [--repeat N] [--threads N]

Prints the milliseconds in which all 29,281 structures over five variables are scored, by each score
from rows in memory (the list of structures is made once, and its time told apart); then, per UCI
table, the seconds of one exact search by each of four scores, from rows in memory to a proved
optimum over parent sets of every size, and of all four from one count of the sets. Each is the
best of N runs; wall time. BESTDAG_DATA names the folder with `uci/`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from studies.data import TABLES, DataFolder, load_table

from bestdag.data.dataset import Dataset
from bestdag.evaluation.ranks import every_structure, scores_of_structures
from bestdag.network.random_network import random_network
from bestdag.scores import make_score
from bestdag.scores.base import Score
from bestdag.scores.scorer import Scorer
from bestdag.search.exact.search import Exact
from bestdag.search.problem import Problem

FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))
SCORES = {name: make_score(name.lower()) for name in ("BDeu", "BIC", "fNML", "qNML")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    _rank(given.repeat, given.threads)
    print(
        f"\n{'table':26}{'rows':>8}{'columns':>9}" + "".join(f"{s:>8}" for s in SCORES) + "     all"
    )
    folder = DataFolder(FOLDER)
    for name in TABLES:
        data = load_table(folder, name)
        each = [
            _best(given.repeat, partial(_learn, data, [score], given.threads)) for score in SCORES
        ]
        together = _best(given.repeat, partial(_learn, data, list(SCORES), given.threads))
        shown = "".join(f"{seconds:8.3f}" for seconds in [*each, together])
        print(f"{name:26}{data.n_rows:8,}{len(data.names):9}{shown}", flush=True)


def _rank(repeat: int, threads: int | None) -> None:
    begun = time.perf_counter()
    n = len(every_structure(5).masks)
    print(f"{n:,} structures over five variables, listed in {time.perf_counter() - begun:.2f} s")
    truth = random_network(5, "order", n_arcs=7, arities=(2, 4), pseudo_count=0.5, seed=1)
    for n_rows in (100, 1000, 100_000):
        data = truth.sample(n_rows, seed=2)
        shown = []
        for label, score in SCORES.items():
            work = partial(_score_all, data, score, threads)
            shown.append(f"{label} {1000 * _best(max(repeat, 5), work):.2f} ms")
        print(f"  all scored from {n_rows:,} rows: {', '.join(shown)}")


def _score_all(data: Dataset, score: Score, threads: int | None) -> None:
    scores_of_structures(Scorer(data, score, threads=threads))


def _learn(data: Dataset, names: list[str], threads: int | None) -> None:
    scorer = Scorer(data, SCORES[names[0]], threads=threads)
    scorers = [scorer, *(scorer.by(SCORES[name]) for name in names[1:])]
    for found in Exact().run_each([Problem(one, workers=threads) for one in scorers]):
        assert found.is_proved


def _best(repeat: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


if __name__ == "__main__":
    main()
