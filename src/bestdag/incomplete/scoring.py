"""Scores of structures on an incomplete table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.inference.expected import ExpectedCounts, ExpectedScorer
from bestdag.inference.rows import IncompleteRows
from bestdag.inference.tables import FlatTables
from bestdag.network.fitting import EMResult, read_columns, run_em
from bestdag.network.imputation import values_of
from bestdag.network.network import Network
from bestdag.parameters.dirichlet import HasPriors
from bestdag.parameters.em import EM
from bestdag.scores import make_score
from bestdag.scores.base import PenalisedLikelihood, Score
from bestdag.scores.ll import LL
from bestdag.scores.prior import StructurePrior
from bestdag.scores.qnml import QNML

__all__ = ["ObservedScore", "expected_scorer", "fitted_score", "flat_counts", "observed_score"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObservedScore:
    """The score of a structure on an incomplete table.

    Attributes
    ----------
    score : float
        For LL, AIC, BIC, HQC and qNML: the log-likelihood of what the rows show at the end of EM,
        minus the penalty. For Bayesian scores: the approximation of Cheeseman and Stutz (1996) of
        the logarithm of the marginal likelihood. For others: the score of the expected counts.
    expected : dict of str to float
        The score of the expected counts of each family.
    fit : EMResult
        The network at the end of EM, and how it went.
    n_drawn : int
        Groups of missing values whose counts come from draws; 0 when all are exact.
    """

    score: float
    expected: dict[str, float]
    fit: EMResult
    n_drawn: int


def expected_scorer(
    network: Network,
    data: Any,
    score: Score | str = "bdeu",
    structure_prior: StructurePrior | str | None = None,
    *,
    max_cells: int = 4096,
    draws: int = 200,
    seed: int = 0,
    threads: int | None = None,
) -> ExpectedScorer:
    r"""Score families by their expected counts under a network, as `Scorer` does by counts.

    A row counts for each state of its missing values as much as that is probable given what the row
    shows,

    .. math::

        \bar N_{ijk} = \sum_{\text{rows } o} P(X_i = k, \mathrm{Pa}_i = j \mid o).

    Values are taken to be missing at random.

    Parameters
    ----------
    network : Network
        Says how probable the states of missing values are; as a rule fitted by `run_em`.
    data : Dataset, path, frame
        A Dataset, or anything that `read` takes, with missing values.
    score : Score or str, default "bdeu"
        Any score that takes counts which are not whole, or qNML.
    structure_prior : StructurePrior, optional
    max_cells, draws, seed
        Missing values of a row that depend on each other have exact counts up to so many states
        together, and counts from so many draws beyond.
    threads : int, optional

    Returns
    -------
    ExpectedScorer
        It scores families as a `Scorer` does, and searches take it.

    References
    ----------
    .. [1] Friedman (1998). "The Bayesian structural EM algorithm." UAI, 129-138.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"a": ["x", "y", ""], "b": ["0", "1", "1"]}, missing="keep")
    >>> network = run_em(Dag(["a", "b"], [("a", "b")]), data).network
    >>> scorer = expected_scorer(network, data, "ll")
    >>> round(scorer.total(network), 3)
    -1.91
    """
    if not isinstance(network, Network):
        raise InvalidParameterError(
            f"score: a Network is needed for expected counts, got {type(network).__name__}"
        )
    if not isinstance(data, Dataset):
        data = read_columns(network, data, missing="keep", may_lack=True)
    chosen = make_score(score) if isinstance(score, str) else score
    rows = IncompleteRows(data, network.variables, threads=threads, who="score")
    place = {v.name: i for i, v in enumerate(rows.variables)}
    parents = [sorted(place[p] for p in network.dag.parents(v.name)) for v in rows.variables]
    values = values_of(network, rows)
    counts = ExpectedCounts(rows, parents, values, max_cells=max_cells, n_draws=draws, seed=seed)
    return ExpectedScorer(counts, chosen, structure_prior)


def observed_score(
    structure: Dag | Network,
    data: Any,
    score: Score | str = "bic",
    structure_prior: StructurePrior | str | None = None,
    *,
    em: EM | None = None,
    max_cells: int = 4096,
    draws: int = 200,
    seed: int = 0,
    threads: int | None = None,
) -> ObservedScore:
    """Score a structure by what the rows of an incomplete table show, at the end of EM.

    Parameters
    ----------
    structure : Dag or Network
        The parameters of a network do not matter.
    data, score, structure_prior, max_cells, draws, seed, threads
        As for `expected_scorer`.
    em : EM, optional
        By default under the prior of the score where it has one, else by maximum likelihood.

    Returns
    -------
    ObservedScore

    Notes
    -----
    EM finds a local maximum of the likelihood, so a score may be too low; `em` sets its seed and
    its limits.

    References
    ----------
    .. [1] Cheeseman and Stutz (1996). "Bayesian classification (AutoClass): theory and results."

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"coin": ["heads", "heads", "tails", ""]}, missing="keep")
    >>> round(observed_score(Dag(["coin"]), data, "bic").score, 6)  # ln(4/27) - ln(4) / 2
    -2.60269
    """
    chosen = make_score(score) if isinstance(score, str) else score
    if em is None:
        em = EM(prior=chosen if isinstance(chosen, HasPriors) else None)
    if not isinstance(data, Dataset):
        data = read_columns(structure, data, missing="keep", may_lack=True)
    fit = run_em(structure, data, em, threads=threads)
    scorer = expected_scorer(
        fit.network,
        data,
        chosen,
        structure_prior,
        max_cells=max_cells,
        draws=draws,
        seed=seed,
        threads=threads,
    )
    dag = fit.network.dag
    names = [v.name for v in scorer.variables]
    local = scorer.families([(name, dag.parents(name)) for name in names])
    values = values_of(fit.network, scorer.expected.rows)
    return ObservedScore(
        score=fitted_score(scorer, dag, values, fit.log_likelihood),
        expected=dict(zip(names, local.tolist(), strict=True)),
        fit=fit,
        n_drawn=scorer.expected.n_drawn,
    )


def fitted_score(scorer: ExpectedScorer, dag: Dag, values: _Floats, log_likelihood: float) -> float:
    """Score a fitted structure by what the rows show.

    For a penalised log-likelihood that is the log-likelihood of what the rows show minus the
    penalty; for a Bayesian score the approximation of Cheeseman and Stutz (1996), the score of the
    expected counts with their log-likelihood at the fitted parameters replaced by that of what the
    rows show. For other scores it is the score of the expected counts.

    Parameters
    ----------
    scorer : ExpectedScorer
        Of the expected counts under the fitted structure itself.
    dag : Dag
    values : array
        Its tables, in the layout of `FlatTables`.
    log_likelihood : float
        Of what the rows show.
    """
    total, score = scorer.total(dag), scorer.score
    families = [(v.name, dag.parents(v.name)) for v in scorer.variables]
    if isinstance(score, PenalisedLikelihood | QNML):
        counted = scorer.expected.count(families)
        return total - math.fsum(LL().family(counts) for counts in counted) + log_likelihood
    if not isinstance(score, HasPriors):
        return total
    place = {v.name: i for i, v in enumerate(scorer.variables)}
    tables = FlatTables(
        scorer.variables, [sorted(place[p] for p in group) for _, group in families]
    )
    counts = flat_counts(tables, scorer.expected)
    used = counts > 0
    return total - float(counts[used] @ np.log(values[used])) + log_likelihood


def flat_counts(tables: FlatTables, expected: ExpectedCounts) -> _Floats:
    """Return the expected counts of a structure in the layout of its tables."""
    names = [v.name for v in tables.variables]
    families = [(names[c], [names[p] for p in group]) for c, group in enumerate(tables.parents)]
    out = np.zeros(tables.n_cells)
    for child, counts in enumerate(expected.count(families)):
        tables.of(out, child)[_numbers(counts)] = counts.table
    return out


def _numbers(counts: FamilyCounts) -> npt.NDArray[np.intp]:
    number = np.zeros(counts.n_observed, np.intp)
    for k, parent in enumerate(counts.parents):
        number = number * parent.arity + counts.configurations[:, k]
    return number
