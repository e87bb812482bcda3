"""The set of Dirichlet priors that Min-BDeu and Max-BDeu choose from."""

from __future__ import annotations

import math
import numbers
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.special import log_rising
from bestdag.wording import arg, shown_value

__all__ = ["Contamination", "require_epsilon"]

_Floats = npt.NDArray[np.float64]


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
        return {
            "cells": float(np.sum(log_rising(priors, counts.table))),
            "configurations": -float(np.sum(log_rising(self.total, counts.row_totals))),
        }


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
