"""Bayesian Dirichlet equivalent score with a prior network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import ClassVar, NoReturn, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.data.schema import Variable
from bestdag.errors import (
    DataError,
    InvalidParameterError,
    NotEnoughMemoryError,
    require_prior_count,
    unknown_name,
)
from bestdag.factors import Factor, at_rows, plan_elimination, sum_product
from bestdag.machine import memory_left, readable_size, require_memory
from bestdag.registry import setting
from bestdag.scores.bd import dirichlet_terms
from bestdag.scores.bdeu import BDeu
from bestdag.special import log_rising
from bestdag.wording import first_names

__all__ = ["BDe", "PriorMarginals", "PriorNetwork", "PriorTable"]

# Joint tables up to this many cells are worked out whole and cached; larger ones row by row.
_MAX_DENSE = 1 << 16
# All the tables in the cache have at most this many cells (64 MiB).
_MAX_CACHED = 1 << 23
# log2 of the cells a product may have on the way to a whole table (1 GiB; else row by row), and
# while rows are worked out together (32 MiB).
_MAX_LOG2_CELLS = 27
_ROOMY = 22
# Rows of published tables miss the sum 1 by less than this.
_SUM_TOLERANCE = 1e-3

# The axis of the rows.
_ROW = "\0row"

_Floats = npt.NDArray[np.float64]


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

    Raises
    ------
    InvalidParameterError
        A prior without tables, or an ess that is not positive.
    UnknownNameError, DataError
        On scoring, a variable that the prior network does not have, or that has other states there.

    Notes
    -----
    Data that the prior network calls impossible has probability zero: a family with a positive
    count where :math:`a_{jk} = 0` scores minus infinity. Configurations never observed add zero.

    P is worked out family by family, by variable elimination among the ancestors: as one table
    where that is small, which is cached, and otherwise for the observed configurations alone.

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
        """Return the native kernel, for bulk work; None with a prior network: it has names."""
        return _core.bdeu(self.ess) if self.prior is None else None

    def kernel_for(self, variables: Sequence[Variable]) -> _core.Kernel | None:
        """Return the native kernel for data with these variables, in name order."""
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


class PriorTable(Protocol):
    """A conditional table: the parents, and values of shape (*parent arities, arity)."""

    @property
    def parents(self) -> Sequence[Variable]:
        """The parents, in the order of the axes."""
        ...

    @property
    def values(self) -> _Floats:
        """Probabilities, the child's states on the last axis."""
        ...


@runtime_checkable
class PriorNetwork(Protocol):
    """What BDe needs of a prior network; `Network` has it, and a class of your own may."""

    @property
    def names(self) -> Sequence[str]:
        """Names of all variables."""
        ...

    def variable(self, name: str) -> Variable:
        """Return a variable."""
        ...

    def table(self, name: str) -> PriorTable:
        """Return the conditional table of a variable."""
        ...


