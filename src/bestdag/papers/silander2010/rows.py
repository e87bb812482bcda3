"""Rows of silander2010 as arrays, and what the paper prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from bestdag.papers.study import Row
from bestdag.papers.uci_tables import TABLES

__all__ = ["PREDICTED", "PRINTED", "RANKED", "SIZES", "losses_by_table", "ranks_by_network"]

# Subsamples of the 1,000 rows of a data set; the paper draws a curve and does not name its points.
SIZES = (10, 20, 50, 100, 200, 300, 400, 600, 800, 1000)
RANKED = {"BDeu": "bdeu", "fNML": "fnml", "AIC": "aic", "BIC": "bic"}
PREDICTED = ("fNML", "BDeu", "BD1/2")
# Table 1 as printed, in the order of its rows; names and values are out of step.
PRINTED = (
    (2.350, 2.346, 2.370), (2.620, 2.588, 2.647), (4.347, 4.437, 4.385), (3.991, 4.429, 4.016),
    (3.493, 3.542, 3.503), (8.987, 9.207, 8.962), (2.219, 2.220, 2.222), (9.636, 10.586, 9.697),
    (4.697, 4.827, 4.822), (8.687, 9.105, 8.678), (9.241, 9.877, 9.273), (3.718, 3.746, 3.722),
    (4.539, 4.607, 4.540), (8.407, 8.917, 8.577), (1.679, 1.677, 1.680), (5.095, 5.122, 5.107),
    (6.940, 7.035, 6.941), (7.197, 7.472, 7.209), (5.314, 6.277, 5.413), (9.906, 9.990, 9.912),
)  # fmt: skip


def ranks_by_network(
    rows: Iterable[Row], edges: int, scheme: str, kind: str = "mid"
) -> dict[str, np.ndarray]:
    """Return for each score the mean logarithm of the rank, network by size."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row["part"] == "rank" and (row["edges"], row["scheme"]) == (edges, scheme):
            found[row["network"]].append(row)
    return {
        label: np.array(
            [
                np.log([row[label][kind] for row in found[network]]).mean(axis=0)
                for network in sorted(found)
            ]
        ).reshape(len(found), len(SIZES))
        for label in RANKED
    }


def losses_by_table(
    rows: Sequence[Row], missing: str = "filled"
) -> dict[str, dict[str, np.ndarray]]:
    """Return the mean losses of all halves: by table and method."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["part"] == "halves" and row["missing"] == missing:
            found[row["table"]].append(row)
    return {
        table: {
            method: np.array([row["losses"][method] for row in found[table]])
            for method in PREDICTED
        }
        for table in TABLES
        if table in found
    }
