"""Rows of silander2018 as arrays, and what the paper prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from bestdag.papers.study import Row
from bestdag.papers.uci_tables import TABLES

__all__ = [
    "APPROXIMATE",
    "DRAWN",
    "METHODS",
    "NETWORKS",
    "PRINTED_PARAMETERS",
    "PRINTED_RANKS",
    "PRINTED_REGRETS",
    "SIZES",
    "least_ranks",
    "mean_parameters",
    "prediction_ranks",
    "shared_ranks",
    "structure_values",
]

# The paper's own regret of qNML, beside the exact one.
APPROXIMATE = "qNML, approximate regret"
METHODS = ("BDeu", "BIC", "fNML", "qNML")
# Whence tables are drawn beside the published ones, and the counts of these distributions.
DRAWN = {"Dir(1)": 1.0, "Dir(1/2)": 0.5}
NETWORKS = ("asia", "cancer", "earthquake", "sachs", "survey")
SIZES = (10, 20, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10000)
# Average predictive ranks in the order of METHODS, tables in the order of TABLES.
PRINTED_RANKS: dict[str, tuple[float, ...]] = dict(
    zip(
        TABLES,
        (
            (2.79, 1.20, 3.06, 2.94), (2.82, 2.37, 2.27, 2.54), (3.23, 1.88, 2.67, 2.22),
            (3.61, 3.09, 1.42, 1.88), (2.55, 3.21, 1.80, 2.44), (3.12, 1.39, 3.12, 2.37),
            (3.09, 1.41, 2.97, 2.53), (3.18, 1.66, 2.90, 2.27), (3.46, 1.38, 2.99, 2.17),
            (3.20, 3.53, 1.24, 2.04), (3.17, 2.39, 2.69, 1.75), (3.35, 1.91, 1.59, 3.16),
            (3.06, 2.03, 2.89, 2.02), (2.91, 2.70, 2.68, 1.71), (3.44, 2.71, 1.31, 2.53),
            (2.60, 3.76, 1.55, 2.10), (2.60, 3.64, 1.04, 2.72), (2.24, 3.61, 1.31, 2.83),
            (3.23, 3.77, 1.00, 2.00), (1.44, 3.78, 1.56, 3.22),
        ),
        strict=True,
    )
)  # fmt: skip
PRINTED_PARAMETERS: dict[str, tuple[int, ...]] = dict(
    zip(
        TABLES,
        (
            (1217, 19, 397, 146), (37, 23, 33, 29), (16521, 70, 807, 205), (1677, 48, 506, 97),
            (40, 23, 66, 28), (16861, 44, 1110, 256), (25797, 49, 3767, 844),
            (1634, 43, 792, 90), (34381, 47, 1433, 404), (182, 31, 162, 77), (45, 15, 61, 24),
            (20, 24, 49, 611), (4630, 42, 603, 89), (39, 22, 216, 34), (13701, 25, 1969, 767),
            (71, 31, 265, 75), (91, 46, 150, 63), (703, 45, 380, 56), (699, 479, 1555, 945),
            (535, 99, 717, 130),
        ),
        strict=True,
    )
)  # fmt: skip
# (n, r): asymptotic formula, Szpankowski and Weinberger, exact.
PRINTED_REGRETS = {
    (50, 10): (13.24, 13.26, 13.24), (50, 100): (62.00, 60.01, 60.00),
    (50, 1000): (491.63, 153.28, 153.28), (50, 10000): (25635.15, 265.28, 265.28),
    (500, 10): (22.67, 22.69, 22.67), (500, 100): (144.10, 144.03, 144.03),
    (500, 1000): (624.35, 603.93, 603.93), (500, 10000): (4927.24, 1533.38, 1533.38),
    (5000, 10): (32.74, 32.76, 32.74), (5000, 100): (247.97, 247.97, 247.97),
    (5000, 1000): (1452.51, 1451.78, 1451.78), (5000, 10000): (6247.83, 6043.16, 6043.16),
}  # fmt: skip


def shared_ranks(values: np.ndarray) -> np.ndarray:
    """Rank along the last axis, the least value first; equal values share the mean of their ranks.

    Examples
    --------
    >>> shared_ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    less = (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    ranks: np.ndarray = less + (equal + 1) / 2
    return ranks


def least_ranks(values: np.ndarray) -> np.ndarray:
    """Rank along the last axis; equal values share the least of their ranks.

    Examples
    --------
    >>> least_ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist()
    [3, 1, 3, 2]
    """
    ranks: np.ndarray = 1 + (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    return ranks


def structure_values(
    rows: Sequence[Row], entry: str, methods: Sequence[str] = METHODS
) -> dict[tuple[str, int], np.ndarray]:
    """Return an entry, "shd" or "arcs", by network and size: repetitions by methods."""
    found: dict[tuple[str, int], list[list[float]]] = defaultdict(list)
    for row in rows:
        if row["part"] == "structure":
            found[row["network"], row["rows"]].append([row[entry][m] for m in methods])
    return {key: np.array(values, np.float64) for key, values in found.items()}


def prediction_ranks(
    rows: Sequence[Row],
    part: str = "prediction",
    methods: Sequence[str] = METHODS,
    rank: Callable[[np.ndarray], np.ndarray] = shared_ranks,
) -> tuple[list[str], np.ndarray]:
    """Return tables, and mean ranks over training fractions: permutations by tables by methods.

    Only permutations of which every table has all fractions; losses that are equal to nine digits
    share their ranks.
    """
    found: dict[tuple[int, str], dict[int, np.ndarray]] = defaultdict(dict)
    for row in rows:
        if row["part"] == part:
            losses = np.array([row["losses"][m] for m in methods])
            ranks = rank(np.round(losses, 9))
            found[row["permutation"], row["table"]][row["percent"]] = ranks
    tables = [table for table in TABLES if any(key[1] == table for key in found)]
    most = max((len(parts) for parts in found.values()), default=0)
    whole = [
        p
        for p in sorted({permutation for permutation, _ in found})
        if all(len(found.get((p, table), ())) == most for table in tables)
    ]
    means = [[np.mean(list(found[p, t].values()), axis=0) for t in tables] for p in whole]
    return tables, np.array(means, np.float64).reshape(len(whole), len(tables), len(methods))


def mean_parameters(rows: Sequence[Row], percent: int) -> dict[str, np.ndarray]:
    """Return the mean numbers of parameters at a training fraction, by table."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for row in rows:
        if row["part"] == "prediction" and row["percent"] == percent:
            found[row["table"]].append([row["parameters"][m] for m in METHODS])
    return {table: np.mean(found[table], axis=0) for table in TABLES if table in found}