class PriorMarginals:
    """Joint probabilities of families under a prior network.

    Rows of the network's tables are first scaled to sum to 1: published networks miss it by a
    little, and equivalent structures would differ by as much. Threads may share one object.
    """

    def __init__(self, network: PriorNetwork) -> None:
        self._variables = {name: network.variable(name) for name in network.names}
        self._arities = {name: variable.arity for name, variable in self._variables.items()}
        self._parents: dict[str, tuple[str, ...]] = {}
        self._factors: dict[str, Factor] = {}
        for name, variable in self._variables.items():
            table = network.table(name)
            self._parents[name] = tuple(parent.name for parent in table.parents)
            self._factors[name] = _factor(variable, table)
        self._lock = threading.Lock()
        self._cache: dict[tuple[str, ...], _Floats] = {}
        self._n_cached = 0

    def of(self, counts: FamilyCounts) -> _Floats:
        """Return P(child, parents) for each observed configuration: shape (m, arity)."""
        variables = (*counts.parents, counts.child)
        for variable in variables:
            self._check(variable)
        if prod(variable.arity for variable in variables) <= _MAX_DENSE:
            names = tuple(sorted(variable.name for variable in variables))
            joint = self._dense(names)
            if joint is not None:
                joint = np.moveaxis(joint, names.index(counts.child.name), -1)
                rows: _Floats = joint[tuple(counts.configurations.T.astype(np.intp))]
                return rows.reshape(counts.n_observed, counts.arity)
        return self._by_row(counts)

    def kernel(self, ess: float, variables: Sequence[Variable]) -> _core.Kernel:
        """Return the native kernel of BDe for these variables, in name order."""
        names = sorted(self._variables)
        numbers = {name: i for i, name in enumerate(names)}
        axes = [[numbers[axis] for axis in (*self._parents[name], name)] for name in names]
        known = [self._variables.get(variable.name) for variable in variables]
        return _core.bde(
            ess,
            np.array([self._arities[name] for name in names], np.int32),
            np.cumsum([0, *map(len, axes)], dtype=np.int64),
            np.array([axis for group in axes for axis in group], np.int32),
            np.concatenate([np.empty(0), *(self._factors[name].values.ravel() for name in names)]),
            np.array(
                [
                    numbers[variable.name] if own and own.states == variable.states else -1
                    for variable, own in zip(variables, known, strict=True)
                ],
                np.int32,
            ),
            max_bytes=memory_left(),
        )

    def refuse(self, child: Variable, parents: Sequence[Variable], n_bytes: float) -> NoReturn:
        """Raise what is wrong with a family that the native kernel refused."""
        for variable in (*parents, child):
            self._check(variable)
        self._require_memory(child.name, len(parents), n_bytes)
        raise NotEnoughMemoryError(
            f"BDe: {_joint_of(child.name, len(parents))} needs {readable_size(int(n_bytes))}, more "
            "than was available when the score met the data; make a new Scorer"
        )

    def _dense(self, names: tuple[str, ...]) -> _Floats | None:
        """Return the joint table, axes in this order, or None if it takes too much memory."""
        with self._lock:
            cached = self._cache.get(names)
        if cached is not None:
            return cached
        factors = self._relevant(names)
        plan = plan_elimination((f.axes for f in factors), names, self._arities)
        if plan.log2_cells > _MAX_LOG2_CELLS:
            return None
        shape = tuple(self._arities[name] for name in names)
        joint = np.ascontiguousarray(np.broadcast_to(sum_product(factors, plan, names), shape))
        with self._lock:
            if self._n_cached + joint.size > _MAX_CACHED:
                self._cache.clear()
                self._n_cached = 0
            self._cache[names] = joint
            self._n_cached += joint.size
        return joint

    def _by_row(self, counts: FamilyCounts) -> _Floats:
        """Fix the parents to the observed configurations, many at a time."""
        child = counts.child.name
        parents = [parent.name for parent in counts.parents]
        factors = self._relevant([child, *parents])
        scopes = [{_ROW if name in parents else name for name in f.axes} for f in factors]
        arities = {**self._arities, _ROW: counts.n_observed}
        plan = plan_elimination(scopes, [_ROW, child], arities)
        log2_rows = log2(counts.n_observed)
        log2_cells = plan.log2_cells - log2_rows  # for one row
        # A product and what it is made of.
        self._require_memory(child, len(parents), 16 * 2.0 ** min(log2_cells, 100.0))
        n_together = max(1, int(2 ** min(log2_rows, _ROOMY - log2_cells)))
        rows = np.empty((counts.n_observed, counts.arity))
        for first in range(0, counts.n_observed, n_together):
            codes = counts.configurations[first : first + n_together].T.astype(np.intp)
            fixed = dict(zip(parents, codes, strict=True))
            at = [at_rows(factor, fixed, _ROW) for factor in factors]
            rows[first : first + n_together] = sum_product(at, plan, (_ROW, child))
        return rows

    def _require_memory(self, child: str, n_parents: int, n_bytes: float) -> None:
        remedy = "use a prior network with fewer arcs, or fewer parents"
        n_whole = int(min(n_bytes, 2.0**104))
        require_memory("BDe", _joint_of(child, n_parents), n_whole, remedy)

    def _relevant(self, names: Iterable[str]) -> list[Factor]:
        """Return the factors of these variables and their ancestors: the others sum to 1."""
        relevant: dict[str, None] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in relevant:
                relevant[name] = None
                waiting.extend(self._parents[name])
        return [self._factors[name] for name in sorted(relevant)]

    def _check(self, variable: Variable) -> None:
        own = self._variables.get(variable.name)
        if own is None:
            raise unknown_name(
                "variable", variable.name, self._variables, who="BDe: the prior network"
            )
        if own.states != variable.states:
            raise DataError(
                f"BDe: states of {variable.name!r} are {_show(variable)} in the data and "
                f"{_show(own)} in the prior network; give the data the states of the network"
            )


def _factor(variable: Variable, table: PriorTable) -> Factor:
    values = np.asarray(table.values, dtype=np.float64)
    variables = (*table.parents, variable)
    shape = tuple(v.arity for v in variables)
    sums = values.sum(axis=-1, keepdims=True)
    if values.shape != shape or not (
        (values >= 0).all() and (np.abs(sums - 1) < _SUM_TOLERANCE).all()
    ):
        raise InvalidParameterError(
            f"BDe: the prior network's table of {variable.name!r} must have the shape {shape} and "
            f"rows of probabilities that sum to 1, got the shape {values.shape}"
        )
    # Axes of length 1 say nothing and count against the number of axes an array may have.
    axes = tuple(v.name for v in variables if v.arity > 1)
    return Factor(axes, (values / sums).reshape([n for n in shape if n > 1]))


def _joint_of(child: str, n_parents: int) -> str:
    return (
        f"the joint distribution of {child!r} and its {n_parents} parents under the prior network"
    )


def _show(variable: Variable) -> str:
    return first_names(variable.states)
