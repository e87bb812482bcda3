"""Hannan-Quinn criterion."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

from bestdag import _core
from bestdag.scores.base import PenalisedLikelihood

__all__ = ["HQC"]


@dataclass(frozen=True, slots=True)
class HQC(PenalisedLikelihood):
    r"""Log-likelihood at its maximum minus ln ln N per free parameter.

    .. math::

        \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j}
        - \max(0, \ln \ln N)\, q (r - 1)

    The penalty grows about as slowly as that of a consistent criterion can: any factor above 1
    would make it one, and 1 is the customary choice. It is below that of BIC for every N, and
    above that of AIC from N = 16 on.

    Notes
    -----
    Up to N = e (one or two rows) ln ln N is not positive, and having parameters would be paid
    for: there the penalty is 0 and the score is LL. The penalty counts all q parent
    configurations, seen or not. N is the sum of the weights, which need not be whole. The
    authors' own scale is -2 / N times this.

    References
    ----------
    .. [1] Hannan and Quinn (1979). "The determination of the order of an autoregression."
       Journal of the Royal Statistical Society B 41.

    Examples
    --------
    >>> from bestdag.counts.family import FamilyCounts
    >>> counts = FamilyCounts.of([[6, 2], [0, 2]])  # two free parameters, ln ln 10 each
    >>> round(HQC().family(counts), 6)
    -6.166746
    """

    name: ClassVar[str] = "hqc"

    def penalty(self, n: float) -> float:
        """Return ln ln N where that is positive, else 0."""
        log_n = log(n) if n > 0 else 0.0
        return log(log_n) if log_n > 1 else 0.0

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.hqc()
