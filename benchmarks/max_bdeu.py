"""What Max-BDeu costs: nanoseconds per parent configuration, and families per second.

Run: python benchmarks/max_bdeu.py
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from bestdag import BIC, BDeu, Dataset, MaxBDeu, MinBDeu, Variable, _core
from bestdag.counts.engine import CountingEngine
from bestdag.scores.engine import NativeScores

N_CONFIGURATIONS = 20_000


def fastest(work: Callable[[], object], repeats: int = 7) -> float:
    """Processor seconds of the fastest of a few runs: the others were disturbed."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def variable(name: str, arity: int) -> Variable:
    return Variable(name, tuple(map(str, range(arity))))


def one_large_family(counts: np.ndarray) -> CountingEngine:
    """Make a table whose family x given y has these counts, one row of data per cell."""
    n_configurations, arity = counts.shape
    x = np.tile(np.arange(arity, dtype=np.uint8), n_configurations)
    y = np.repeat(np.arange(n_configurations, dtype=np.uint16), arity)
    variables = [variable("x", arity), variable("y", n_configurations)]
    return CountingEngine(Dataset(variables, [x, y], counts.ravel().astype(np.int64)), threads=1)


def per_configuration(rng: np.random.Generator) -> None:
    scores = (BIC, BDeu, MinBDeu, MaxBDeu)
    print(f"ns per configuration, one thread, {N_CONFIGURATIONS:,} configurations of random counts")
    print("prior: the solver of max_bdeu alone, to 14 digits; scores: with the counting")
    names = "".join(f"{score.name:>10}" for score in scores)
    print(f"{'states':>6} {'counts to':>9} {'beta':>7} {'prior':>9}{names}")
    for largest, beta, arity in itertools.product((5, 50, 5_000), (1.0, 1 / 27), (2, 3, 4, 5)):
        counts = np.floor(largest * rng.random((N_CONFIGURATIONS, arity)) ** 2) + 1
        totals, epsilons = np.full(N_CONFIGURATIONS, beta), np.full(N_CONFIGURATIONS, 0.5)
        work = [partial(_core.max_bdeu_priors, counts, totals, epsilons, np.empty(counts.shape))]
        engine = one_large_family(counts)
        for score in scores:
            settings = {} if score is BIC else {"ess": beta * N_CONFIGURATIONS}
            native = NativeScores(engine, score(**settings).kernel())
            work.append(partial(native.families, [("x", ["y"])]))
        cost = "".join(f"{1e9 * fastest(w) / N_CONFIGURATIONS:>10.0f}" for w in work)
        print(f"{arity:>6} {largest:>9,} {beta:>7.3f}{cost}")


def chain(rng: np.random.Generator, n_rows: int, n_variables: int) -> Dataset:
    """Columns of 2 to 4 skewed states, each copied from the last in two rows of three."""
    columns: list[np.ndarray] = []
    arities = [2 + i % 3 for i in range(n_variables)]
    for arity in arities:
        fresh = np.floor(arity * rng.random(n_rows) ** 2)
        if columns:
            is_copied = rng.random(n_rows) < 2 / 3
            fresh = np.where(is_copied, np.minimum(columns[-1], arity - 1), fresh)
        columns.append(fresh.astype(np.uint8))
    return Dataset([variable(f"v{i:02}", r) for i, r in enumerate(arities)], columns)


def per_family(rng: np.random.Generator) -> None:
    print("\nfamilies per second with at most 3 parents of 20 variables, one thread")
    scores = (BIC(), BDeu(), MinBDeu(), MaxBDeu())
    print(f"{'rows':>7}" + "".join(f"{score.name:>12}" for score in scores))
    for n_rows in (500, 1_000, 10_000):
        dataset = chain(rng, n_rows, 20)
        engine = CountingEngine(dataset, threads=1)
        families = [
            (child, parents)
            for child in dataset.names
            for k in range(4)
            for parents in itertools.combinations([n for n in dataset.names if n != child], k)
        ]
        arrays, out = engine.encode(families), np.empty(len(families))
        rates = []
        for score in scores:
            run = partial(_core.score_families, engine.table, score.kernel(), *arrays, out, 1)
            rates.append(len(families) / fastest(run, repeats=3))
        print(f"{n_rows:>7,}" + "".join(f"{rate:>12,.0f}" for rate in rates))


def main() -> None:
    rng = np.random.default_rng(0)
    per_configuration(rng)
    per_family(rng)


if __name__ == "__main__":
    main()
