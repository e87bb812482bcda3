"""Scores of a table with missing values: each family over the rows that show all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.data.schema import Variable
from bestdag.special import n_log_n

__all__ = ["AveragedScore", "NodeAverage", "mean_log_likelihood"]


@runtime_checkable
class AveragedScore(Protocol):
    """A score that is a log-likelihood minus a penalty for each parameter, per row of the data."""

    name: ClassVar[str]

    def rate(self, n: float) -> float:
        """Return the penalty of one parameter, divided by the N rows of the data."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAverage:
    r"""Mean log-likelihood over the rows that show the family, minus a penalty per parameter.

    .. math::

        \frac{1}{N_{ok}} \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j}
        - \lambda_N\, q (r - 1)

    where the counts, and their sum :math:`N_{ok}`, are those of the rows in which neither the
    child nor a parent is missing, and N is the number of all rows. Minus infinity where no row
    shows the whole family.

    Parameters
    ----------
    score : AveragedScore
        Where :math:`\lambda_N` comes from: LL, AIC, BIC, HQC (their own penalty divided by N) or
        PNAL.
    n_cases : float
        N: all rows of the data, or the sum of their weights.
    incomplete : frozenset of str
        The variables that have missing values.

    Notes
    -----
    It assumes that values are missing completely at random: whether a value is missing depends on
    nothing in the row. Otherwise rows that show a family are no fair sample of all rows.

    Not score equivalent: a family of A given B and one of B given A are counted over the same
    rows, but families without a parent are not. Larger families are seen in fewer rows, so that
    one more parent may raise or lower the mean log-likelihood even if it tells nothing.

    References
    ----------
    .. [1] Balov (2013). "Consistent model selection of discrete Bayesian networks from incomplete
       data." Electronic Journal of Statistics 7.
    .. [2] Bodewes and Scutari (2021). "Learning Bayesian networks from incomplete data with the
       node-average likelihood." International Journal of Approximate Reasoning 138.

    Examples
    --------
    >>> from bestdag.scores.ll import LL
    >>> half = NodeAverage(score=LL(), n_cases=20.0, incomplete=frozenset({"child"}))
    >>> round(half.family(FamilyCounts.of([[6, 2], [0, 2]])), 6)  # LL of 10 rows, / 10
    -0.449868
    """

    name: ClassVar[str] = "node_average"
    is_score_equivalent: ClassVar[bool] = False
    is_per_row: ClassVar[bool] = True

    score: AveragedScore
    n_cases: float
    incomplete: frozenset[str] = field(repr=False)

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return the mean log-likelihood and the penalty."""
        each = self.score.rate(self.n_cases)
        n_parameters = counts.n_configurations * (counts.arity - 1)  # may be infinite
        return {
            "mean log-likelihood": mean_log_likelihood(counts),
            "penalty": -each * n_parameters if each else 0.0,
        }

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> None:
        """Return None: the native kernel is bound to the variables of the data."""

    def kernel_for(self, variables: Sequence[Variable]) -> _core.Kernel:
        """Return the native kernel for a table in which the last state means missing."""
        has_missing = np.array([v.name in self.incomplete for v in variables], np.uint8)
        return _core.node_average(self.score.rate(self.n_cases), has_missing)


def mean_log_likelihood(counts: FamilyCounts) -> float:
    """Return the maximised log-likelihood divided by the number of rows; minus infinity of none.

    Examples
    --------
    >>> round(mean_log_likelihood(FamilyCounts.of([[1, 3]])), 6)  # (ln 1/4 + 3 ln 3/4) / 4
    -0.562335
    """
    if not counts.total > 0:
        return -math.inf
    fit = float(np.sum(n_log_n(counts.table)) - np.sum(n_log_n(counts.row_totals)))
    return fit / counts.total
