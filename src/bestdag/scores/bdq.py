"""Quotient of Bayesian Dirichlet marginal likelihoods."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import require_prior_count
from bestdag.registry import setting
from bestdag.special import log_rising

__all__ = ["BDq"]

# Above a q = n times this, the penalty is n ln r to the last bit.
_MANY_CASES = 1e18


@dataclass(frozen=True, slots=True, kw_only=True)
class BDq:
    r"""Log marginal likelihood of child and parents minus that of the parents.

    .. math::

        \sum_{j=1}^{q} \left[ \sum_{k=1}^{r} \ln\frac{\Gamma(a + N_{jk})}{\Gamma(a)}
        - \ln\frac{\Gamma(a + N_j)}{\Gamma(a)} \right]
        - \left[ \ln\frac{\Gamma(a q r + N)}{\Gamma(a q r)}
        - \ln\frac{\Gamma(a q + N)}{\Gamma(a q)} \right]

    What qNML is with marginal likelihoods in place of normalized maximum likelihoods: child and
    parents taken as one variable with q r states, over the parents taken as one with q, each
    under a Dirichlet prior with the same pseudo-count for every state.

    Parameters
    ----------
    pseudo_count : float, default 0.5
        The pseudo-count :math:`a > 0` of every state: 1/2 is Jeffreys' prior.

    Notes
    -----
    All q parent configurations are paid for, seen or not. Score equivalent, and equal to the
    log marginal likelihood for networks of disjoint complete components. The two priors of a
    quotient do not belong to one distribution: for other networks the score is not the
    logarithm of a probability. Not regular: with :math:`a = 1/2`, four cases evenly in the two
    states of x and in one configuration of six, a coin as one more parent raises ln(1/98) to
    ln(2/195). N is the sum of the weights.

    References
    ----------
    .. [1] Suzuki (2017). "A theoretical analysis of the BDeu scores in Bayesian network
       structure learning." Behaviormetrika 44.
    .. [2] Silander, Leppä-aho, Jääsaari and Roos (2018). "Quotient normalized maximum
       likelihood criterion for learning Bayesian network structures." AISTATS.

    Examples
    --------
    >>> counts = FamilyCounts.of([[2, 1]])  # 1/2 3/2 1/2 over 1 2 3: ln(1/16)
    >>> round(BDq().family(counts), 6)
    -2.772589
    """

    name: ClassVar[str] = "bdq"
    is_score_equivalent: ClassVar[bool] = True
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = False

    pseudo_count: float = setting(0.5, "Pseudo-count per table cell.")

    def __post_init__(self) -> None:
        require_prior_count("BDq", "pseudo_count", self.pseudo_count)

    def priors(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return the prior of the child in each observed configuration, one row each.

        The joint prior of child and parents, made conditional on the parents.
        """
        return np.full(counts.table.shape, float(self.pseudo_count))

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return what the cells and the configurations contribute, and what their numbers cost."""
        a = self.pseudo_count
        return {
            "cells": float(np.sum(log_rising(a, counts.table))),
            "configurations": -float(np.sum(log_rising(a, counts.row_totals))),
            "penalty": -self._penalty(counts),
        }

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.bdq(self.pseudo_count)

    def _penalty(self, counts: FamilyCounts) -> float:
        n, r = counts.total, counts.arity
        of_parents = self.pseudo_count * counts.n_configurations
        if of_parents > _MANY_CASES * n:  # q may be infinite
            return float(n * log(r))
        return float(log_rising(of_parents * r, n) - log_rising(of_parents, n))
