"""Pearson's test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.independence.base import degrees_of_freedom
from bestdag.independence.g2 import ChiSquareTest

__all__ = ["X2Test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class X2Test(ChiSquareTest):
    """Pearson's X2: squared differences from the expected counts, in each stratum.

    ``X2 = sum (n_xab - e_xab)^2 / e_xab`` with ``e_xab = n_xa n_xb / n_x`` is compared with the
    chi-square distribution. There is no continuity correction.

    Parameters
    ----------
    df : {"adjusted", "declared"}, default "adjusted"
        Degrees of freedom, as of `G2Test`.
    rows_per_df : float, default 0
        Fewer rows than this per degree of freedom: the test counts as dependent, and the edge
        stays.

    References
    ----------
    .. [1] Pearson (1900). "On the criterion that a given system of deviations ..." Philosophical
       Magazine 50.

    Examples
    --------
    >>> X2Test().statistic([[[10, 0], [0, 10]]])
    (20.0, 1.0)
    """

    name: ClassVar[str] = "x2"
    is_pearson: ClassVar[bool] = True

    def statistic(self, tables: npt.ArrayLike) -> tuple[float, float]:
        """Return X2 and its degrees of freedom; `tables` are strata x states x states."""
        counts = np.asarray(tables, float)
        n_x = counts.sum((1, 2), keepdims=True)
        products = counts.sum(2, keepdims=True) * counts.sum(1, keepdims=True)
        expected = np.divide(products, n_x, out=np.zeros_like(counts), where=n_x > 0)
        squares = (counts - expected) ** 2
        parts = np.divide(squares, expected, out=np.zeros_like(counts), where=expected > 0)
        return float(parts.sum()), degrees_of_freedom(counts, self.df)
