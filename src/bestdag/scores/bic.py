"""Bayesian information criterion."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

from bestdag import _core
from bestdag.scores.base import PenalisedLikelihood

__all__ = ["BIC"]


@dataclass(frozen=True, slots=True)
class BIC(PenalisedLikelihood):
    r"""Log-likelihood at its maximum minus half a log N per free parameter.

    .. math::

        \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j} - \frac{\ln N}{2}\, q (r - 1)

    Also known as MDL, the minimum description length (with its sign turned).

    Notes
    -----
    The penalty counts all q parent configurations, seen or not. N is the sum of the weights. It
    approximates a log marginal likelihood to O(1) [1]_, and is consistent: in the limit the best
    structures are those with fewest parameters that the data agree with.

    References
    ----------
    .. [1] Schwarz (1978). "Estimating the dimension of a model." Annals of Statistics 6.
    .. [2] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs", 2nd edition,
       equation 7.5. Its examples are in base 2.

    Examples
    --------
    >>> from bestdag.counts.family import FamilyCounts
    >>> counts = FamilyCounts.of([[6, 2], [0, 2]])  # Table 7.2 of [2]
    >>> round(BIC().family(counts), 6)
    -6.801266
    """

    name: ClassVar[str] = "bic"

    def penalty(self, n: float) -> float:
        """Return half a log N."""
        return 0.5 * log(n) if n > 0 else 0.0

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.bic()
