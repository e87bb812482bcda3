"""From data in memory to a proven optimum: parent sets are listed and the structure is found.

    python benchmarks/exact_from_data.py [--repeat N]

BDeu, at most 3 parents, rows sampled from published networks. Prints, per data set, the best of N
runs: wall and processor seconds for the table of parent sets and for the search, and the time we
want to reach. `pygobnilp` is run beside it when it is installed. BESTDAG_DATA names the folder with
`networks/`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
import time
from pathlib import Path

from bestdag.data.dataset import Dataset
from bestdag.network.network import Network
from bestdag.scores.scorer import Scorer
from bestdag.search.exact.search import Exact
from bestdag.search.problem import Problem

FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))

# Network, rows, seconds to reach on two cores.
CASES = (("child", 5_000, 0.3), ("alarm", 1_000, 2.0))
MAX_PARENTS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    print(
        f"{'data':14}{'table s':>9}{'total s':>9}{'cpu s':>8}{'reach':>7}{'sets':>9}"
        "  status, engine, score"
    )
    for name, n_rows, reach in CASES:
        data = Network.load(FOLDER / "networks" / f"{name}.bif").sample(n_rows, seed=1)
        line = min((_run(data) for _ in range(arguments.repeat)), key=lambda run: run[1])
        table, total, cpu, n_sets, outcome = line
        print(
            f"{name + ' ' + format(n_rows, ','):14}{table:9.3f}{total:9.3f}{cpu:8.3f}{reach:7.1f}"
            f"{n_sets:9,}  {outcome}",
            flush=True,
        )
        if importlib.util.find_spec("pygobnilp") is not None:
            print(f"{'':14}{'pygobnilp':>9}{_by_gobnilp(data)}", flush=True)


def _run(data: Dataset) -> tuple[float, float, float, int, str]:
    wall, cpu = time.monotonic(), time.process_time()
    scorer = Scorer(data, "bdeu")
    problem = Problem(scorer, max_parents=MAX_PARENTS)
    table = problem.table()
    listed = time.monotonic() - wall
    found = Problem(table).solve(Exact())
    total, cpu = time.monotonic() - wall, time.process_time() - cpu
    return listed, total, cpu, table.n_sets, f"{found.status}, {found.engine}, {found.score:.4f}"


def _by_gobnilp(data: Dataset) -> str:
    from pygobnilp.gobnilp import Gobnilp

    rows = zip(*(data.codes(name).tolist() for name in data.names), strict=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.dat"
        path.write_text(
            "\n".join(
                [
                    " ".join(data.names),
                    " ".join(str(variable.arity) for variable in data.variables),
                    *(" ".join(map(str, row)) for row in rows),
                ]
            )
        )
        start = time.monotonic()
        try:
            Gobnilp().learn(
                str(path), data_type="discrete", score="BDeu", palim=MAX_PARENTS, plot=False
            )
        except Exception as error:  # its solver's licence and interface change from year to year
            return f"  failed: {type(error).__name__}: {error}"
        return f"{time.monotonic() - start:9.3f}"


if __name__ == "__main__":
    main()
