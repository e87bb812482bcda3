"""Akaike information criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag import _core
from bestdag.scores.base import PenalisedLikelihood

__all__ = ["AIC"]


@dataclass(frozen=True, slots=True)
class AIC(PenalisedLikelihood):
    r"""Log-likelihood at its maximum minus one per free parameter.

    .. math::

        \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j} - q (r - 1)

    Akaike's own scale is -2 times this.

    Notes
    -----
    The penalty counts all q parent configurations, seen or not. It does not grow with N, so the
    score is not consistent: needless parents may stay in the limit of many rows.

    References
    ----------
    .. [1] Akaike (1974). "A new look at the statistical model identification." IEEE
       Transactions on Automatic Control 19.
    .. [2] Carvalho (2009). "Scoring functions for learning Bayesian networks." INESC-ID
       Technical Report 54, equation 10.

    Examples
    --------
    >>> from bestdag.counts.family import FamilyCounts
    >>> round(AIC().family(FamilyCounts.of([[6, 2], [0, 2]])), 6)  # two free parameters
    -6.498681
    """

    name: ClassVar[str] = "aic"

    def penalty(self, n: float) -> float:
        """Return 1."""
        return 1.0

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.aic()
