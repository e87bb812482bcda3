"""Fitting the parameters of a TAN-like structure: 1,000,000 rows, a class and 19 attributes.

Every attribute has the class and the attribute before it as parents; arities are 2 to 5.
Prints processor seconds and wall seconds, the best of three, for each estimator.

    .venv/bin/python benchmarks/fit_network.py [threads]
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import numpy as np

import bestdag as bd
from bestdag.parameters import ESTIMATORS

N_ROWS, N_COLUMNS = 1_000_000, 20


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else None
    rng = np.random.default_rng(0)
    names = [f"v{i:02}" for i in range(N_COLUMNS)]
    variables = [bd.Variable(n, tuple("abcde"[: 2 + i % 4])) for i, n in enumerate(names)]
    columns = [rng.integers(0, v.arity, N_ROWS, dtype=np.uint8) for v in variables]
    data = bd.Dataset(variables, columns)
    attributes = names[1:]
    arcs = [(names[0], name) for name in attributes]
    arcs += pairwise(attributes)
    dag = bd.Dag(names, arcs)
    for name in ESTIMATORS:
        walls, processors = [], []
        for _ in range(3):
            wall, processor = time.perf_counter(), time.process_time()
            network = bd.fit_network(dag, data, name, threads=threads)
            walls.append(time.perf_counter() - wall)
            processors.append(time.process_time() - processor)
        print(
            f"{name:10} {min(processors):.3f} s processor, {min(walls):.3f} s wall, "
            f"{network.n_parameters:,} parameters"
        )


if __name__ == "__main__":
    main()
