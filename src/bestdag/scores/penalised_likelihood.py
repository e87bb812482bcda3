"""What LL, AIC, BIC and HQC are: the maximised log-likelihood minus so much per free parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from bestdag.counts.family import FamilyCounts
from bestdag.special import n_log_n

__all__ = ["PenalisedLikelihood"]


class PenalisedLikelihood(ABC):
    r"""Base of scores that differ in the penalty of one parameter alone.

    .. math::

        \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j} - c(N)\, q (r - 1)

    The penalty counts all q parent configurations, seen or not; in the first sum those never
    observed add zero. N is the sum of the weights.
    """

    __slots__ = ()

    estimator: ClassVar[str] = "fsnml"
    is_score_equivalent: ClassVar[bool] = True
    is_hyperparameter_free: ClassVar[bool] = True
    is_regular: ClassVar[bool] = True

    @abstractmethod
    def penalty(self, n: float) -> float:
        """Return c(N), the penalty of one parameter; N may be 0."""

    def rate(self, n: float) -> float:
        """Return c(N) / N, the penalty of one parameter in a score per row."""
        return self.penalty(n) / n if n > 0 else 0.0

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return log-likelihood and penalty."""
        fit = float(np.sum(n_log_n(counts.table)) - np.sum(n_log_n(counts.row_totals)))
        each = self.penalty(counts.total)
        n_parameters = counts.n_configurations * (counts.arity - 1)  # may be infinite
        return {"log-likelihood": fit, "penalty": -each * n_parameters if each else 0.0}

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())
