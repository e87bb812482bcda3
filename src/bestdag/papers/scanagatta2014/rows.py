"""Rows of scanagatta2014 as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bestdag.papers.study import Row

__all__ = [
    "FEW",
    "FRESH",
    "KNOWN",
    "LIMITS",
    "METHODS",
    "OTHER_ESS",
    "OTHER_TABLES",
    "SIZES",
    "VARIANTS",
    "by_network",
    "curves",
]

SIZES = tuple(10 * 2**i for i in range(1, 11))
KNOWN = ("child", "insurance", "water", "alarm")
METHODS = ("BDeu", "Min-BDeu", "Max-BDeu", "Empty")
LIMITS = (1, 2, 3, 4, 5, 6)
# Beside 1, where there are few rows and priors matter most.
OTHER_ESS, FEW = (0.5, 2.0), 160
# Parts of the trials beside the main ones, for 20 nodes.
FRESH, OTHER_TABLES = "fresh rows", "tables from Dir(1/2)"
VARIANTS = (FRESH, OTHER_TABLES)


def by_network(
    rows: Sequence[Row], part: str, value: Callable[[Row], float], *, least: int = 0, most: int
) -> list[float]:
    """Return the mean of a value over sample sizes from `least` to `most`, network by network."""
    found: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in rows:
        if row["part"] == part and least <= row["rows"] <= most:
            key = (row.get("name", ""), row.get("nodes", 0), row["network"])
            found[key].append(value(row))
    return [float(np.mean(found[key])) for key in sorted(found)]


def curves(
    rows: Sequence[Row], value: Callable[[Row], float]
) -> tuple[list[int], list[float], list[float], list[float]]:
    """Return sample sizes with the mean of a value and its quartiles."""
    found: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        found[row["rows"]].append(value(row))
    sizes = sorted(found)
    low, high = (
        [float(np.quantile(found[size], share)) for size in sizes] for share in (0.25, 0.75)
    )
    return sizes, [float(np.mean(found[size])) for size in sizes], low, high
