"""Tests against the chi-square distribution: conditional mutual information (G2) and Pearson's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.independence.base import DegreesOfFreedom, degrees_of_freedom, log_alpha, require_df
from bestdag.registry import setting

__all__ = ["ChiSquareTest", "G2Test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChiSquareTest:
    """Settings of degrees of freedom; a test adds its name and its statistic."""

    name: ClassVar[str]
    is_pearson: ClassVar[bool]

    df: DegreesOfFreedom = setting(
        "adjusted",
        "Degrees of freedom: from the states that occur in a stratum, or from all declared states.",
    )
    rows_per_df: float = setting(
        0.0, "Minimum number of rows per degree of freedom; with fewer, the link is kept."
    )

    def __post_init__(self) -> None:
        require_df(self.name.upper(), self.df, self.rows_per_df)

    def bind(self, counts: CountingEngine, alpha: float) -> _core.IndependenceTest:
        """Return the native test on a data set, at a level of significance."""
        return _core.IndependenceTest.of_rows(
            counts.table,
            pearson=self.is_pearson,
            adjusts_df=self.df == "adjusted",
            rows_per_df=self.rows_per_df,
            log_alpha=log_alpha(alpha),
            n_permutations=0,
            seed=0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class G2Test(ChiSquareTest):
    """Likelihood ratio: G2 = 2 N CMI(A, B | X), with the conditional mutual information in nats.

    ``G2 = 2 sum n_xab ln(n_xab n_x / (n_xa n_xb))`` is compared with the chi-square distribution.
    There is no continuity correction.

    Parameters
    ----------
    df : {"adjusted", "declared"}, default "adjusted"
        Degrees of freedom: the sum of (states of A - 1)(states of B - 1) over the configurations
        of X. Adjusted, states that do not occur in a stratum do not count there; sparse tables then
        do not look independent only because most of their cells are empty.
    rows_per_df : float, default 0
        Fewer rows than this per degree of freedom: the test counts as dependent, and the edge
        stays.

    Notes
    -----
    Strata without rows add nothing. Without degrees of freedom (a constant column, or one
    variable constant in every stratum) nothing speaks against independence: p = 1, and the answer
    says so.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Section 7.1.4,
       eq. 7.2 and exercise 7.5.

    Examples
    --------
    >>> G2Test().statistic([[[10, 0], [0, 10]]])  # 2 N ln 2
    (27.725887222397812, 1.0)
    """

    name: ClassVar[str] = "g2"
    is_pearson: ClassVar[bool] = False

    def statistic(self, tables: npt.ArrayLike) -> tuple[float, float]:
        """Return G2 and its degrees of freedom; `tables` are strata x states x states."""
        counts = np.asarray(tables, float)
        n_x = counts.sum((1, 2), keepdims=True)
        expected = counts.sum(2, keepdims=True) * counts.sum(1, keepdims=True)
        seen = counts > 0
        ratio = np.ones_like(counts)
        np.divide(counts * n_x, expected, out=ratio, where=seen)
        total = 2.0 * float((counts * np.log(ratio)).sum())
        return max(total, 0.0), degrees_of_freedom(counts, self.df)
