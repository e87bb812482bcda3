"""K2 score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.scores.bd import dirichlet_terms

__all__ = ["K2"]


@dataclass(frozen=True, slots=True)
class K2:
    r"""Log marginal likelihood when all conditional distributions are equally likely.

    .. math::

        \sum_{j=1}^{q} \left[ \ln\frac{(r - 1)!}{(N_j + r - 1)!}
        + \sum_{k=1}^{r} \ln N_{jk}! \right]

    It is the BD score with every pseudo-count 1.

    Notes
    -----
    Not score equivalent: a larger family has more prior cases. Configurations never observed
    add zero.

    References
    ----------
    .. [1] Cooper and Herskovits (1992). "A Bayesian method for the induction of probabilistic
       networks from data." Machine Learning 9.
    .. [2] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs", 2nd edition,
       equation 7.9.

    Examples
    --------
    >>> round(K2().family(FamilyCounts.of([[8, 2]])), 6)  # 8! 2! / 11! = 1/495
    -6.204558
    """

    name: ClassVar[str] = "k2"
    is_score_equivalent: ClassVar[bool] = False
    is_hyperparameter_free: ClassVar[bool] = True
    is_regular: ClassVar[bool] = True

    def priors(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return the prior of each observed configuration, one row each."""
        return np.ones(counts.table.shape)

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return what the cells and what the configurations contribute."""
        return dirichlet_terms(counts, 1.0, float(counts.arity))

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.bd(1.0)
