"""Complete lists of parent sets, rung by rung: families, seconds, forecast and what stays.

    python benchmarks/parent_sets.py [--tables dna,plants,jester,accidents] [--networks alarm:1000]
        [--wide 1000:5000] [--scores bic,bdeu,qnml] [--most 3] [--threads 1,2]

BESTDAG_DATA names the folder with density/*.csv.gz and networks/*.bif; NETWORK:ROWS samples one of
these, N:ROWS a random network of N binary variables. Processor time suffers less from other work on
the machine than seconds do; the forecast of a rung is what was expected of it after the one before.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.data.schema import Variable
from bestdag.network.network import Network
from bestdag.scores.parent_sets.limits import ParentLimits, all_but
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.scorer import Scorer

FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="plants,jester,accidents,dna")
    parser.add_argument(
        "--networks", default="alarm:1000,alarm:10000,hailfinder:1000,hailfinder:10000,andes:1000"
    )
    parser.add_argument("--wide", default="")
    parser.add_argument("--scores", default="bic,bdeu,qnml")
    parser.add_argument("--most", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for label, data in tables(options):
        for score in options.scores.split(","):
            for threads in map(int, options.threads.split(",")):
                measure(label, data, score, options.most, threads)


def tables(options: argparse.Namespace) -> Iterator[tuple[str, Dataset]]:
    for name in filter(None, options.networks.split(",")):
        network, n_rows = name.split(":")
        path = next((FOLDER / "networks").glob(f"{network}.bif*"))
        yield name, Network.load(path).sample(int(n_rows), seed=1)
    for name in filter(None, options.tables.split(",")):
        yield name, read(FOLDER / "density" / f"{name}.train.csv.gz")
    for name in filter(None, options.wide.split(",")):
        n, n_rows = map(int, name.split(":"))
        yield f"random {name}", random_rows(n, n_rows)


def random_rows(n_variables: int, n_rows: int) -> Dataset:
    """Binary columns, most of which follow two of the twenty before them."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2, n_rows)]
    for i in range(1, n_variables):
        one, other = (columns[k] for k in rng.integers(max(0, i - 20), i, 2))
        codes = one & other if i % 3 else one ^ other
        columns.append(np.where(rng.random(n_rows) < 0.8, codes, rng.integers(0, 2, n_rows)))
    variables = [Variable(f"v{i:04}", ("0", "1")) for i in range(n_variables)]
    return Dataset(variables, [codes.astype(np.uint8) for codes in columns])


def measure(label: str, data: Dataset, score: str, most: int, threads: int) -> None:
    scorer = Scorer(data, score, threads=threads)
    n = len(scorer.names)
    limits = [ParentLimits((), all_but(i, n), min(most, n - 1)) for i in range(n)]
    listing = ParentSetListing(scorer, limits)
    for k in range(1, most + 1):
        forecast = listing.forecast(k)
        start, cpu_start = time.perf_counter(), time.process_time()
        listing.run(max_parents=k)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
        state = "" if listing.is_complete_at(k) else "  INCOMPLETE"
        if k == most or state:
            start = time.perf_counter()
            table = listing.table_at(k)
            print(
                f"{label:<18}{n:>5} x {scorer.n_rows:<7,}{score:>6}{k:>3} parents"
                f"{threads:>3} threads{forecast.n_families:>14,} families"
                f"{seconds:>8.2f} s{cpu:>8.2f} s cpu  forecast{forecast.seconds:>8.2f} s"
                f"{table.n_sets:>12,} sets, table in {time.perf_counter() - start:.2f} s{state}",
                flush=True,
            )


if __name__ == "__main__":
    main()
