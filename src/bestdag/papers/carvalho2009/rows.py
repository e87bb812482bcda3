"""Rows of carvalho2009 as accuracies and paired differences, and what the paper prints."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestdag.evaluation.classification import accuracy_interval
from bestdag.papers.claims import Interval
from bestdag.papers.study import Row

__all__ = [
    "BAYESIAN",
    "INFORMATION",
    "LARGE",
    "MAIN",
    "PRINTED",
    "SCORES",
    "SMALL",
    "TABLES",
    "Hits",
    "hits_by_table",
]

SCORES: dict[str, tuple[str, dict[str, Any]]] = {
    "LL": ("ll", {}),
    "BIC/MDL": ("bic", {}),
    "NML": ("fnml", {}),
    "MIT(0.99)": ("mit", {"confidence": 0.99}),
    "K2": ("k2", {}),
    "BDeu(1)": ("bdeu", {"ess": 1}),
    "BDeu(4)": ("bdeu", {"ess": 4}),
    "BDeu(16)": ("bdeu", {"ess": 16}),
}
INFORMATION, BAYESIAN = tuple(SCORES)[:4], tuple(SCORES)[4:]
# Table 2, in the order of SCORES.
PRINTED = {
    "letter": (78.48, 77.96, 75.02, 77.98, 82.14, 82.25, 82.12, 82.20),
    "satimage": (78.55, 78.00, 78.00, 78.45, 77.39, 77.39, 77.05, 77.25),
    "chess": (89.06, 88.03, 88.13, 88.03, 88.50, 88.50, 88.50, 88.41),
    "vehicle": (67.69, 62.60, 63.07, 62.84, 67.57, 67.93, 67.46, 68.17),
    "diabetes": (77.91, 77.91, 76.99, 76.99, 77.65, 77.65, 77.65, 77.65),
    "soybean-large": (61.07, 84.29, 92.14, 88.39, 72.66, 62.50, 62.32, 62.86),
    "vote": (92.17, 92.61, 95.21, 93.48, 93.48, 93.91, 93.91, 93.91),
    "heart-statlog": (85.19, 85.19, 84.07, 84.07, 84.07, 84.07, 84.07, 84.07),
    "glass": (93.81, 88.57, 95.24, 92.38, 92.86, 93.81, 91.90, 91.90),
    "iris": (93.33, 92.00, 92.67, 93.33, 92.67, 93.33, 92.67, 93.33),
    "lymphography": (79.31, 77.93, 77.24, 74.48, 74.48, 74.48, 73.79, 73.10),
    "hepatitis": (95.00, 96.25, 93.75, 93.75, 86.25, 83.75, 86.25, 85.00),
}
TABLES = tuple(PRINTED)
# By the paper: those with rows held out, and the others.
LARGE, SMALL = TABLES[:3], TABLES[3:]
MAIN = {"parameters": "mle", "cuts": "inside", "incomplete": "dropped"}
# By what the rows of one variant are known; "also" is there where it is not None.
_SETTINGS = (*MAIN, "also")


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """How often which scores were right, in the mean of some divisions of the same rows.

    Attributes
    ----------
    right : array, patterns x scores
        1 where a score is right.
    shares : array
        Of the rows that have each pattern.
    n_rows : int
        Rows that one division predicts.
    n_divisions : int
    """

    right: np.ndarray
    shares: np.ndarray
    n_rows: int
    n_divisions: int

    def accuracy(self, score: str) -> float:
        """Share of rows whose class is right."""
        return float(self.shares @ self.right[:, _place(score)])

    def interval(self, score: str) -> tuple[float, float]:
        """Wilson's 95 % interval for the rows of one division."""
        return accuracy_interval(self.accuracy(score) * self.n_rows, self.n_rows)  # type: ignore[arg-type]

    def difference(self, one: Sequence[str], other: Sequence[str]) -> Interval:
        """Mean accuracy of some scores minus that of others, paired by rows."""
        apart = self.right[:, [_place(s) for s in one]].mean(axis=1)
        apart = apart - self.right[:, [_place(s) for s in other]].mean(axis=1)
        mean = float(self.shares @ apart)
        variance = float(self.shares @ (apart - mean) ** 2)
        half = 1.96 * math.sqrt(variance / self.n_rows)
        return Interval(mean, mean - half, mean + half, self.n_rows)

    def do_intervals_meet(self, one: str, other: str) -> bool:
        """Whether the 95 % intervals of two scores overlap: the paper's own criterion."""
        (a, b), (c, d) = self.interval(one), self.interval(other)
        return a <= d and c <= b


def _place(score: str) -> int:
    return tuple(SCORES).index(score)


def hits_by_table(rows: Sequence[Row], variant: Mapping[str, str] = MAIN) -> dict[str, Hits]:
    """Put the divisions of each table together."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if all(row.get(name) == variant.get(name) for name in _SETTINGS):
            found[row["table"]].append(row)
    return {table: _together(found[table]) for table in TABLES if table in found}


def _together(rows: Sequence[Row]) -> Hits:
    counts: dict[int, int] = defaultdict(int)
    for row in rows:
        for pattern, count in row["patterns"].items():
            counts[int(pattern)] += count
    patterns = np.array(sorted(counts))
    numbers = np.array([counts[pattern] for pattern in patterns.tolist()], np.float64)
    total = int(numbers.sum())
    right = (patterns[:, None] >> np.arange(len(SCORES)) & 1).astype(np.float64)
    return Hits(right, numbers / total, total // len(rows), len(rows))
