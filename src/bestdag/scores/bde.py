"""Bayesian Dirichlet equivalent score with a prior network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.data.schema import Variable
from bestdag.errors import InvalidParameterError, require_prior_count
from bestdag.registry import setting
from bestdag.scores.bd import dirichlet_terms
from bestdag.scores.bdeu import BDeu
from bestdag.scores.prior_network import PriorMarginals, PriorNetwork
from bestdag.special import log_rising

__all__ = ["BDe"]


class _WithMarginals:
    """Room for what is worked out from the settings and is no setting itself."""

    __slots__ = ("_marginals",)
    _marginals: PriorMarginals | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BDe(_WithMarginals):
    r"""Log marginal likelihood when the prior cases come from a prior network.

    .. math::

        \sum_{j=1}^{q} \left[ \ln\frac{\Gamma(a_j)}{\Gamma(a_j + N_j)}
        + \sum_{k=1}^{r} \ln\frac{\Gamma(a_{jk} + N_{jk})}{\Gamma(a_{jk})} \right],
        \qquad a_{jk} = s\, P(x = k, \mathrm{pa} = j), \quad a_j = \sum_{k=1}^{r} a_{jk},

    with P the joint distribution of the prior network.

    Parameters
    ----------
    prior : Network, optional
        Has every variable that is scored, with the states of the data in the same order. Any
        object with ``names``, ``variable(name)`` and ``table(name)`` will do, see
        `PriorNetwork`. Without it every joint configuration is equally likely, and the score
        is BDeu.
    ess : float, default 1.0
        Equivalent sample size :math:`s > 0`: how many cases the prior network is worth.

    Notes
    -----
    Data that the prior network calls impossible has probability zero: a family with a positive
    count where :math:`a_{jk} = 0` scores minus infinity. Configurations never observed add zero.

    P is worked out family by family, by variable elimination among the ancestors, and kept: as
    one table where that is small, and otherwise for the observed configurations alone.

    References
    ----------
    .. [1] Heckerman, Geiger and Chickering (1995). "Learning Bayesian networks: the
       combination of knowledge and statistical data." Machine Learning 20, section 6.

    Examples
    --------
    >>> round(BDe(ess=1.0).family(FamilyCounts.of([[3, 1]])), 6)
    -3.242592
    """

    name: ClassVar[str] = "bde"
    is_score_equivalent: ClassVar[bool] = True
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = False

    prior: PriorNetwork | None = setting(
        None, "Prior network: a network file.  [default: uniform]", load="network"
    )
    ess: float = setting(1.0, "Equivalent sample size.")

    def __post_init__(self) -> None:
        require_prior_count("BDe", "ess", self.ess)
        if self.prior is not None and not isinstance(self.prior, PriorNetwork):
            raise InvalidParameterError(
                f"BDe: prior must be a network with tables, got {type(self.prior).__name__}"
            )
        marginals = None if self.prior is None else PriorMarginals(self.prior)
        object.__setattr__(self, "_marginals", marginals)

    def priors(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return the prior of each observed configuration, one row each."""
        if self._marginals is None:
            return BDeu(ess=self.ess).priors(counts)
        return self.ess * self._marginals.of(counts)

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return what the cells and what the configurations contribute."""
        if self._marginals is None:
            return BDeu(ess=self.ess).terms(counts)
        a_jk = self.priors(counts)
        if not a_jk.all():
            return _terms_with_zeros(counts, a_jk)
        return dirichlet_terms(counts, a_jk, a_jk.sum(axis=1))

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel | None:
        """Return the native twin, for bulk work; None with a prior network: it has names."""
        return _core.bdeu(self.ess) if self.prior is None else None

    def kernel_for(self, variables: Sequence[Variable]) -> _core.Kernel | None:
        """Return the native twin for data with these variables, in name order."""
        if self._marginals is None:
            return self.kernel()
        return self._marginals.kernel(self.ess, variables)

    def refuse(self, child: Variable, parents: Sequence[Variable], n_bytes: float) -> NoReturn:
        """Say which variable the prior network does not know, or that memory is short."""
        assert self._marginals is not None
        self._marginals.refuse(child, parents, n_bytes)

    def __reduce__(self) -> tuple[Callable[..., BDe], tuple[PriorNetwork | None, float]]:
        return _rebuilt, (self.prior, self.ess)


def _rebuilt(prior: PriorNetwork | None, ess: float) -> BDe:
    return BDe(prior=prior, ess=ess)


def _terms_with_zeros(counts: FamilyCounts, a_jk: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return the two parts where some a_jk are 0: minus infinity where such a cell has counts."""
    if np.any((a_jk == 0) & (counts.table > 0)):
        cells = -np.inf
    else:
        possible = a_jk > 0
        cells = float(np.sum(log_rising(a_jk[possible], counts.table[possible])))
    a_j, totals = a_jk.sum(axis=1), counts.row_totals
    possible = a_j > 0
    return {
        "cells": cells,
        "configurations": -float(np.sum(log_rising(a_j[possible], totals[possible]))),
    }
