"""Max-BDeu: BDeu under the most favourable prior of a contamination set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import require_prior_count
from bestdag.registry import setting
from bestdag.scores.min_bdeu import Contamination, require_epsilon
from bestdag.special import log_rising_slopes

__all__ = ["MaxBDeu"]

_Floats = npt.NDArray[np.float64]

# The bracket of a height spans less than exp(60): these halvings leave 1e-15 of it.
_N_HALVINGS = 56
# Newton's method on a concave or convex function: far more steps than it ever takes.
_MAX_STEPS = 100

_LEAST_EPSILON = 1e-100


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxBDeu:
    r"""Largest log marginal likelihood over the priors around the uniform one.

    .. math::

        \sum_{j=1}^{q} \max_{\alpha_j} \left[ \ln\frac{\Gamma(\beta)}{\Gamma(\beta + N_j)}
        + \sum_{k=1}^{r} \ln\frac{\Gamma(\alpha_{jk} + N_{jk})}{\Gamma(\alpha_{jk})} \right],
        \qquad \beta = \frac{s}{q},

    where :math:`\alpha_j` sums to :math:`\beta` and no :math:`\alpha_{jk}` is below
    :math:`\beta (1 - \varepsilon) / r`: an :math:`\varepsilon`-contamination of the uniform prior.

    Parameters
    ----------
    ess : float, default 1.0
        Equivalent sample size :math:`s > 0`.
    epsilon : float, default 0.5
        Size of the set of priors, from 0 (BDeu) to 1 (every prior of that size). The defaults
        are the values of [1]_, section 4.

    Notes
    -----
    The function is concave in each :math:`\alpha_{jk}`, so the maximum is where the derivatives
    :math:`\psi(\alpha_{jk} + N_{jk}) - \psi(\alpha_{jk})` of all states above the lower bound are
    equal and those on it have none larger. Not score equivalent.

    References
    ----------
    .. [1] Scanagatta, de Campos and Zaffalon (2014). "Min-BDeu and Max-BDeu scores for learning
       Bayesian networks."

    Examples
    --------
    >>> round(MaxBDeu(ess=1.0).family(FamilyCounts.of([[3, 1]])), 6)  # -ln 24
    -3.178054
    """

    name: ClassVar[str] = "max_bdeu"
    is_score_equivalent: ClassVar[bool] = False
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = False

    ess: float = setting(1.0, "Equivalent sample size.")
    epsilon: float = setting(0.5, "Contamination of the prior.")

    def __post_init__(self) -> None:
        require_prior_count("MaxBDeu", "ess", self.ess)
        require_epsilon("MaxBDeu", self.epsilon, may_be_one=True)

    @property
    def _free_share(self) -> float:
        """The epsilon to compute with: below 1e-100 its products vanish beside all others."""
        return 0.0 if self.epsilon < _LEAST_EPSILON else self.epsilon

    def priors(self, counts: FamilyCounts) -> _Floats:
        """Return the maximising prior of each observed configuration, one row each.

        It is unique but for a configuration without counts, which gets the uniform prior.

        Examples
        --------
        >>> MaxBDeu(ess=1.0).priors(FamilyCounts.of([[3, 1]])).round(6)  # (sqrt(5) - 1) / 2, ...
        array([[0.618034, 0.381966]])
        """
        allowed = Contamination.of(counts, ess=self.ess, epsilon=self._free_share)
        priors = np.full(counts.table.shape, allowed.floor)
        priors[counts.row_totals == 0] = allowed.total / counts.arity
        if allowed.free > 0:
            rows, states = np.nonzero(counts.table)
            n = counts.table[rows, states].astype(np.float64)
            priors[rows, states] += _favourable_shares(n, rows, allowed)
        return priors

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return what the cells and what the configurations contribute."""
        allowed = Contamination.of(counts, ess=self.ess, epsilon=self._free_share)
        return allowed.terms(self.priors(counts), counts)

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.max_bdeu(self.ess, self._free_share)


def _favourable_shares(n: _Floats, rows: npt.NDArray[np.intp], allowed: Contamination) -> _Floats:
    """Share out the free mass of each row over its counts n > 0, by halving brackets.

    Call one over the derivative the height of a cell. It grows with the prior; in each row all
    cells above the floor have the height mu at which they use up the free mass. With equal shares
    the lowest cell is too low for mu and the highest too high, or just right.
    """
    _, row = np.unique(rows, return_inverse=True)  # without gaps
    equal = allowed.free / np.bincount(row)
    heights = 1.0 / log_rising_slopes(allowed.floor + equal[row], n)[0]
    low, high = np.full(equal.shape, np.inf), np.zeros(equal.shape)
    np.minimum.at(low, row, heights)
    np.maximum.at(high, row, heights)
    for _ in range(_N_HALVINGS):
        mu = low * np.sqrt(high / low)
        used = np.bincount(row, _prior_of_height(mu[row], n, allowed.floor) - allowed.floor)
        low, high = np.where(used < allowed.free, mu, low), np.where(used < allowed.free, high, mu)
    shares = _prior_of_height(high[row], n, allowed.floor) - allowed.floor
    # A free mass below the rounding of the floor is the same as equal shares.
    shares = np.where(np.bincount(row, shares)[row] > 0, shares, equal[row])
    return np.asarray(shares * (allowed.free / np.bincount(row, shares))[row])


def _prior_of_height(mu: _Floats, n: _Floats, floor: float) -> _Floats:
    """Return the prior >= floor with psi(a + n) - psi(a) = 1 / mu, or the floor, by Newton steps.

    The height is concave in a for n >= 1, convex for n <= 1, and between a and a / n: beginning
    at the lower end, Newton's method passes the solution at most once.
    """
    a = np.maximum(floor, np.minimum(n, 1.0) * mu)
    for _ in range(_MAX_STEPS):
        first, second = log_rising_slopes(a, n)
        moved = np.maximum(floor, a + (mu * first - 1.0) * first / -second)
        is_settled = np.abs(moved - a) <= 1e-14 * a
        a = moved
        if is_settled.all():
            break
    return a
