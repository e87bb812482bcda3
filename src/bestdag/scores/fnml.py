"""Factorized normalized maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.scores.base import require_whole_counts
from bestdag.special import n_log_share, regret

__all__ = ["FNML"]


@dataclass(frozen=True, slots=True)
class FNML:
    r"""Log-likelihood at its maximum minus the regret of each parent configuration.

    .. math::

        \sum_{j=1}^{q} \left[ \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j}
        - \ln C(r, N_j) \right]

    with C(r, n) the normalising constant of a variable with r states and n cases, see
    `bestdag.special.regret`. The exponential is a distribution over the child's columns given
    those of the parents. Also known as NML.

    Notes
    -----
    Configurations never observed add zero. Without settings; not score equivalent. Defined for
    whole counts only.

    References
    ----------
    .. [1] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." International Journal of Approximate Reasoning 51, equation 11 and Theorem 1.

    Examples
    --------
    >>> counts = FamilyCounts.of([[2, 1]])  # 3 ln 2 - 3 ln 3 - ln 2 - ln(26/9)
    >>> round(FNML().family(counts), 6)
    -2.970414
    """

    name: ClassVar[str] = "fnml"
    estimator: ClassVar[str] = "fsnml"
    is_score_equivalent: ClassVar[bool] = False
    is_hyperparameter_free: ClassVar[bool] = True
    is_regular: ClassVar[bool] = True
    needs_whole_counts: ClassVar[bool] = True

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return log-likelihood and penalty."""
        require_whole_counts(self.name, counts)
        fit = float(np.sum(n_log_share(counts.table, counts.row_totals[:, None])))
        penalty = float(np.sum(regret(counts.row_totals, counts.arity)))
        return {"log-likelihood": fit, "penalty": -penalty}

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.fnml()
