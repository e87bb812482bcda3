"""Local scores of every family with at most three parents, beside other programs.

Rows are sampled from the network given (alarm: 37 variables, 288,859 families). Every program gets
the same rows; those that are slow score a random part of the families and their rate is given.
Peers are used where they are installed: pybnesian, pygobnilp, pyAgrum, pgmpy. Scores are compared
with ours, so a fast wrong answer shows. BDe with the network as its prior is timed beside its
formula.

Run: python benchmarks/score_families.py alarm.bif [--rows 10000] [--threads 2]
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Callable

import numpy as np

import bestdag as bd
from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.scores import SCORES
from bestdag.scores.base import Score
from bestdag.scores.parent_sets.limits import parent_sets

MAX_PARENTS = 3
PEER_SECONDS = 4.0

Family = tuple[str, tuple[str, ...]]
LocalScore = Callable[[str, tuple[str, ...]], float]


def ours(data: bd.Dataset, score: Score | str, threads: int) -> tuple[float, int]:
    """Seconds for all families, the best of three, and their number."""
    best = np.inf
    for _ in range(3):
        scorer = bd.Scorer(data, score, threads=threads)
        start = time.perf_counter()
        tables = scorer.all_families(MAX_PARENTS)
        best = min(best, time.perf_counter() - start)
    return best, sum(map(len, tables.values()))


def peers(data: bd.Dataset) -> dict[str, dict[str, LocalScore]]:
    """Local score functions of the programs that are installed, by score."""
    found: dict[str, dict[str, LocalScore]] = {}
    frame = data.to_pandas()
    try:
        import pybnesian

        bic, bde = pybnesian.BIC(frame), pybnesian.BDe(frame, iss=1)
        model = pybnesian.DiscreteBN(list(data.names))
        found["pybnesian"] = {
            "bic": lambda c, p: bic.local_score(model, c, list(p)),
            "bdeu": lambda c, p: bde.local_score(model, c, list(p)),
        }
    except ImportError:
        pass
    try:
        from pygobnilp import scoring

        table = scoring.DiscreteData(frame)
        gob_bdeu, gob_bic = scoring.BDeu(table, alpha=1.0), scoring.DiscreteBIC(table)
        found["pygobnilp"] = {
            "bdeu": lambda c, p: gob_bdeu.bdeu_score(c, p)[0],
            "bic": lambda c, p: gob_bic.score(c, p)[0],
        }
    except ImportError:
        pass
    try:
        import pyagrum

        learners = {}
        for score in ("bic", "bdeu"):
            learner = pyagrum.BNLearner(frame)
            learner.useScoreBIC() if score == "bic" else learner.useScoreBDeu()
            learners[score] = learner
        found["pyAgrum"] = {
            score: (lambda c, p, learner=learner: learner.score(c, list(p)))
            for score, learner in learners.items()
        }
    except ImportError:
        pass
    try:
        from pgmpy import structure_score

        pg_bic, pg_bdeu = structure_score.BIC(frame), structure_score.BDeu(frame, 1)
        found["pgmpy"] = {
            "bic": lambda c, p: pg_bic.local_score(c, tuple(p)),
            "bdeu": lambda c, p: pg_bdeu.local_score(c, tuple(p)),
        }
    except (ImportError, AttributeError):
        pass
    return found


def peer_rate(
    score: LocalScore, families: list[Family], expected: dict[Family, float]
) -> tuple[float, float]:
    """Families per CPU second over a few seconds, and the largest difference from ours."""
    score(*families[0])  # compile, warm up
    worst, done, start = 0.0, 0, time.process_time()
    for family in families:
        worst = max(worst, abs(score(*family) - expected[family]))
        done += 1
        if time.process_time() - start > PEER_SECONDS:
            break
    return done / (time.process_time() - start), worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-peers", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    net = bd.Network.load(arguments.network)
    for n_rows in arguments.rows:
        data = net.sample(n_rows, seed=1)
        fastest = 0.0
        if not arguments.no_peers:
            fastest = show_peers(data)
        print(f"\n{n_rows:,} rows, ours on {arguments.threads} threads")
        for instructions in reversed(_core.instruction_sets()):
            _core.use_instruction_set(instructions)
            for name in SCORES:
                seconds, count = ours(data, name, arguments.threads)
                ratio = f"{count / seconds / fastest:8.1f} x the fastest peer" if fastest else ""
                print(
                    f"  {instructions:<9} {name:<9} {seconds:8.4f} s {count / seconds:14,.0f} "
                    f"families/s {ratio}"
                )
        _core.use_instruction_set(_core.instruction_sets()[-1])
        show_prior(data, bd.BDe(prior=net), arguments.threads)


def show_prior(data: bd.Dataset, score: bd.BDe, threads: int) -> None:
    """Print the rates of BDe with a prior network: natively, and by its formula on one thread."""
    seconds, count = ours(data, score, threads)
    names = sorted(data.names)
    drawn = random.Random(1)
    families = [(c, p) for c, *p in (drawn.sample(names, MAX_PARENTS + 1) for _ in range(2_000))]
    start = time.process_time()
    for counts in CountingEngine(data, threads=1).count(families):
        score.family(counts)
    formula = len(families) / (time.process_time() - start)
    rate = count / seconds
    print(
        f"  bde with the network as prior {seconds:8.4f} s {rate:14,.0f} families/s, "
        f"{rate / formula:.0f} x its formula ({formula:,.0f} per CPU second)"
    )


def show_peers(data: bd.Dataset) -> float:
    """Print the peers' rates and return the highest."""
    names = sorted(data.names)
    families = [
        (child, parents)
        for child in names
        for parents in parent_sets([n for n in names if n != child], MAX_PARENTS)
    ]
    random.Random(1).shuffle(families)
    families = families[:200_000]
    print(f"\n{data.n_rows:,} rows, peers on one thread, families per CPU second")
    fastest = 0.0
    expected = {
        score: dict(zip(families, bd.Scorer(data, score).families(families).tolist(), strict=True))
        for score in ("bic", "bdeu")
    }
    for peer, scores in peers(data).items():
        for score, function in scores.items():
            try:
                rate, worst = peer_rate(function, families, expected[score])
            except Exception as error:  # a peer's failure is its own; the others still count
                print(f"  {peer:<10} {score:<6} failed: {type(error).__name__}: {error}")
                continue
            fastest = max(fastest, rate)
            print(f"  {peer:<10} {score:<6} {rate:12,.0f}   largest difference {worst:.2g}")
    return fastest


if __name__ == "__main__":
    main()
