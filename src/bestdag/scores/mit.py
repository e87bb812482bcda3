"""Mutual information tests."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import bad_setting
from bestdag.registry import setting
from bestdag.scores.ll import LL
from bestdag.special import chi_square_quantile, n_log_n

__all__ = ["MIT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MIT:
    r"""Dependence on the parents beyond what a chain of independence tests would accept as chance.

    .. math::

        2 N\, I(X; \mathrm{Pa}) - \sum_{i=1}^{s} \chi^2_{\alpha, l_i}, \qquad
        l_i = (r - 1)(r_i - 1) \prod_{h < i} r_h, \qquad r_1 \ge r_2 \ge \dots \ge r_s

    where :math:`r_1, \ldots, r_s` are the arities of the s parents and
    :math:`\chi^2_{\alpha, l}` is the quantile of the chi-square distribution with l degrees of
    freedom: under independence the statistic stays below it with probability :math:`\alpha`.
    A family without parents scores 0.

    Parameters
    ----------
    confidence : float, default 0.99
        :math:`\alpha`, between 0 and 1; 0.90, 0.95 and 0.99 are usual.

    Notes
    -----
    The degrees of freedom add up to :math:`(q - 1)(r - 1)` in any order of the parents. A
    quantile at a high confidence grows more slowly than its degrees of freedom, so the penalty
    is largest when they are spread most evenly, which decreasing arities do: of two
    neighbours a >= b after a product A, the order (a, b) has A(a - 1) and Aa(b - 1), the order
    (b, a) has A(b - 1) and Ab(a - 1), the same sum further apart. It is the cautious choice.

    Score equivalent on forests and whenever all arities are equal, but not in general: the two
    complete graphs over arities (2, 3, 4) and (4, 3, 2) in topological order are charged 47.688 and
    48.247. A parent with one state has no degree of freedom and costs nothing.

    References
    ----------
    .. [1] de Campos (2006). "A scoring function for learning Bayesian networks based on mutual
       information and conditional independence tests." JMLR 7.
    .. [2] Carvalho (2009). "Scoring functions for learning Bayesian networks." INESC-ID
       Technical Report 54, section 2.1.2.

    Examples
    --------
    >>> round(MIT(confidence=0.95).family(FamilyCounts.of([[5, 0], [0, 5]])), 6)
    10.021485
    """

    name: ClassVar[str] = "mit"
    estimator: ClassVar[str] = "fsnml"
    is_score_equivalent: ClassVar[bool] = False
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = True

    confidence: float = setting(0.99, "Confidence level.")

    def __post_init__(self) -> None:
        real = isinstance(self.confidence, numbers.Real)
        if not real or not 0 < self.confidence < 1:
            raise bad_setting("MIT", "confidence", "a number between 0 and 1", self.confidence)

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return the test statistic 2 N I and the penalty."""
        if not counts.parents:
            return {"2 N information": 0.0, "penalty": 0.0}
        alone = float(np.sum(n_log_n(counts.table.sum(axis=0))) - n_log_n(counts.total))
        return {
            "2 N information": 2.0 * (LL().family(counts) - alone),
            "penalty": -self._penalty(counts),
        }

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.mit(self.confidence)

    def _penalty(self, counts: FamilyCounts) -> float:
        before = float(counts.arity - 1)
        penalty = 0.0
        for arity in sorted((parent.arity for parent in counts.parents), reverse=True):
            penalty += chi_square_quantile(before * (arity - 1), self.confidence)
            before *= arity
        return penalty
