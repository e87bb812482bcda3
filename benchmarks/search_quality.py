"""How good the structures of searches without proof are, beside those of other programs.

    python benchmarks/search_quality.py [--peers PYTHON] [--orders 20] [--limit 60]
        [--networks alarm,child] [--rows 1000,10000] [--seeds 2] [--random 2] [--optima 10]

Every structure is scored again by our own Scorer (BIC, natural logarithms), on data whose states
are those that occur. Prints, per sample, the best score found and how far below it each search
ends, with processor seconds. PYTHON is an interpreter that has pybnesian and pyagrum; each
peer runs its greedy search, pyagrum its tabu search too, on the columns by name and on `--orders`
random orders of the columns, of which the best counts. BESTDAG_DATA names the folder with
networks/*.bif. `--optima` compares with proved optima: BDeu, three parents, that many samples.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))
OURS = ("hill_climb", "tabu", "order", "auto")
PEERS = ("pybnesian", "pyagrum", "pyagrum_tabu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="interpreter with pybnesian and pyagrum")
    parser.add_argument("--orders", type=int, default=20, help="random orders of columns")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each search")
    parser.add_argument("--networks", default="child,insurance,alarm,hailfinder,andes")
    parser.add_argument("--rows", default="1000,10000")
    parser.add_argument("--seeds", type=int, default=2, help="samples of each size")
    parser.add_argument("--random", type=int, default=2, help="random networks of 75 variables")
    parser.add_argument("--optima", type=int, default=10, help="samples with proved optima")
    parser.add_argument("--as-peer", nargs=3, metavar=("CSV", "ORDERS", "NAMES"))
    options = parser.parse_args()
    if options.as_peer:
        _run_as_peer(*options.as_peer)
        return
    peers = PEERS if options.peers else ()
    print(f"{'sample':22}{'best BIC':>15}" + "".join(f"{name:>20}" for name in (*OURS, *peers)))
    for name, rows, columns in _samples(options):
        print(_row(f"{name} {rows}", columns, options, peers), flush=True)
    if options.optima:
        _compare_with_optima(options)


def _samples(options: argparse.Namespace) -> Any:
    from bestdag.network.network import Network

    for name in filter(None, options.networks.split(",")):
        network = Network.load(FOLDER / "networks" / f"{name}.bif")
        for rows in map(int, options.rows.split(",")):
            for seed in range(options.seeds):
                yield f"{name}/{seed}", rows, _columns(network.sample(rows, seed=seed))
    for seed in range(options.random):
        yield f"random/{seed}", 5000, random_columns(75, 5000, seed)


def _columns(dataset: Any) -> dict[str, list[str]]:
    return {
        v.name: [v.states[code] for code in dataset.codes(v.name).tolist()]
        for v in dataset.variables
    }


def random_columns(n: int, rows: int, seed: int) -> dict[str, list[str]]:
    """Rows of a random network: up to three parents among the twenty variables before."""
    rng = np.random.default_rng(seed)
    codes: list[Any] = []
    for i in range(n):
        near = np.arange(max(0, i - 20), i)
        parents = rng.choice(near, min(len(near), int(rng.integers(0, 4))), replace=False)
        configuration = np.zeros(rows, int)
        for parent in parents:
            configuration = configuration * 3 + codes[parent]
        arity = int(rng.integers(2, 4))
        table = rng.dirichlet([0.6] * arity, size=3 ** len(parents)).cumsum(axis=1)
        drawn = (table[configuration] < rng.random(rows)[:, None]).sum(axis=1)
        codes.append(drawn.clip(0, arity - 1))
    names = [f"x{k:02d}" for k in rng.permutation(n)]
    return {v: [f"s{code}" for code in c] for v, c in zip(names, codes, strict=True)}


def _row(
    name: str, columns: dict[str, list[str]], options: argparse.Namespace, peers: tuple[str, ...]
) -> str:
    from bestdag.data.readers import read
    from bestdag.graph.dag import Dag
    from bestdag.scores.scorer import Scorer

    data = read(columns)
    scorer = Scorer(data, "bic")
    ends = {search: _search(search, data, "bic", None, options.limit)[:2] for search in OURS}
    if peers:
        for peer, runs in _ask_peers(columns, options, peers).items():
            scores = [scorer.total(Dag(data.names, map(tuple, arcs))) for arcs, _ in runs]
            ends[peer] = (max(scores), float(np.median([seconds for _, seconds in runs])))
    best = max(score for score, _ in ends.values())
    cells = "".join(f"{score - best:11.2f} ({s:5.2f}s)" for score, s in ends.values())
    return f"{name:22}{best:15.2f}{cells}"


def _search(
    search: str, data: Any, score: str, max_parents: int | None, limit: float
) -> tuple[float, float, str]:
    from bestdag.scores.scorer import Scorer
    from bestdag.search import make_search
    from bestdag.search.problem import Problem

    started = time.process_time()
    problem = Problem(Scorer(data, score), max_parents=max_parents, time_limit=limit)
    found = problem.solve(make_search(search))
    return found.score, time.process_time() - started, found.status


def _ask_peers(
    columns: dict[str, list[str]], options: argparse.Namespace, peers: tuple[str, ...]
) -> dict[str, list[tuple[list[list[str]], float]]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        rows = zip(*columns.values(), strict=True)
        path.write_text("\n".join(",".join(row) for row in (tuple(columns), *rows)) + "\n")
        command = [options.peers, __file__, "--as-peer", path, str(options.orders), ",".join(peers)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[tuple[list[list[str]], float]]] = json.loads(answer.splitlines()[-1])
    return found


def _run_as_peer(path: str, orders: str, names: str) -> None:
    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False).astype("category")
    rng = np.random.default_rng(0)
    by_name = sorted(frame.columns)
    every = [by_name, *(list(rng.permutation(by_name)) for _ in range(int(orders)))]
    found: dict[str, list[Any]] = {}
    for name in names.split(","):
        found[name] = []
        for order in every:
            started = time.process_time()
            arcs = _PEERS[name](frame[order])
            found[name].append((arcs, time.process_time() - started))
    print(json.dumps(found))


def _pybnesian(frame: Any) -> list[tuple[str, str]]:
    import pybnesian

    kind = pybnesian.DiscreteBNType()
    network = pybnesian.hc(frame, bn_type=kind, score="bic", operators=["arcs"])
    return list(network.arcs())


def _pyagrum(frame: Any, tabu: bool = False) -> list[tuple[str, str]]:
    import pyagrum

    learner = pyagrum.BNLearner(frame.astype(str))
    learner.useScoreBIC()
    learner.useNoPrior()
    if tabu:
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in learner.learnDAG().arcs()]


_PEERS = {
    "pybnesian": _pybnesian,
    "pyagrum": _pyagrum,
    "pyagrum_tabu": lambda frame: _pyagrum(frame, tabu=True),
}


def _compare_with_optima(options: argparse.Namespace) -> None:
    """Print how far below proved optima the searches end: BDeu, at most three parents."""
    from bestdag.network.network import Network

    print(f"\n{'BDeu, three parents':22}{'optimum':>15}" + "".join(f"{name:>20}" for name in OURS))
    for number in range(options.optima):
        name = ("child", "insurance", "water", "alarm")[number % 4]
        rows = (320, 1280, 5120)[number % 3]
        data = Network.load(FOLDER / "networks" / f"{name}.bif").sample(rows, seed=number)
        best, _, status = _search("exact", data, "bdeu", 3, 4 * options.limit)
        cells = ""
        for search in OURS:
            score, seconds, _ = _search(search, data, "bdeu", 3, options.limit)
            cells += f"{score - best:11.2f} ({seconds:5.2f}s)"
        proved = "" if status == "optimum proved" else f"  ({status})"
        print(f"{name + '/' + str(number):16}{rows:6}{best:15.2f}{cells}{proved}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
