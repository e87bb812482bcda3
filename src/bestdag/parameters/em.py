"""Expectation maximization: the parameters of a network from rows with missing values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts
from bestdag.errors import (
    DataError,
    InvalidParameterError,
    bad_setting,
    require_count,
    require_flag,
    require_not_negative,
)
from bestdag.inference.flat_tables import FlatTables
from bestdag.inference.incomplete import IncompleteRows
from bestdag.parameters.base import Estimator, normalized, shares_unobserved
from bestdag.parameters.dirichlet import Dirichlet, HasPriors
from bestdag.parameters.expectation_maximization import EMRun, Expectation, iterate
from bestdag.parameters.fsnml import FSNML
from bestdag.registry import setting
from bestdag.scores.bde import PriorNetwork
from bestdag.scores.max_bdeu import MaxBDeu
from bestdag.scores.min_bdeu import MinBDeu

__all__ = ["EM", "family_counts"]

_Floats = npt.NDArray[np.float64]

# Random starts when a variable has no value at all: the likelihood then has several maxima.
_RESTARTS_IF_HIDDEN = 4
_STARTS = ("available", "uniform", "random")


@dataclass(frozen=True, slots=True, kw_only=True)
class EM:
    r"""Parameters from incomplete rows: expected counts and estimates from them, in turn.

    .. math::

        \theta_{jk} \leftarrow
        \frac{\bar N_{jk} + a_{jk}}{\sum_{k'=1}^{r} (\bar N_{jk'} + a_{jk'})}, \qquad
        \bar N_{jk} = \sum_{i=1}^{N} P(\text{configuration } j, \text{ state } k
        \mid \text{what row } i \text{ shows}, \theta).

    No iteration lowers the log-likelihood of what the rows show or, with a prior, that plus
    :math:`\sum a_{jk} \ln \theta_{jk}`. The expected counts are exact. Values are taken to be
    missing at random: whether a value is missing depends on what the row shows alone.

    Parameters
    ----------
    ess : float, optional
        Equivalent sample size: :math:`a_{jk} = s / (r q)` as in `BDeu`, or s cases from the prior
        network. Without `ess` and `prior`, :math:`a_{jk} = 0`: maximum likelihood.
    prior : Network or score, optional
        A prior network, or a score whose Dirichlet prior is meant, as in `Dirichlet`.
    mode : bool, default False
        Take the mode of the posterior, :math:`a_{jk} - 1` in place of :math:`a_{jk}`; every
        :math:`a_{jk}` must be at least 1.
    smooth : {"fsnml"}, optional
        Iterate by maximum likelihood, and estimate once more from the last expected counts, by
        fsNML, which is no M step. So are Min- and Max-BDeu, whose priors depend on the counts:
        given as `prior`, they estimate at the end as well.
    start : {"available", "uniform", "random"} or Network, default "available"
        Where to begin: frequencies in the rows in which a family is complete, uniform
        distributions, random ones, or the tables of a network.
    restarts : int, optional
        Random starts beside that; the best result is kept. None unless a variable has no value at
        all, then 4.
    seed : int, default 0
        For random starts.
    max_iterations : int, default 1000
        At least 1.
    tolerance : float, default 1e-6
        The iterations end when what they raise changes by no more than this share of itself.

    Notes
    -----
    A start with zeros keeps them: what it calls impossible stays so, and a row that it calls
    impossible is refused. A missing value that nothing known depends on is left out of the counts,
    where standard accounts add its expectation: maxima are the same, and fewer iterations lead
    there. A variable without any value in the rows (hidden, with declared states) has several
    equivalent solutions, and uniform distributions are a bad start for it.

    Without missing values it is the closed form, in one iteration. `fit_network` returns the
    network; `run_em` also how it went.

    References
    ----------
    .. [1] Dempster, Laird and Rubin (1977). "Maximum likelihood from incomplete data via the EM
       algorithm." JRSS B 39.
    .. [2] Lauritzen (1995). "The EM algorithm for graphical association models with missing
       data." Computational Statistics & Data Analysis 19.

    Examples
    --------
    >>> EM(ess=1).rows(FamilyCounts.of([[3, 1]]))  # the M step: 3.5 to 1.5
    array([[0.7, 0.3]])
    """

    name: ClassVar[str] = "em"

    ess: float | None = setting(None, "Equivalent sample size.  [default: maximum likelihood]")
    prior: PriorNetwork | HasPriors | None = setting(
        None, "Prior network: a network file.", load="network"
    )
    mode: bool = setting(False, "Use the mode of the posterior, not the mean.")
    smooth: str | None = setting(None, "fsnml: smooth the last expected counts by fsNML.")
    start: Any = setting(
        "available", "Starting point: available, uniform, random, or a network file.", load="start"
    )
    restarts: int | None = setting(
        None,
        "Number of random starts besides the first; the best is kept.  [default: 0, or 4 if "
        "a variable has no values]",
    )
    seed: int = setting(0, "Seed of random starts.")
    max_iterations: int = setting(1000, "Maximum number of iterations.")
    tolerance: float = setting(
        1e-6, "Relative change of the log-likelihood at which EM has converged."
    )

    def __post_init__(self) -> None:
        require_flag("EM", "mode", self.mode)
        require_count("EM", "max_iterations", self.max_iterations, minimum=1)
        require_count("EM", "seed", self.seed)
        if self.restarts is not None:
            require_count("EM", "restarts", self.restarts)
        require_not_negative("EM", "tolerance", self.tolerance)
        if self.ess is not None or self.prior is not None:
            _ = self.dirichlet  # checks both
        if self.smooth not in (None, FSNML.name):
            raise InvalidParameterError(
                f"EM: smooth must be {FSNML.name!r} or None, got {self.smooth!r}"
            ).with_option(f"EM: --smooth must be {FSNML.name}, got {self.smooth}")
        if self.smooth is not None and self.dirichlet is not None:
            raise InvalidParameterError(
                "EM: give a prior or smooth, not both; smoothing is done after maximum likelihood"
            ).with_option("EM: give --smooth without --ess and --prior")
        if self.mode and not self.is_map:
            raise InvalidParameterError(
                "EM: mode=True needs a Dirichlet prior: ess or prior"
            ).with_option("EM: --mode needs a prior: --ess or --prior")
        if isinstance(self.start, str) and self.start not in _STARTS:
            raise bad_setting(
                "EM", "start", f"one of {', '.join(_STARTS)} or a network", self.start
            )

    @property
    def dirichlet(self) -> Dirichlet | None:
        """The estimator under the prior; None with maximum likelihood."""
        if self.ess is None and self.prior is None:
            return None
        return Dirichlet(ess=self.ess, prior=self.prior)

    @property
    def is_map(self) -> bool:
        """Whether the prior takes part in every iteration."""
        return self.dirichlet is not None and not isinstance(self.prior, MinBDeu | MaxBDeu)

    @property
    def last(self) -> Estimator | None:
        """What estimates from the last expected counts; None where the M step does."""
        if self.smooth is not None:
            return FSNML()
        return None if self.is_map else self.dirichlet

    @property
    def shares_unobserved(self) -> bool:
        """Whether configurations without counts are alike."""
        return self.dirichlet is None or shares_unobserved(self.dirichlet)

    def rows(self, counts: FamilyCounts) -> _Floats:
        """Return the distribution in each configuration of complete counts: the closed form."""
        if self.last is not None:
            return self.last.rows(counts)
        if not self.is_map:
            return normalized(counts.table)
        assert self.dirichlet is not None
        return self.dirichlet.rows(counts) if not self.mode else _mode_rows(self, counts)

    def run(self, rows: IncompleteRows, expect: Expectation) -> list[EMRun]:
        """Iterate from every start, the best run first; empty where a row is impossible in all."""
        starts = self._starts_for(rows, expect.tables, expect)
        runs = [self.run_from(values, expect, name) for name, values in starts]
        return sorted((run for run in runs if run is not None), key=lambda run: -run.objective)

    def run_from(self, values: _Floats, expect: Expectation, start: str) -> EMRun | None:
        """Iterate from given tables; None where they call a row impossible."""
        prior = self.pseudo_counts(expect.tables)

        def bonus(values: _Floats) -> float:
            if prior is None:
                return 0.0
            used = prior > 0
            with np.errstate(divide="ignore"):
                return float(prior[used] @ np.log(values[used]))

        return iterate(
            expect,
            values,
            lambda counts: expect.tables.normalized(counts if prior is None else counts + prior),
            bonus,
            start=start,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )

    def maximized(self, tables: FlatTables, counts: _Floats) -> _Floats:
        """Return the M step: tables from expected counts."""
        prior = self.pseudo_counts(tables)
        return tables.normalized(counts if prior is None else counts + prior)

    def pseudo_counts(self, tables: FlatTables) -> _Floats | None:
        """Return what the M step adds to the counts; None with maximum likelihood."""
        if not self.is_map:
            return None
        assert self.dirichlet is not None
        parts = []
        for counts in family_counts(tables, np.zeros(tables.n_cells)):
            a = np.broadcast_to(self.dirichlet.priors(counts), counts.table.shape)
            if self.mode:
                _require_mode(counts, a)
                a = a - 1.0
            parts.append(np.asarray(a, dtype=np.float64).reshape(-1))
        return np.concatenate(parts)

    def _starts_for(
        self, rows: IncompleteRows, tables: FlatTables, expect: Expectation
    ) -> Iterator[tuple[str, _Floats]]:
        random = np.random.default_rng(self.seed)
        hidden = bool(rows.hidden)
        if isinstance(self.start, str):
            yield self.start, _start(self.start, tables, expect, random)
        else:
            yield "network", _tables_of(self.start, tables)
        n_more = (_RESTARTS_IF_HIDDEN if hidden else 0) if self.restarts is None else self.restarts
        for _ in range(0 if expect.is_complete else n_more):
            yield "random", _start("random", tables, expect, random)


def family_counts(tables: FlatTables, values: _Floats) -> Iterator[FamilyCounts]:
    """Go through the tables as counts of families, with every parent configuration."""
    for child, group in enumerate(tables.parents):
        parents = tuple(tables.variables[p] for p in group)
        table = tables.of(values, child)
        shape = tuple(parent.arity for parent in parents)
        configurations = np.stack(np.unravel_index(np.arange(len(table)), shape or (1,)), axis=1)
        codes = configurations[:, : len(parents)].astype(np.uint16)
        yield FamilyCounts(tables.variables[child], parents, codes, table, float(len(table)))


def _start(
    name: str, tables: FlatTables, expect: Expectation, random: np.random.Generator
) -> _Floats:
    if name == "uniform":
        return tables.normalized(np.zeros(tables.n_cells))
    if name == "random":
        return tables.normalized(random.standard_exponential(tables.n_cells))
    # One case more in each configuration: what merely was not seen must stay possible.
    counts = expect.complete_counts() + np.repeat(1.0 / tables.lengths, tables.lengths)
    drawn = random.standard_exponential(tables.n_cells)
    for child in range(len(tables.variables)):
        cells = slice(tables.ends[child], tables.ends[child + 1])
        if len(tables.of(counts, child)) >= counts[cells].sum() - 1e-9:  # no row is complete
            counts[cells] = drawn[cells]
    return tables.normalized(counts)


def _tables_of(network: Any, tables: FlatTables) -> _Floats:
    """Bring the tables of a network into the layout."""
    by_name: Mapping[str, Any] = {table.child.name: table for table in network.tables}
    parts = []
    for child, group in zip(tables.variables, tables.parents, strict=True):
        given = by_name.get(child.name)
        parents = tuple(tables.variables[p] for p in group)
        if given is None or {p.name for p in given.parents} != {p.name for p in parents}:
            raise DataError(
                f"EM: the start must have the arcs of the structure; its table of {child.name!r} "
                "has other parents"
            )
        for own, other in [(child, given.child), *((p, _named(given, p)) for p in parents)]:
            if own.states != other.states:
                raise DataError(
                    f"EM: the start must have the states of the data; {own.name!r} has others"
                )
        parts.append(given.reordered(child, parents).values.reshape(-1))
    return np.concatenate(parts)


def _named(table: Any, parent: Any) -> Any:
    return next(p for p in table.parents if p.name == parent.name)


def _require_mode(counts: FamilyCounts, a: _Floats) -> None:
    if (a < 1).any():
        least = float(a.min())
        raise InvalidParameterError(
            f"EM: the mode needs pseudo-counts of at least 1, the prior of "
            f"{counts.child.name!r} has {least:g}; use the mean (mode=False) or a larger ess"
        ).with_option(
            f"EM: the mode needs pseudo-counts of at least 1, the prior of "
            f"{counts.child.name!r} has {least:g}; leave out --mode or raise --ess"
        )


def _mode_rows(em: EM, counts: FamilyCounts) -> _Floats:
    assert em.dirichlet is not None
    a = np.broadcast_to(em.dirichlet.priors(counts), counts.table.shape)
    _require_mode(counts, a)
    return normalized(counts.table + a - 1.0)
