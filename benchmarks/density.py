"""How good structures of large tables are after some seconds, search by search.

    python benchmarks/density.py [--tables nltcs,plants,jester,accidents,dna] [--scores bic,bdeu]
        [--limits 1,10,60] [--searches hill_climb,tabu,annealing,order] [--networks alarm:1000]
        [--random 500:5000]

Prints, for each table, score and limit in seconds, the best score found and how many nats each
search ends below it, with the seconds it took. BESTDAG_DATA names the folder with density/*.csv.gz
and networks/*.bif; NETWORK:ROWS samples one of these, N:ROWS a random network of N binary
variables.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bestdag.data.readers import read
from bestdag.network.network import Network
from bestdag.scores.scorer import Scorer
from bestdag.search import make_search
from bestdag.search.problem import Problem

FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="nltcs,plants,jester,accidents,dna")
    parser.add_argument("--networks", default="")
    parser.add_argument("--random", default="")
    parser.add_argument("--scores", default="bic,bdeu")
    parser.add_argument("--limits", default="1,10,60")
    parser.add_argument("--searches", default="hill_climb,tabu,annealing,order")
    options = parser.parse_args()
    searches = options.searches.split(",")
    head = f"{'table':20}{'score':>7}{'limit':>7}{'best':>15}"
    print(head + "".join(f"{name:>22}" for name in searches))
    for name, data in _tables(options):
        for score in options.scores.split(","):
            scorer = Scorer(data, score)
            for limit in map(float, options.limits.split(",")):
                print(_row(name, scorer, limit, searches), flush=True)


def _row(name: str, scorer: Scorer, limit: float, searches: list[str]) -> str:
    ends = [Problem(scorer, time_limit=limit).solve(make_search(search)) for search in searches]
    best = max(found.score for found in ends)
    cells = "".join(f"{found.score - best:12.2f} ({found.seconds:6.2f}s)" for found in ends)
    return f"{name:20}{scorer.score.name:>7}{limit:7.1f}{best:15.2f}{cells}"


def _tables(options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    warnings.simplefilter("ignore")  # columns with one state
    for name in filter(None, options.tables.split(",")):
        yield name, read(FOLDER / "density" / f"{name}.train.csv.gz")
    for text in filter(None, options.networks.split(",")):
        name, rows = text.split(":")
        network = Network.load(FOLDER / "networks" / f"{name}.bif")
        yield text, network.sample(int(rows), seed=0)
    for text in filter(None, options.random.split(",")):
        n, rows = map(int, text.split(":"))
        yield text, read(_random_columns(n, rows))


def _random_columns(n: int, rows: int) -> dict[str, list[str]]:
    """Rows of a random network: up to four parents among the forty variables before."""
    rng = np.random.default_rng(n)
    codes: list[Any] = []
    for i in range(n):
        near = np.arange(max(0, i - 40), i)
        parents = rng.choice(near, min(len(near), int(rng.integers(0, 5))), replace=False)
        configuration = np.zeros(rows, int)
        for parent in parents:
            configuration = configuration * 2 + codes[parent]
        share = rng.beta(0.6, 0.6, size=2 ** len(parents))
        codes.append((rng.random(rows) < share[configuration]).astype(int))
    names = [f"x{k:04d}" for k in rng.permutation(n)]
    return {v: list(map(str, c.tolist())) for v, c in zip(names, codes, strict=True)}


if __name__ == "__main__":
    sys.exit(main())
