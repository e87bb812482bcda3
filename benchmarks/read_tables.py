"""Time of making a Dataset of large tables, beside pandas and polars making categories of them.

    python benchmarks/read_tables.py [--rows 1000000] [--network alarm.bif] [--repeat 3]

Rows are sampled from a network of `../shared/data/networks`, or of the folder in BESTDAG_DATA, and
written as CSV and Parquet; frames of pandas, polars and Arrow hold the same texts. Each figure is
the least of some repetitions: seconds, and seconds of processor time, which a busy machine changes
less.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import bestdag

_DATA = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--network", default="alarm.bif")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sampled = bestdag.load(_DATA / "networks" / args.network).sample(args.rows, seed=1)
    print(f"{args.rows:,} rows of {args.network}, {sampled.n_variables} columns; seconds (CPU)")
    with tempfile.TemporaryDirectory() as folder:
        for what, table, others in tables(sampled, Path(folder)):
            ours = measured(lambda table=table: bestdag.read(table), args.repeat)
            theirs = "".join(
                f"   {name} {measured(work, args.repeat)}" for name, work in others.items()
            )
            print(f"{what:22} bestdag {ours}{theirs}", flush=True)


def tables(
    data: bestdag.Dataset, folder: Path
) -> list[tuple[str, Any, dict[str, Callable[[], Any]]]]:
    """Return what is read, and what other packages make categories of."""
    csv, parquet = folder / "rows.csv", folder / "rows.parquet"
    data.to_csv(csv)
    texts = data.to_polars().with_columns(pl.all().cast(pl.String))
    texts.write_parquet(parquet)
    categorical = data.to_pandas()
    objects = categorical.astype(object)
    plain = categorical.astype("str")
    numbers = np.stack([data.codes(name) for name in data.names], axis=1).astype(np.int64)

    def of_pandas(frame: pd.DataFrame) -> dict[str, Callable[[], Any]]:
        return {"pandas": lambda: frame.astype("category")}

    def of_polars() -> Any:
        return texts.with_columns(pl.all().cast(pl.Categorical))

    return [
        (
            "CSV",
            csv,
            {
                "pandas": lambda: pd.read_csv(csv, dtype="category"),
                "polars": lambda: pl.read_csv(
                    csv, schema=dict.fromkeys(data.names, pl.Categorical)
                ),
            },
        ),
        (
            "Parquet",
            parquet,
            {
                "pandas": lambda: pd.read_parquet(parquet).astype("category"),
                "polars": lambda: pl.read_parquet(parquet).with_columns(
                    pl.all().cast(pl.Categorical)
                ),
            },
        ),
        ("pandas, objects", objects, of_pandas(objects)),
        ("pandas, text", plain, of_pandas(plain)),
        ("pandas, categories", categorical, {}),
        ("polars, text", texts, {"polars": of_polars}),
        ("polars, Enum", data.to_polars(), {}),
        ("Arrow, text", texts.to_arrow(), {}),
        ("Arrow, dictionaries", data.to_arrow(), {}),
        ("NumPy, whole numbers", numbers, {}),
        ("dict of lists", {name: objects[name].tolist() for name in data.names}, {}),
    ]


def measured(work: Callable[[], Any], repeat: int) -> str:
    """Return the least seconds and seconds of processor time of some runs."""
    walls, cpus = [], []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return f"{min(walls):5.2f} ({min(cpus):5.2f})"


if __name__ == "__main__":
    main()
