"""Expectation maximization: the parameters of a network from rows with missing values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import (
    DataError,
    InvalidParameterError,
    bad_setting,
    require_count,
    require_flag,
    require_not_negative,
)
from bestdag.inference.rows import IncompleteRows
from bestdag.inference.tables import FlatTables
from bestdag.machine import require_memory
from bestdag.parameters.base import Estimator, normalized, shares_unobserved
from bestdag.parameters.dirichlet import Dirichlet, HasPriors
from bestdag.parameters.fsnml import FSNML
from bestdag.registry import setting
from bestdag.scores.bde import PriorNetwork
from bestdag.scores.max_bdeu import MaxBDeu
from bestdag.scores.min_bdeu import MinBDeu
from bestdag.wording import arg, by_reader, count_of

__all__ = ["EM", "EMRun", "Expectation", "family_counts", "iterate"]

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
        Random starts beside that; the best result is returned. None unless a variable has no value
        at all, then 4.
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
            needed = f"{FSNML.name!r}{by_reader(' or None', '')}"
            raise bad_setting("EM", "smooth", needed, self.smooth)
        if self.smooth is not None and self.dirichlet is not None:
            raise InvalidParameterError(
                f"EM: {arg('smooth')} is done after maximum likelihood; give it without "
                f"{arg('ess')} and {arg('prior')}"
            )
        if self.mode and not self.is_map:
            raise InvalidParameterError(
                f"EM: {arg('mode', True)} needs a Dirichlet prior: {arg('ess')} or {arg('prior')}"
            )
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
        """Iterate from these tables; None where they call a row impossible."""
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
        start_table = by_name.get(child.name)
        parents = tuple(tables.variables[p] for p in group)
        if start_table is None or {p.name for p in start_table.parents} != {
            p.name for p in parents
        }:
            raise DataError(
                f"EM: the start must have the arcs of the structure; its table of {child.name!r} "
                "has other parents"
            )
        for own, other in [
            (child, start_table.child),
            *((p, _named(start_table, p)) for p in parents),
        ]:
            if own.states != other.states:
                raise DataError(
                    f"EM: the start must have the states of the data; {own.name!r} has others"
                )
        parts.append(start_table.reordered(child, parents).values.reshape(-1))
    return np.concatenate(parts)


def _named(table: Any, parent: Any) -> Any:
    return next(p for p in table.parents if p.name == parent.name)


def _require_mode(counts: FamilyCounts, a: _Floats) -> None:
    if (a < 1).any():
        least = float(a.min())
        raise InvalidParameterError(
            f"EM: the mode needs pseudo-counts of at least 1, the prior of "
            f"{counts.child.name!r} has {least:g}; leave out {arg('mode', True)} or raise "
            f"{arg('ess')}"
        )


def _mode_rows(em: EM, counts: FamilyCounts) -> _Floats:
    assert em.dirichlet is not None
    a = np.broadcast_to(em.dirichlet.priors(counts), counts.table.shape)
    _require_mode(counts, a)
    return normalized(counts.table + a - 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class EMRun:
    """How EM went from one start.

    Attributes
    ----------
    start : str
        "available", "uniform", "random" or "network".
    values : array
        The probabilities at the end, in the layout of `FlatTables`.
    counts : array
        The expected counts under them.
    trace : tuple of float
        The objective at the start and after each iteration.
    log_likelihood : float
        Of what the rows show, at the end.
    converged : bool
    """

    start: str
    values: _Floats
    counts: _Floats
    trace: tuple[float, ...]
    log_likelihood: float
    converged: bool

    @property
    def objective(self) -> float:
        """What was raised: the log-likelihood plus, with a prior, its part."""
        return self.trace[-1]

    @property
    def iterations(self) -> int:
        """How often expected counts became new probabilities."""
        return len(self.trace) - 1


class Expectation:
    """The E step for one structure and one set of rows; groups of missing values are found once.

    Missing values that nothing known depends on are left out: they change neither what the rows
    show nor where it is most probable, and leaving them out saves iterations.

    `clock` says how many seconds are left; when there are none, `_core.OutOfTimeError` is raised.
    """

    def __init__(
        self, rows: IncompleteRows, tables: FlatTables, clock: Callable[[], float] = lambda: inf
    ) -> None:
        self._seconds_left = clock
        self.rows = rows
        self.tables = tables
        require_memory(
            "EM", "the tables and their counts", 6 * 8 * tables.n_cells, "use fewer arcs"
        )
        self._groups: _core.MissingGroups = rows.groups(
            tables.parents, whole=False, seconds=clock()
        )
        remedy = "leave out rows with many missing values, or use fewer arcs"
        rows.require_groups(self._groups, "EM", remedy)

    @property
    def is_complete(self) -> bool:
        """Whether no missing value matters, so that the counts are known."""
        return self._groups.n_cases == 0

    def __call__(self, values: _Floats) -> tuple[float, _Floats]:
        """Return the log-likelihood and the expected counts."""
        counts = np.empty(self.tables.n_cells)
        log_likelihood = self._groups.expected_counts(
            values, counts, self._seconds_left(), self.rows.threads
        )
        return log_likelihood, counts

    def complete_counts(self) -> _Floats:
        """Return the counts of each family in the rows in which it is complete."""
        return np.asarray(self._groups.complete_counts(), dtype=np.float64)

    def __repr__(self) -> str:
        return f"<Expectation: {count_of(self._groups.n_cases, 'case')}>"


def iterate(
    expect: Expectation,
    values: _Floats,
    maximize: Callable[[_Floats], _Floats],
    bonus: Callable[[_Floats], float],
    *,
    start: str,
    tolerance: float,
    max_iterations: int,
) -> EMRun | None:
    """Iterate until the objective changes by no more than `tolerance`, relatively.

    Parameters
    ----------
    expect : Expectation
    values : array
        The probabilities at the start.
    maximize : callable
        Expected counts in, probabilities out: the M step.
    bonus : callable
        What the M step raises beside the log-likelihood, at given probabilities.

    Returns
    -------
    EMRun, or None where a row is impossible at the start.
    """
    log_likelihood, counts = expect(values)
    trace = [log_likelihood + bonus(values)]
    if log_likelihood == -np.inf:
        return None
    converged = False
    while not converged and len(trace) <= max_iterations:
        values = maximize(counts)
        log_likelihood, counts = expect(values)
        trace.append(log_likelihood + bonus(values))
        change = abs(trace[-1] - trace[-2])
        converged = expect.is_complete or change <= tolerance * abs(trace[-1])
    return EMRun(start, values, counts, tuple(trace), log_likelihood, converged)
