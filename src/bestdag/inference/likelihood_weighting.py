"""Likelihood weighting: rows drawn with what is known held fast, weighted by how well it fits.

Fung and Chang (1990). "Weighing and integrating evidence for stochastic simulation in Bayesian
networks." UAI '89. The draws are those of `sampling`: a function of seed, variable and row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag.errors import DataError
from bestdag.inference.junction_tree import Known, Tables
from bestdag.inference.log_tables import LogTables, Rows
from bestdag.inference.relevance import relevant_families
from bestdag.inference.sampling import Codes, sample_codes
from bestdag.machine import require_memory
from bestdag.wording import count_of

__all__ = ["WeightedSample", "draw_weighted"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSample:
    """Rows of some variables with weights, the largest of which is 1."""

    codes: dict[int, Codes]
    weights: _Floats

    @property
    def effective_size(self) -> float:
        """How many rows of equal weight tell as much (Kish)."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    def distribution(
        self, targets: Sequence[int], arities: Sequence[int]
    ) -> tuple[_Floats, _Floats]:
        """Estimate the joint distribution of some variables, with its standard errors."""
        n_cells = 1
        for target in targets:
            n_cells *= arities[target]
        require_memory(
            "query", "the joint distribution", 40.0 * n_cells, "ask for fewer variables at a time"
        )
        number = np.zeros(len(self.weights), dtype=np.int64)
        for target in targets:
            number = number * arities[target] + self.codes[target]
        sums = np.bincount(number, weights=self.weights, minlength=n_cells)
        total = sums.sum()
        share = sums / total
        squares = np.bincount(number, weights=self.weights**2, minlength=n_cells)
        # The ratio estimator: sum of w^2 (x - mean)^2 over (sum of w)^2, for x = 1 here, 0 there.
        spread = squares * (1 - share) ** 2 + (squares.sum() - squares) * share**2
        return share, np.sqrt(spread) / total


def draw_weighted(
    tables: Tables,
    logs: LogTables,
    targets: Sequence[int],
    known: Known,
    n: int,
    *,
    seed: int,
    threads: int | None,
) -> WeightedSample:
    """Draw rows of what decides about the targets.

    Raises
    ------
    DataError
        If no row agrees with the evidence.
    """
    deciding = relevant_families(tables.parents, targets, known.codes, known.weights)
    needed = {v for family in deciding for v in tables.family(family)} | set(targets)
    order = [v for v in logs.order if v in needed]
    place = {v: i for i, v in enumerate(order)}
    values, parents = [], []
    for variable in order:
        code = known.codes.get(variable)
        if code is None:
            values.append(tables.values[variable])
            parents.append([place[p] for p in tables.parents[variable]])
        else:
            fast = np.zeros(tables.arities[variable])
            fast[code] = 1.0
            values.append(fast)
            parents.append([])
    names = [tables.names[v] for v in order]
    columns = sample_codes(names, values, parents, n, seed=seed, threads=threads)
    codes = dict(zip(order, columns, strict=True))
    log_weights = np.zeros((n, 1))
    fitting = [f for f in deciding if f in known.codes]
    if fitting:
        rows = Rows(
            n,
            tuple(codes.get(v) for v in range(len(tables.names))),
            tuple(v not in codes for v in range(len(tables.names))),
        )
        logs.add(rows, log_weights, families=fitting, threads=threads)
    with np.errstate(divide="ignore"):
        for variable, weights in known.weights.items():
            if variable in codes:
                log_weights[:, 0] += np.log(weights)[codes[variable]]
    highest = log_weights.max()
    if highest == -np.inf:
        raise DataError(
            f"sampling: none of {count_of(n, 'row')} drawn agrees with the evidence; "
            "draw more samples, or leave findings out"
        )
    return WeightedSample(codes, np.exp(log_weights[:, 0] - highest))
