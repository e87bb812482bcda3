"""Quotient normalized maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal

import numpy as np

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import require_choice
from bestdag.registry import setting
from bestdag.scores.base import whole_total
from bestdag.special import n_log_share, regret, szpankowski_regret

__all__ = ["QNML"]

# Above q = N times this, reg(N, q r) - reg(N, q) is N ln r to the last bit.
_MANY_CONFIGURATIONS = 1e18


@dataclass(frozen=True, slots=True, kw_only=True)
class QNML:
    r"""Log-likelihood at its maximum minus a difference of two regrets.

    .. math::

        \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j}
        - \left[ \mathrm{reg}(N, q r) - \mathrm{reg}(N, q) \right]

    The quotient of two normalized maximum likelihoods: child and parents taken as one variable
    with q r states, over the parents taken as one with q.

    Parameters
    ----------
    regret : {"exact", "szpankowski"}, default "exact"
        The regret as it is, `bestdag.special.regret`, or the approximation used in [1]_,
        `bestdag.special.szpankowski_regret`.

    Notes
    -----
    All q parent configurations are paid for, seen or not. Score equivalent, and equal to the
    normalized maximum likelihood for networks of disjoint complete components. Regular with
    the exact regret; with the approximation not for N = 1 and N = 2. Defined for a whole
    number of cases N, the sum of the weights, only; the cells of expected counts need not be
    whole.

    References
    ----------
    .. [1] Silander, Leppä-aho, Jääsaari and Roos (2018). "Quotient normalized maximum
       likelihood criterion for learning Bayesian network structures." AISTATS.

    Examples
    --------
    >>> counts = FamilyCounts.of([[2, 1]])  # 3 ln 2 - 3 ln 3 - ln 2 - ln(26/9)
    >>> round(QNML().family(counts), 6)
    -2.970414
    """

    name: ClassVar[str] = "qnml"
    estimator: ClassVar[str] = "fsnml"
    is_score_equivalent: ClassVar[bool] = True
    is_hyperparameter_free: ClassVar[bool] = True
    is_regular: ClassVar[bool] = True
    needs_whole_counts: ClassVar[bool] = True
    needs_whole_total: ClassVar[bool] = True  # and no more than that

    regret: Literal["exact", "szpankowski"] = setting("exact", "How the NML regret is computed.")

    def __post_init__(self) -> None:
        require_choice("QNML", "regret", self.regret, ["exact", "szpankowski"])

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return log-likelihood and penalty."""
        n = whole_total(self.name, counts)
        fit = float(np.sum(n_log_share(counts.table, counts.row_totals[:, None])))
        return {"log-likelihood": fit, "penalty": -self._penalty(counts, n)}

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.qnml(self.regret == "exact")

    def _penalty(self, counts: FamilyCounts, n: int) -> float:
        q, r = counts.n_configurations, counts.arity
        if q > _MANY_CONFIGURATIONS * n:  # q may be infinite
            return n * log(r)
        reg = regret if self.regret == "exact" else szpankowski_regret
        return float(reg(n, q * r) - reg(n, q))
