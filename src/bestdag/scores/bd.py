"""Bayesian Dirichlet score with pseudo-counts of one's own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.data.schema import Variable
from bestdag.errors import InvalidParameterError, require_prior_count
from bestdag.registry import setting
from bestdag.scores.pseudo_counts import PseudoCounts
from bestdag.special import log_rising

__all__ = ["BD", "dirichlet_terms"]

_DEFAULT = 0.5  # Jeffreys' prior

_Tables = Mapping[tuple[str, Collection[str]], npt.ArrayLike]


@dataclass(frozen=True, slots=True, kw_only=True)
class BD:
    r"""Log marginal likelihood under Dirichlet priors with given pseudo-counts.

    .. math::

        \sum_{j=1}^{q} \left[ \ln\frac{\Gamma(a_j)}{\Gamma(a_j + N_j)}
        + \sum_{k=1}^{r} \ln\frac{\Gamma(a_{jk} + N_{jk})}{\Gamma(a_{jk})} \right],
        \qquad a_j = \sum_{k=1}^{r} a_{jk}.

    Parameters
    ----------
    pseudo_count : float, default 0.5
        The same :math:`a_{jk} > 0` for every cell of every family: 1/2 is Jeffreys' prior, 1
        the K2 score.
    tables : mapping, optional
        Instead of one number: for each family, ``(child, parents)``, an array of positive
        numbers of shape (q, r). Its rows are all configurations of the parents taken in name
        order, the last parent running fastest; its columns are the child's states.

    Raises
    ------
    InvalidParameterError
        When both are given, a number is not positive, or, on scoring, a family has no table
        or one of the wrong shape.

    Notes
    -----
    Not score equivalent. Regular with one pseudo-count for all; given tables need not be.
    Configurations never observed add zero.

    References
    ----------
    .. [1] Heckerman, Geiger and Chickering (1995). "Learning Bayesian networks: the
       combination of knowledge and statistical data." Machine Learning 20.
    .. [2] Suzuki (2017). "A theoretical analysis of the BDeu scores in Bayesian network
       structure learning." Behaviormetrika 44.

    Examples
    --------
    >>> round(BD().family(FamilyCounts.of([[3, 1]])), 6)
    -3.242592
    >>> BD(tables={("rain", ()): [[9, 1]], ("wet", ("rain",)): [[8, 1], [1, 3]]})
    BD(tables=<2 families>)
    """

    name: ClassVar[str] = "bd"
    is_score_equivalent: ClassVar[bool] = False
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = True

    pseudo_count: float | None = setting(None, "Pseudo-count per table cell.  [default: 0.5]")
    tables: _Tables | None = setting(
        None, "Pseudo-counts of every family: a JSON file.", load="tables"
    )

    def __post_init__(self) -> None:
        if self.tables is None:
            count = _DEFAULT if self.pseudo_count is None else self.pseudo_count
            object.__setattr__(
                self, "pseudo_count", require_prior_count("BD", "pseudo_count", count)
            )
            return
        if self.pseudo_count is not None:
            raise InvalidParameterError(
                f"BD: give pseudo_count or tables, not both; got pseudo_count={self.pseudo_count!r}"
            )
        object.__setattr__(self, "tables", PseudoCounts(self.tables))

    def priors(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return the prior of each observed configuration, one row each."""
        if self.pseudo_count is not None:
            return np.full(counts.table.shape, float(self.pseudo_count))
        assert isinstance(self.tables, PseudoCounts)
        return self.tables.rows(counts)

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return what the cells and what the configurations contribute."""
        if self.pseudo_count is not None:
            return dirichlet_terms(counts, self.pseudo_count, self.pseudo_count * counts.arity)
        a_jk = self.priors(counts)
        return dirichlet_terms(counts, a_jk, a_jk.sum(axis=1))

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel | None:
        """Return the native twin, for bulk work; None with tables: they have names."""
        return None if self.pseudo_count is None else _core.bd(self.pseudo_count)

    def kernel_for(self, variables: Sequence[Variable]) -> _core.Kernel | None:
        """Return the native twin for data with these variables, in name order."""
        if isinstance(self.tables, PseudoCounts):
            return self.tables.kernel(variables)
        return self.kernel()

    def refuse(self, child: Variable, parents: Sequence[Variable], n_bytes: float) -> NoReturn:
        """Say what is wrong with the table of a family."""
        assert isinstance(self.tables, PseudoCounts)
        self.tables.of(child, parents)
        raise AssertionError("a family with a table is never refused")

    def __repr__(self) -> str:
        if self.pseudo_count is not None:
            return f"BD(pseudo_count={self.pseudo_count!r})"
        return f"BD(tables={self.tables!r})"


def dirichlet_terms(
    counts: FamilyCounts, a_jk: float | npt.NDArray[Any], a_j: float | npt.NDArray[Any]
) -> dict[str, float]:
    """Return the two parts of the log marginal likelihood under Dirichlet priors.

    The prior gives `a_jk` to the cells and `a_j` to the rows of the table of counts.
    """
    return {
        "cells": float(np.sum(log_rising(a_jk, counts.table))),
        "configurations": -float(np.sum(log_rising(a_j, counts.row_totals))),
    }
