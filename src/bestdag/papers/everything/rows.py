"""Rows of `everything` as ranks among scores on the same rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bestdag.papers.study import Row

__all__ = [
    "CLASSES",
    "LARGE_NETWORKS",
    "MEASURED",
    "NETWORKS",
    "SCORES",
    "excess_by_size",
    "ranks_by_rows",
    "ranks_by_size",
    "size_class",
]

SCORES: dict[str, tuple[str, dict[str, Any]]] = {
    "LL": ("ll", {}),
    "AIC": ("aic", {}),
    "BIC": ("bic", {}),
    "HQC": ("hqc", {}),
    "MIT(0.99)": ("mit", {"confidence": 0.99}),
    "K2": ("k2", {}),
    "BD1/2": ("bd", {"pseudo_count": 0.5}),
    "BDeu(1)": ("bdeu", {"ess": 1.0}),
    "Min-BDeu": ("min_bdeu", {"epsilon": 0.5}),
    "Max-BDeu": ("max_bdeu", {"epsilon": 0.5}),
    "BDq": ("bdq", {}),
    "fNML": ("fnml", {}),
    "qNML": ("qnml", {}),
}
NETWORKS = (
    "asia",
    "cancer",
    "earthquake",
    "sachs",
    "survey",
    "child",
    "insurance",
    "water",
    "alarm",
)
# Of 35 to 724 nodes: the best structure is not proved in the time a trial has.
LARGE_NETWORKS = (
    "mildew",
    "barley",
    "hailfinder",
    "pathfinder",
    "munin1",
    "andes",
    "diabetes",
    "pigs",
    "link",
)
MEASURED = ("loss", "shd", "moral", "arcs", "parameters")
# Numbers of training rows: up to the first, up to the second, more.
CLASSES = {"up to 100 rows": 100, "101 to 1,000 rows": 1000, "more than 1,000 rows": np.inf}


def size_class(n_train: int) -> str:
    """Return which of CLASSES a number of rows belongs to.

    Examples
    --------
    >>> size_class(100), size_class(101)
    ('up to 100 rows', '101 to 1,000 rows')
    """
    return next(name for name, most in CLASSES.items() if n_train <= most)


def ranks_by_size(rows: Sequence[Row], measure: str, part: str = "") -> dict[str, np.ndarray]:
    """Return mean ranks on each table or network by size: units by scores.

    A unit is a table or a network, of one part where given; only where all scores have the
    measure, a finite one.
    """
    return _by_size(rows, measure, part, _ranks)


def excess_by_size(rows: Sequence[Row], measure: str, part: str = "") -> dict[str, np.ndarray]:
    """Return by how much each score is above the least of all on the same rows, as above.

    Losses in per cent of the least one, distances in arcs.
    """
    return _by_size(rows, measure, part, _percent_above if measure == "loss" else _above)


def _by_size(
    rows: Sequence[Row], measure: str, part: str, turned: Callable[[np.ndarray], np.ndarray]
) -> dict[str, np.ndarray]:
    found: dict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
    for row in rows:
        value = row.get(measure)
        if value is not None and part in ("", row["part"]):
            size = row.get("rows", row.get("percent"))
            key = (size_class(row["n_train"]), row["on"], row["part"], size, row["repetition"])
            found[key][row["score"]] = round(value, 9)
    together: dict[str, dict[Any, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for (name, unit, kind, _, _), values in found.items():
        if len(values) == len(SCORES):
            given = np.array([values[score] for score in SCORES])
            together[name][unit, kind].append(turned(given))
    return {
        name: np.array([np.mean(together[name][unit], axis=0) for unit in sorted(together[name])])
        for name in CLASSES
        if name in together
    }


def _above(values: np.ndarray) -> np.ndarray:
    over: np.ndarray = values - values.min()
    return over


def _percent_above(values: np.ndarray) -> np.ndarray:
    over: np.ndarray = 100 * (values / values.min() - 1)
    return over


def ranks_by_rows(rows: Sequence[Row], measure: str) -> dict[int, np.ndarray]:
    """Return mean ranks of the scores by the number of rows drawn from a network.

    Means over networks, each the mean over its samples; only the networks of NETWORKS, which have
    all numbers of rows, and of those the ones for which all scores have the measure.
    """
    found: dict[tuple[int, str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["part"] == "network" and row["on"] in NETWORKS and row.get(measure) is not None:
            key = (row["rows"], row["on"], row["repetition"])
            found[key][row["score"]] = round(row[measure], 9)
    by: dict[int, dict[str, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for (size, network, _), values in found.items():
        if len(values) == len(SCORES):
            by[size][network].append(_ranks(np.array([values[score] for score in SCORES])))
    return {
        size: np.mean([np.mean(ranks, axis=0) for ranks in by[size].values()], axis=0)
        for size in sorted(by)
    }


def _ranks(values: np.ndarray) -> np.ndarray:
    less = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    ranks: np.ndarray = less + (equal + 1) / 2
    return ranks
