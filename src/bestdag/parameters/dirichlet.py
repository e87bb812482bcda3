"""Posterior mean under Dirichlet priors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts
from bestdag.errors import DataError, InvalidParameterError, require_prior_count
from bestdag.parameters.base import normalized, shares_unobserved
from bestdag.registry import setting
from bestdag.scores.bd import BD
from bestdag.scores.bde import BDe, PriorNetwork
from bestdag.scores.bdeu import BDeu
from bestdag.scores.k2 import K2
from bestdag.scores.max_bdeu import MaxBDeu
from bestdag.scores.min_bdeu import MinBDeu
from bestdag.wording import arg, as_option, by_reader

__all__ = ["Dirichlet", "HasPriors"]

_Floats = npt.NDArray[np.float64]


@runtime_checkable
class HasPriors(Protocol):
    """What has Dirichlet priors: the scores BD, BDe, BDeu, K2, Min-BDeu and Max-BDeu."""

    def priors(self, counts: FamilyCounts) -> _Floats:
        """Return the prior of each configuration of the counts, one row each."""
        ...


class _WithSource:
    """Room for what is worked out from the settings and is no setting itself."""

    __slots__ = ("_source",)
    _source: HasPriors


@dataclass(frozen=True, slots=True, kw_only=True)
class Dirichlet(_WithSource):
    r"""Expected parameters, given the data, under a Dirichlet prior for each configuration.

    .. math::

        \theta_{jk} = \frac{N_{jk} + a_{jk}}{\sum_{k'=1}^{r} (N_{jk'} + a_{jk'})}

    It is the probability that the model behind a BD score gives the next case. Belongs to the
    scores BD, BDe, BDeu, K2, Min-BDeu and Max-BDeu, with the prior of each.

    Parameters
    ----------
    ess : float, optional
        Equivalent sample size s: :math:`a_{jk} = s / (r q)` as in BDeu, or s cases from the
        prior network when one is given. 1 unless given.
    pseudo_count : float, optional
        The same :math:`a_{jk} > 0` for every cell: 1 is K2's prior and Laplace's rule of
        succession, 1/2 is Jeffreys' prior.
    tables : mapping, optional
        :math:`a_{jk}` for each family, as in `BD`.
    prior : Network or score, optional
        A prior network, as in `BDe`, or a score whose prior is meant, such as
        ``MinBDeu(epsilon=0.5)``; any object with ``priors(counts)`` will do. With
        ``shares_unobserved = True`` it says that configurations without counts have one prior.

    Raises
    ------
    InvalidParameterError
        Settings that exclude each other, or a number that is not positive.

    Notes
    -----
    A configuration that was never seen gets the mean of its prior; where a prior network calls
    the configuration impossible there is none, and the distribution is uniform. Min- and
    Max-BDeu choose among priors after seeing the counts; the prior they chose is used. A state
    that was seen where the prior has :math:`a_{jk} = 0` has no posterior and is refused.

    References
    ----------
    .. [1] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." International Journal of Approximate Reasoning 51, section 4.1.

    Examples
    --------
    >>> Dirichlet(pseudo_count=1).rows(FamilyCounts.of([[2, 0], [0, 0]]))  # 3 to 1
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    >>> Dirichlet()
    Dirichlet(ess=1.0)
    """

    name: ClassVar[str] = "dirichlet"

    ess: float | None = setting(None, "Equivalent sample size.  [default: 1 without another prior]")
    pseudo_count: float | None = setting(None, "Pseudo-count per table cell.")
    tables: Mapping[tuple[str, Collection[str]], npt.ArrayLike] | None = setting(
        None, "Pseudo-counts of every family: a JSON file.", load="tables"
    )
    prior: PriorNetwork | HasPriors | None = setting(
        None, "Prior network: a network file.", load="network"
    )

    def __post_init__(self) -> None:
        chosen = [name for name, value in self._settings().items() if value is not None]
        for name in ("ess", "pseudo_count"):
            if name in chosen:
                require_prior_count("Dirichlet", name, getattr(self, name))
        if len(chosen) > 1 and (chosen != ["ess", "prior"] or isinstance(self.prior, HasPriors)):
            raise InvalidParameterError(
                f"Dirichlet: give one of {arg('ess')}, {arg('pseudo_count')}"
                f"{by_reader(', tables', '')} and {arg('prior')} ({arg('ess')} also with a prior "
                f"network), got {' and '.join(by_reader(one, as_option(one)) for one in chosen)}"
            )
        source = self._make_source()
        if self.tables is not None:
            assert isinstance(source, BD)
            object.__setattr__(self, "tables", source.tables)  # checked and read-only
        if isinstance(source, BDe | BDeu) and source is not self.prior:
            object.__setattr__(self, "ess", source.ess)
        object.__setattr__(self, "_source", source)

    @property
    def shares_unobserved(self) -> bool:
        """Whether configurations without counts are alike: not with a prior network or tables."""
        match self._source:
            case BDeu() | K2() | MinBDeu() | MaxBDeu():
                return True
            case BD(pseudo_count=count):
                return count is not None
            case BDe(prior=prior):
                return prior is None
        return shares_unobserved(self._source)

    def priors(self, counts: FamilyCounts) -> _Floats:
        """Return the prior of each configuration of the counts, one row each."""
        return self._source.priors(counts)

    def rows(self, counts: FamilyCounts) -> _Floats:
        """Return the distribution in each configuration of the counts."""
        priors = self.priors(counts)
        impossible = (priors == 0) & (counts.table > 0)
        if impossible.any():
            raise DataError(_impossible(counts, int(np.argmax(impossible))))
        return normalized(counts.table + priors)

    def _make_source(self) -> HasPriors:
        if self.pseudo_count is not None or self.tables is not None:
            return BD(pseudo_count=self.pseudo_count, tables=self.tables)
        ess = 1.0 if self.ess is None else self.ess
        if self.prior is None:
            return BDeu(ess=ess)
        if isinstance(self.prior, HasPriors) and not isinstance(self.prior, type):
            return self.prior
        if isinstance(self.prior, PriorNetwork):
            return BDe(prior=self.prior, ess=ess)
        raise InvalidParameterError(
            "Dirichlet: prior must be a network with tables or a score with Dirichlet priors, "
            f"got {self.prior!r}"
        )

    def _settings(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __reduce__(self) -> tuple[Callable[..., Dirichlet], tuple[dict[str, Any]]]:
        return _rebuilt, (self._settings(),)

    def __repr__(self) -> str:
        chosen = {name: value for name, value in self._settings().items() if value is not None}
        return f"Dirichlet({', '.join(f'{name}={value!r}' for name, value in chosen.items())})"


def _rebuilt(settings: dict[str, Any]) -> Dirichlet:
    return Dirichlet(**settings)


def _impossible(counts: FamilyCounts, cell: int) -> str:
    row, code = divmod(cell, counts.arity)
    state = [f"{counts.child.name}={counts.child.states[code]}"]
    configuration = counts.configurations[row].tolist()
    state += [f"{p.name}={p.states[c]}" for p, c in zip(counts.parents, configuration, strict=True)]
    return (
        f"Dirichlet: the data have {counts.table[row, code]:,} cases with {', '.join(state)}, "
        "which the prior calls impossible; use another prior, or parameters 'mle' or 'fsnml'"
    )
