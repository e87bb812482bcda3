"""Conditional mutual information against shuffled data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.errors import DataError, bad_setting, require_count
from bestdag.independence.base import log_alpha
from bestdag.independence.g2 import G2Test
from bestdag.registry import setting

__all__ = ["PermutationTest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """G2 compared with that of tables in which one variable is shuffled within each stratum.

    The p-value is the share of tables, the observed one among them, with a G2 at least as
    large; it needs no large counts. The same seed gives the same p-values, for any number of
    threads and any order of the tests.

    Parameters
    ----------
    n_permutations : int, default 1,000
        The smallest p-value is 1 / (n_permutations + 1).
    seed : int, default 0

    Notes
    -----
    Shuffling keeps the row and column sums of each stratum; tables with these sums are drawn
    directly [1]_, so that the time does not grow with the rows. Weights must be whole numbers.

    References
    ----------
    .. [1] Patefield (1981). "Algorithm AS 159: an efficient method of generating random R x C
       tables with given row and column totals." Applied Statistics 30.
    """

    name: ClassVar[str] = "permutation"

    n_permutations: int = setting(1_000, "Number of permutations per test.")
    seed: int = setting(0, "Seed of the permutations.")

    def __post_init__(self) -> None:
        require_count("permutation", "n_permutations", self.n_permutations, minimum=1)
        require_count("permutation", "seed", self.seed)

    def statistic(self, tables: npt.ArrayLike) -> tuple[float, float]:
        """Return G2 and its degrees of freedom; `tables` are strata x states x states."""
        return G2Test().statistic(tables)

    def bind(self, counts: CountingEngine, alpha: float) -> _core.IndependenceTest:
        """Return the native test on a data set, at a level of significance."""
        weights = counts.dataset.weights
        if weights is not None and weights.dtype == np.float64:
            raise DataError(
                "permutation: rows with fractional weights cannot be shuffled; use the test 'g2' "
                "or 'x2', or whole weights"
            )
        level = log_alpha(alpha)
        if (self.n_permutations + 1) * alpha < 1:
            # The smallest p-value is 1 / (n_permutations + 1).
            needed = f"at least {math.ceil(1 / alpha) - 1:,} at a level of {alpha:g}"
            raise bad_setting("permutation", "n_permutations", needed, self.n_permutations)
        return _core.IndependenceTest.of_rows(
            counts.table,
            pearson=False,
            adjusts_df=True,
            rows_per_df=0.0,
            log_alpha=level,
            n_permutations=self.n_permutations,
            seed=self.seed,
        )
