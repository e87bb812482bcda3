"""How good structures and parameters are when values are missing, by way of treating them.

    python benchmarks/incomplete.py FOLDER [--rows 2000] [--repeats 3] [--score bic]
        [--networks alarm insurance child] [--shares 5 10 20 40] [--masks mcar mar]
        [--ways drop state available pnal em]

FOLDER has the networks as NAME.bif. Rows are drawn from each, cells are taken away, and a structure
is learned by hill climbing; printed are means over the repeats, as Markdown: SHD between the
equivalence classes, links in which the moral graphs differ, and the Kullback-Leibler divergence
from the true network to the fitted one in nats, estimated on 20,000 complete rows.

Masks: `mcar` takes each cell with the same probability. `mar` leaves every fourth column whole;
each other column has one of these as its cause, and where the cause is in the upper half of its
states a value is missing three times as often as elsewhere. The share is that of all cells.

Ways: `available` is missing="available" with the score given, `pnal` the same with the score PNAL;
the others are those of `learn`. With `state` a network has more states than the true one: its
divergence is that of what it says given that no value is missing. Where no row is complete `drop`
has no result. Ways that this version does not have are left out.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

import bestdag as bd
from bestdag.data.dataset import Dataset
from bestdag.data.missing import complete_rows
from bestdag.incomplete import TREATMENTS
from bestdag.learned import Result
from bestdag.network.network import Network

N_TEST = 20_000
MEASURES = ("SHD", "moral", "KL", "CPU s")


def holes(data: Dataset, share: float, mask: str, seed: int) -> npt.NDArray[np.bool_]:
    """Say which cells are taken away, rows x columns in name order."""
    rng = np.random.default_rng(seed)
    names = sorted(data.names)
    drawn = rng.random((data.n_rows, len(names)))
    if mask == "mcar":
        return drawn < share
    order = rng.permutation(len(names))
    whole, rest = order[::4], np.setdiff1d(order, order[::4])
    each = share * len(names) / len(rest)
    taken = np.zeros(drawn.shape, bool)
    for j in rest:
        cause = names[rng.choice(whole)]
        is_upper = 2 * data.codes(cause).astype(int) >= data.arities[cause]
        h = is_upper.mean()
        low = each / (1 + 2 * h)
        high = min(3 * low, 0.95)
        if h < 1:
            low = min((each - h * high) / (1 - h), 0.95)
        taken[:, j] = drawn[:, j] < np.where(is_upper, high, low)
    return taken


def without(data: Dataset, taken: npt.NDArray[np.bool_]) -> Dataset:
    """Return the rows with these cells missing."""
    columns = []
    for j, name in enumerate(sorted(data.names)):
        codes = data.codes(name).copy()
        codes[taken[:, j]] = data.arities[name]
        columns.append(codes)
    return Dataset([data.variable(name) for name in sorted(data.names)], columns)


def learned(data: Dataset, way: str, score: str) -> Result | None:
    """Learn by hill climbing; None where no row is left."""
    settings = {"search": "hill_climb"}
    if way == "drop":
        complete = complete_rows(data)
        return bd.learn(data.select(rows=complete), score, **settings) if complete.any() else None
    if way == "pnal":
        return bd.learn(data, "pnal", missing="available", **settings)
    return bd.learn(data, score, missing=way, **settings)


def divergence(true: Network, found: Network, test: Dataset) -> float:
    """Estimate the divergence of what a network says given that no value is missing."""
    shown = {v.name: v.states for v in true.variables}
    more = {v.name: v.states for v in found.variables if v.states != shown[v.name]}
    log_shown = 0.0
    if more:
        likelihood = {
            name: {state: float(state != "missing") for state in states}
            for name, states in more.items()
        }
        log_shown = found.probability(likelihood=likelihood, log=True)
    same = test.with_states({v.name: v.states for v in found.variables})
    gap = true.log_probability(test) - found.log_probability(same)
    return float(np.mean(gap)) + log_shown


def measured(true: Network, data: Dataset, test: Dataset, way: str, score: str) -> list[float]:
    """Return SHD, moral mismatches, divergence and CPU seconds; NaN where there is no result."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bd.DataWarning)
        result = learned(data, way, score)
        if result is None:
            return [math.nan] * len(MEASURES)
        seconds = time.process_time() - start
        network = result.fit()
    compared = bd.compare(true, result.dag)
    apart = divergence(true, network, test)
    return [compared.shd_cpdag, compared.moral_mismatches, apart, seconds]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--score", default="bic")
    parser.add_argument("--networks", nargs="+", default=["alarm", "insurance", "child"])
    parser.add_argument("--shares", nargs="+", type=float, default=[5, 10, 20, 40])
    parser.add_argument("--masks", nargs="+", default=["mcar", "mar"])
    parser.add_argument("--ways", nargs="+", default=["drop", "state", "available", "pnal", "em"])
    given = parser.parse_args()
    ways = [way for way in given.ways if way == "pnal" or way in TREATMENTS]
    print("| network | mask | missing | complete rows |", *(f" {way} |" for way in ways), sep="")
    print("|---|---|---|---|", *("---|" for _ in ways), sep="")
    for name in given.networks:
        true = Network.load(given.folder / f"{name}.bif")
        test = true.sample(N_TEST, seed=10_000)
        for mask, share in [("none", 0), *((m, s) for m in given.masks for s in given.shares)]:
            found = defaultdict(list)
            n_complete = []
            for repeat in range(given.repeats):
                data = true.sample(given.rows, seed=repeat)
                if share:
                    data = without(data, holes(data, share / 100, mask, seed=repeat))
                n_complete.append(int(complete_rows(data).sum()))
                for way in ways if share else ["drop", "pnal"]:
                    if way in ways:
                        found[way].append(measured(true, data, test, way, given.score))
            print(
                f"| {name} | {mask} | {share:g} % | {np.mean(n_complete):,.0f} |",
                *(f" {shown(found[way])} |" for way in ways),
                sep="",
                flush=True,
            )


def shown(rows: list[list[float]]) -> str:
    """Write the means of the measures."""
    if not rows:
        return ""
    kept = [row for row in rows if not math.isnan(row[0])]
    if not kept:
        return "none"
    shd, moral, apart, seconds = np.mean(kept, axis=0)
    return f"{shd:.1f} / {moral:.1f} / {apart:.3f} / {seconds:.2f} s"


if __name__ == "__main__":
    main()
