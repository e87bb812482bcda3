"""Min-BDeu: BDeu under the most adverse prior of a contamination set."""

from __future__ import annotations

import math
import numbers
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError, require_prior_count
from bestdag.registry import setting
from bestdag.scores.bd import dirichlet_terms
from bestdag.wording import arg, shown_value

__all__ = ["Contamination", "MinBDeu", "require_epsilon"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class MinBDeu:
    r"""Smallest log marginal likelihood over the priors around the uniform one.

    .. math::

        \sum_{j=1}^{q} \min_{\alpha_j} \left[ \ln\frac{\Gamma(\beta)}{\Gamma(\beta + N_j)}
        + \sum_{k=1}^{r} \ln\frac{\Gamma(\alpha_{jk} + N_{jk})}{\Gamma(\alpha_{jk})} \right],
        \qquad \beta = \frac{s}{q},

    where :math:`\alpha_j` sums to :math:`\beta` and no :math:`\alpha_{jk}` is below
    :math:`\beta (1 - \varepsilon) / r`: an :math:`\varepsilon`-contamination of the uniform prior.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size :math:`s > 0`.
    epsilon : float, default 0.5
        Size of the set of priors, from 0 (BDeu) to below 1: at 1 a prior may rule out what was
        seen, and the score would be minus infinity. The defaults are the values of [1]_,
        section 4.

    Notes
    -----
    In each parent configuration the state with the smallest count gets all that may be shared
    out: a concave function has its minimum over the set in a corner, and moving to the corner k
    adds :math:`\ln[\Gamma(u + N_k) / \Gamma(u)] - \ln[\Gamma(c + N_k) / \Gamma(c)]` for corner
    value u and lower bound c, which grows with :math:`N_k` because :math:`\psi(u + N_k) > \psi(c +
    N_k)`. So the score costs no more than BDeu. Not score equivalent.

    References
    ----------
    .. [1] Scanagatta, de Campos and Zaffalon (2014). "Min-BDeu and Max-BDeu scores for learning
       Bayesian networks."

    Examples
    --------
    >>> round(MinBDeu(ess=1.0).family(FamilyCounts.of([[3, 1]])), 6)
    -3.817956
    """

    name: ClassVar[str] = "min_bdeu"
    is_score_equivalent: ClassVar[bool] = False
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = False

    ess: float = setting(1.0, "Equivalent sample size.")
    epsilon: float = setting(0.5, "Contamination of the prior.")

    def __post_init__(self) -> None:
        require_prior_count("MinBDeu", "ess", self.ess)
        require_epsilon("MinBDeu", self.epsilon, may_be_one=False)

    def priors(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return a minimising prior of each observed configuration, one row each.

        Where several are as adverse: states without counts share equally, so a configuration
        without any gets the uniform prior; of equal smallest counts > 0 the first state is taken.

        Examples
        --------
        >>> MinBDeu(ess=2.0).priors(FamilyCounts.of([[3, 1], [2, 2], [0, 0]], n_configurations=4))
        array([[0.125, 0.375],
               [0.375, 0.125],
               [0.25 , 0.25 ]])
        """
        allowed = Contamination.of(counts, ess=self.ess, epsilon=self.epsilon)
        is_empty = counts.table == 0
        n_empty = is_empty.sum(axis=1, keepdims=True)
        is_smallest = np.arange(counts.arity) == np.argmin(counts.table, axis=1)[:, None]
        shares = np.where(n_empty > 0, is_empty / np.maximum(n_empty, 1), is_smallest)
        priors: npt.NDArray[np.float64] = allowed.floor + allowed.free * shares
        return priors

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return what the cells and what the configurations contribute."""
        allowed = Contamination.of(counts, ess=self.ess, epsilon=self.epsilon)
        return allowed.terms(self.priors(counts), counts)

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.min_bdeu(self.ess, self.epsilon)


@dataclass(frozen=True, slots=True)
class Contamination:
    r"""Epsilon-contamination of the uniform prior of one parent configuration.

    The convex hull of the priors that give the share :math:`\varepsilon` to one state and spread
    the rest evenly, for a family with r states and q parent configurations:

    .. math::

        \sum_k \alpha_k = \beta = \frac{s}{q}, \qquad
        \beta \frac{1 - \varepsilon}{r} \le \alpha_k
        \le \beta \left( \varepsilon + \frac{1 - \varepsilon}{r} \right).

    The upper bounds follow from the sum and the lower bounds.

    Attributes
    ----------
    total : float
        :math:`\beta`.
    floor : float
        The lower bound of each :math:`\alpha_k`.
    free : float
        :math:`\beta \varepsilon`, what may be shared out above the lower bounds.

    References
    ----------
    .. [1] Scanagatta, de Campos and Zaffalon (2014). "Min-BDeu and Max-BDeu scores for learning
       Bayesian networks", equation 3.

    Examples
    --------
    >>> Contamination.of(FamilyCounts.of([[3, 1]]), ess=1.0, epsilon=0.5)
    Contamination(total=1.0, floor=0.25, free=0.5)
    """

    total: float
    floor: float
    free: float

    @classmethod
    def of(cls, counts: FamilyCounts, *, ess: float, epsilon: float) -> Contamination:
        """Return the set for each parent configuration of a family; it is the same for all."""
        total = ess / counts.n_configurations
        if counts.arity == 1:  # leaves no choice, and no rounding
            return cls(total, total, 0.0)
        return cls(total, total * (1.0 - epsilon) / counts.arity, total * epsilon)

    def terms(self, priors: _Floats, counts: FamilyCounts) -> dict[str, float]:
        """Return what cells and configurations contribute to the log marginal likelihood."""
        return dirichlet_terms(counts, priors, self.total)


def require_epsilon(who: str, epsilon: object, *, may_be_one: bool) -> None:
    """Refuse an epsilon outside its range.

    Examples
    --------
    >>> require_epsilon("MinBDeu", 1.0, may_be_one=False)
    Traceback (most recent call last):
    bestdag.errors.InvalidParameterError: MinBDeu: epsilon must be a number >= 0 and < 1, got 1.0;
    with 1 the score would be minus infinity
    """
    value = math.nan
    if not isinstance(epsilon, bool) and isinstance(epsilon, numbers.Real):
        with suppress(OverflowError):  # a whole number that no double holds
            value = float(epsilon)
    if 0 <= value < 1 or (may_be_one and value == 1):
        return
    why = "; with 1 the score would be minus infinity" if value == 1 else ""
    raise InvalidParameterError(
        f"{who}: {arg('epsilon')} must be a number >= 0 and {'<=' if may_be_one else '<'} 1, got "
        f"{shown_value(epsilon)}{why}"
    )
