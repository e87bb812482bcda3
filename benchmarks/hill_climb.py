"""Hill climbing beside other programs: processor seconds and scores, one run.

Rows are sampled from the networks in the folder given. Every program gets the same rows and climbs
from the empty structure with BIC; scores are ours, of the structures they return. Peers run in the
Python given with --peers (which needs pandas and pybnesian or pyAgrum), one thread each. Ours is
shown as it is by default and as plain greedy search. Tabu and annealing follow at their defaults.
With --large also a random sparse network of so many binary variables.

Run: python benchmarks/hill_climb.py FOLDER [--peers PYTHON] [--threads 2] [--large 1000]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CASES = [
    ("alarm", 10_000),
    ("alarm", 100_000),
    ("hailfinder", 10_000),
    ("andes", 5_000),
    ("child", 5_000),
    ("insurance", 5_000),
]
_REPEATS = 3


def run_peers(path: str) -> None:
    """Print what the peers find in a CSV file, as one line of JSON. Runs in their Python."""
    import pandas as pd

    frame = pd.read_csv(path, dtype="category", keep_default_na=False)
    found: dict[str, Any] = {}
    try:
        import pybnesian as pb

        begin = time.process_time()
        model = pb.GreedyHillClimbing().estimate(
            pb.ArcOperatorSet(), pb.BIC(frame), pb.DiscreteBN(list(frame.columns))
        )
        found["pybnesian"] = (time.process_time() - begin, model.arcs())
    except ImportError:
        pass
    try:
        import pyagrum as gum

        gum.setNumberOfThreads(1)
        learner = gum.BNLearner(frame)
        begin = time.process_time()
        learner.useScoreBIC()
        learner.useGreedyHillClimbing()
        dag = learner.learnDAG()
        seconds = time.process_time() - begin
        arcs = [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in dag.arcs()]
        found["pyAgrum"] = (seconds, arcs)
    except ImportError:
        pass
    print(json.dumps(found))


def compare(folder: Path, peers: str | None, threads: int) -> None:
    """Climb on samples of known networks."""
    import bestdag as bd
    from bestdag.search.problem import Problem

    ours = {
        "ours": bd.HillClimb(),
        "ours, plain": bd.HillClimb(reinsert=False),
        "ours, tabu": bd.Tabu(),
        "ours, annealing": bd.Annealing(),
    }
    for name, n_rows in CASES:
        data = bd.Network.load(folder / f"{name}.bif").sample(n_rows, seed=1)
        print(f"{name}, {data.n_variables} variables, {n_rows:,} rows")
        lines: list[tuple[str, float, float, int]] = []
        for label, search in ours.items():
            best = float("inf")
            for _ in range(_REPEATS):
                scorer = bd.Scorer(data, "bic", threads=threads)
                begin = time.process_time()
                found = Problem(scorer).solve(search)
                best = min(best, time.process_time() - begin)
            lines.append((label, best, found.score, len(found.dag.arcs)))
        if peers is not None:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "rows.csv"
                data.to_pandas().to_csv(path, index=False)
                command = [peers, __file__, "--peer-run", str(path)]
                shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            for label, (seconds, arcs) in json.loads(shown.splitlines()[-1]).items():
                dag = bd.Dag(data.names, [tuple(arc) for arc in arcs])
                lines.append((label, seconds, scorer.total(dag), len(arcs)))
        for label, seconds, score, n_arcs in lines:
            ratio, better = seconds / lines[0][1], score - lines[0][2]
            print(
                f"  {label:16} {seconds:8.4f} s CPU  {ratio:6.1f} x   "
                f"score {score:14.2f} ({better:+9.2f})  {n_arcs} arcs"
            )


def large(n_variables: int, threads: int) -> None:
    """Climb on a random sparse network of binary variables with 10,000 rows."""
    import numpy as np

    import bestdag as bd
    from bestdag.search.problem import Problem

    rng = np.random.default_rng(1)
    columns: list[np.ndarray] = []
    for i in range(n_variables):
        near = np.arange(max(0, i - 30), i)
        parents = rng.choice(near, size=min(len(near), int(rng.integers(0, 4))), replace=False)
        number = np.zeros(10_000, int)
        for parent in parents:
            number = number * 2 + columns[parent]
        share = rng.beta(0.5, 0.5, size=2 ** len(parents))
        columns.append((rng.random(10_000) < share[number]).astype(np.uint8))
    variables = [bd.Variable(f"v{i:05d}", ("0", "1")) for i in range(n_variables)]
    data = bd.Dataset(variables, columns)
    for search in (bd.HillClimb(reinsert=False), bd.HillClimb(), bd.HillClimb(candidates=20)):
        begin, cpu = time.perf_counter(), time.process_time()
        found = Problem(bd.Scorer(data, "bic", threads=threads)).solve(search)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{n_variables:,} binary variables, {search}: {found.status}, score {found.score:.1f}, "
            f"{time.perf_counter() - begin:.1f} s, {time.process_time() - cpu:.1f} s CPU, "
            f"at most {peak} MB so far"
        )


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="folder with *.bif")
    parser.add_argument("--peers", help="Python that has the other programs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--large", type=int, help="number of variables of the random network")
    parser.add_argument("--peer-run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer_run:
        run_peers(given.peer_run)
        return
    if given.folder:
        compare(Path(given.folder), given.peers, given.threads)
    if given.large:
        large(given.large, given.threads)


if __name__ == "__main__":
    sys.exit(main())
