"""Log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.scores.base import PenalisedLikelihood

__all__ = ["LL"]


@dataclass(frozen=True, slots=True)
class LL(PenalisedLikelihood):
    r"""Log-likelihood at its maximum, without a penalty.

    .. math::

        \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j}

    Notes
    -----
    One more parent never lowers it, so among all structures a complete graph is best: useful
    with few parents allowed, as for trees. It is regular because a parent that tells nothing
    leaves it as it is. Configurations never observed add zero.

    References
    ----------
    .. [1] Carvalho (2009). "Scoring functions for learning Bayesian networks." INESC-ID
       Technical Report 54, section 2.1.2.

    Examples
    --------
    >>> round(LL().family(FamilyCounts.of([[6, 2], [0, 2]])), 6)  # 6 ln(6/8) + 2 ln(2/8)
    -4.498681
    """

    name: ClassVar[str] = "ll"

    def penalty(self, n: float) -> float:
        """Return 0."""
        return 0.0

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return the log-likelihood, the only term."""
        return {"log-likelihood": PenalisedLikelihood.terms(self, counts)["log-likelihood"]}

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.ll()
