"""Which score `learn` uses by default: a gate on noise, then loss on held-out rows and SHD.

    python benchmarks/default_score.py noise                       # arcs among independent columns
    python benchmarks/default_score.py tables --data ../shared/data    # UCI tables: held-out loss
    python benchmarks/default_score.py networks --data ../shared/data  # networks: loss and SHD

A candidate passes the gate when it finds at most 0.5 arcs on average, in every kind of noise.
"""

from __future__ import annotations

import argparse
import itertools
import time
import tomllib
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

import bestdag as bd

# Scores, and scores with the sparse prior.
SCORES = ["qnml", "bic", "bdeu", "fnml", "mit", "qnml+", "bic+", "bdeu+", "fnml+"]
SUPPORTS = [5.0, 0.0]
SECONDS = 1.0
# Columns that only name the rows.
IDS = {
    "breast-cancer-wisconsin": ["sample_code"],
    "glass": ["id"],
}


def _ids(name):
    return IDS.get(name.partition(".")[0], [])


def columns(rng, kind, states, n_rows, n_columns):
    """Independent columns: uniform, skewed (geometric shares), or normal cut at quantiles."""
    if kind == "cut":
        table = {f"x{i}": rng.normal(size=n_rows) for i in range(n_columns)}
        return bd.discretize(table, method="quantile", bins=states)
    shares = np.ones(states) if kind == "uniform" else 0.5 ** np.arange(states)
    shares = shares / shares.sum()
    table = {
        f"x{i}": [str(v) for v in rng.choice(states, size=n_rows, p=shares)]
        for i in range(n_columns)
    }
    return bd.read(table)


def learned(data, score, support):
    """Learn as `learn` does, by a score with or without the sparse prior."""
    prior = "sparse" if score.endswith("+") else "uniform"
    name = score.rstrip("+")
    return bd.learn(data, name, structure_prior=prior, support=support, time_limit=SECONDS)


def noise(repeats):
    """Arcs of what is learned from independent columns: mean, and most parents."""
    found = defaultdict(list)
    kinds = ["uniform", "skewed", "cut"]
    sizes = itertools.product(kinds, [2, 3, 4, 5], [50, 100, 200, 500, 1000, 5000], [5, 10, 20, 30])
    for kind, states, n_rows, n_columns in sizes:
        for repeat in range(repeats):
            rng = np.random.default_rng([states, n_rows, n_columns, repeat])
            data = columns(rng, kind, states, n_rows, n_columns)
            for support, score in itertools.product(SUPPORTS, SCORES):
                if support == 0.0 and n_columns > 10:
                    continue
                result = learned(data, score, support)
                most = max(len(result.dag.parents(v)) for v in result.dag.nodes)
                found[support, kind, n_rows, score].append((len(result.dag.arcs), most))
    for support in SUPPORTS:
        print(f"\nsupport {support:g}: mean arcs (most parents) on independent columns")
        print("kind     rows  " + "".join(f"{score:>14}" for score in SCORES))
        for kind in kinds:
            for n_rows in sorted({key[2] for key in found}):
                cells = []
                for score in SCORES:
                    values = found[support, kind, n_rows, score]
                    mean = np.mean([arcs for arcs, _ in values])
                    cells.append(f"{mean:8.2f} ({max(most for _, most in values):2d})")
                print(f"{kind:8s}{n_rows:5d}  " + "".join(f"{cell:>14}" for cell in cells))
        mean = [
            np.mean(
                [
                    arcs
                    for key, values in found.items()
                    if key[0] == support and key[3] == score
                    for arcs, _ in values
                ]
            )
            for score in SCORES
        ]
        print("all          " + "".join(f"{value:14.3f}" for value in mean))


def losses(train, test, truth=None):
    """Held-out loss by fsNML per row, and SHD of the classes, for each score and support."""
    out = {}
    for support, score in itertools.product(SUPPORTS, SCORES):
        result = learned(train, score, support)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = result.fit("fsnml")
        shd = None if truth is None else bd.compare(truth, result.dag).shd_cpdag
        out[support, score] = network.log_loss(test), shd
    return out


def show(rows, sizes, with_shd):
    """Per cent of loss above the least of the trial, and SHD; means by number of rows."""
    for size in sizes:
        trials = rows[size]
        if not trials:
            continue
        print(
            f"\n{size} rows, {len(trials)} trials: loss above the least, %"
            + (", SHD" if with_shd else "")
        )
        for support in SUPPORTS:
            cells = []
            for score in SCORES:
                extra = [
                    100.0 * (t[support, score][0] / min(v[0] for v in t.values()) - 1.0)
                    for t in trials
                ]
                text = f"{np.mean(extra):.2f}"
                if with_shd:
                    text += f" {np.mean([t[support, score][1] for t in trials]):.1f}"
                cells.append(text)
            print(f"support {support:g}  " + "".join(f"{c:>14}" for c in cells))


def tables(folder, repeats):
    """UCI tables without missing rows, cut by quantiles, learned from parts of their rows."""
    rows = defaultdict(list)
    sizes = [100, 500, 2000]
    for path in sorted(Path(folder, "uci").glob("*.csv*")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = bd.discretize(path, method="quantile", missing="drop", drop=_ids(path.name))
        except bd.BestdagError as error:
            print(f"{path.name}: {error}"[:110])
            continue
        if len(data.names) > 40:
            continue
        for size, repeat in itertools.product(sizes, range(repeats)):
            if data.n_rows < 1.5 * size:
                continue
            order = np.random.default_rng([size, repeat]).permutation(data.n_rows)
            train = data.select(rows=order[:size])
            test = data.select(rows=order[size : size + 20_000])
            rows[size].append(losses(train, test))
    print("scores:", *SCORES)
    show(rows, sizes, False)


def networks(folder, repeats):
    """Learn from samples of networks of at most 40 variables."""
    rows = defaultdict(list)
    sizes = [50, 100, 200, 500, 1000, 5000]
    index = tomllib.loads(Path(folder, "networks", "index.toml").read_text())
    for path in sorted(Path(folder, "networks").rglob("*.bif*")):
        network = bd.Network.load(path)
        if len(network.variables) > 40:
            continue
        test = network.sample(10_000, seed=1)
        for size, repeat in itertools.product(sizes, range(repeats)):
            train = network.sample(size, seed=100 + repeat)
            rows[size].append(losses(train, test, network.dag))
    print("scores:", *SCORES, len(index))
    show(rows, sizes, True)


def main():
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["noise", "tables", "networks"])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    begun = time.monotonic()
    if given.part == "noise":
        noise(given.repeats)
    else:
        {"tables": tables, "networks": networks}[given.part](given.data, given.repeats)
    print(f"\n{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
