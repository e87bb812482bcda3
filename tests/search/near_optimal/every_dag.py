"""All DAGs of a few variables with their scores: the slow road."""

from __future__ import annotations

import math

import numpy as np

from bestdag import Dag, Scorer, read
from bestdag.graph.enumeration import all_dags


def random_data(n, seed, n_rows=60):
    """Columns that depend on each other, some with three states."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, n_rows)]
    for i in range(1, n):
        copied = columns[rng.integers(0, i)]
        columns.append(
            np.where(rng.random(n_rows) < 0.6, copied, rng.integers(0, 2 + i % 2, n_rows))
        )
    return read({f"v{i}": [str(value) for value in column] for i, column in enumerate(columns)})


def ranked(data, score, allows=lambda dag: True, support=0.0) -> list[tuple[float, Dag]]:
    """Every DAG that is allowed and has support, best first."""
    scorer = Scorer(data, score, support=support)
    names = sorted(variable.name for variable in data.variables)
    tables = {
        name: {
            frozenset(parents): value
            for parents, value in _families(
                scorer, name, [other for other in names if other != name]
            )
        }
        for name in names
    }
    found = [
        (sum(tables[node][frozenset(dag.parents(node))] for node in names), dag)
        for dag in all_dags(names)
        if allows(dag)
    ]
    return sorted((one for one in found if one[0] > -math.inf), key=lambda pair: -pair[0])


def _families(scorer, child, others):
    for mask in range(2 ** len(others)):
        parents = [other for i, other in enumerate(others) if mask >> i & 1]
        yield parents, scorer.family(child, parents)


def class_scores(every) -> list[float]:
    """The best score of each class, best first."""
    best: dict[object, float] = {}
    for score, dag in every:
        best.setdefault(dag.cpdag(), score)
    return sorted(best.values(), reverse=True)
