"""Cross-validation of scores, searches and estimators on one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.readers import as_dataset
from bestdag.errors import (
    DataError,
    DataWarning,
    InvalidParameterError,
    require_count,
)
from bestdag.evaluation.structures import compare
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.learned import Result
from bestdag.machine import require_row_memory
from bestdag.network.network import Network
from bestdag.parameters import DEFAULT_ESTIMATOR, ESTIMATORS, OF_SCORE, choose_estimator
from bestdag.parameters.base import Estimator
from bestdag.progress import counting, current_reporter, unwatched
from bestdag.registry import canonical
from bestdag.scores import DEFAULT_SCORE, make_score
from bestdag.scores.base import Score
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search import search_for_fit
from bestdag.search.bound import shared_with_bound
from bestdag.search.steps import Search
from bestdag.validation.comparison import CrossValidation, MethodResult
from bestdag.validation.fits import learn_one_of_many
from bestdag.validation.parts import Parts, divided
from bestdag.wording import arg, by_reader
from bestdag.workers import resolve_workers, run_all

__all__ = [
    "Method",
    "cross_validate",
    "methods_of",
    "validated",
]

_WHO = "cross_validate"
# Of a row, beside its codes: its class, its place and its part.
_BYTES_PER_ROW = 24


@dataclass(frozen=True, slots=True)
class Method:
    """A score, a search and the parameters of what is found."""

    score: Score
    search: Search
    parameters: Estimator
    label: str


def cross_validate(
    data: Any,
    score: Score | str | Sequence[Score | str] = DEFAULT_SCORE,
    search: Search | str | Sequence[Search | str] = "auto",
    parameters: Estimator | str | Sequence[Estimator | str | None] | None = None,
    *,
    k: int = 10,
    repeats: int = 1,
    seed: int = 0,
    target: str | None = None,
    max_parents: int | None = None,
    support: float = DEFAULT_SUPPORT,
    knowledge: Knowledge | Sequence[str] | None = None,
    time_limit: float | None = None,
    workers: int | Executor | None = None,
) -> CrossValidation:
    r"""Say how well what is learned predicts rows that were held out.

    The loss of a method in part :math:`D_j`, with a network learned from the other parts, is

    .. math::

        -\frac{1}{|D_j|} \sum_{x \in D_j} \ln P(x \mid D \setminus D_j),

    in nats per row: it measures structure and parameters together, and punishes both too many and
    too few arcs.

    Parameters
    ----------
    data : Dataset, or anything `read` takes
        Complete. All its states are declared in every part. A row of whole weight w is w rows,
        which may be in different parts.
    score, search, parameters : one or a list of each
        Every combination is a method. The parameters are fsNML's unless given; "score" are those
        that belong to the score. "auto" by its name has a second for each part.
    k : int, default 10
        Number of cross-validation folds. Each is held out once, and the network learned from the
        others predicts it.
    repeats : int, default 1
        Number of times that the cross-validation is repeated.
    seed : int, default 0
        Seed of the division into folds. All methods have the same folds.
    target : str, optional
        A column whose states shall have equal shares in all parts.
    max_parents, support, knowledge, time_limit
        As in `learn`; the limit is for one part.
    workers : int or Executor, optional
        The number of threads, one per processor unless given, on which parts run at once; or the
        `Executor` of concurrent.futures that learns from parts, each by one thread. The rows travel
        with each part then.

    Returns
    -------
    CrossValidation

    Raises
    ------
    DataError
        If a value is missing, or the rows are too many to be divided.
    InvalidParameterError
        If a setting is out of range, a combination is listed twice, or there are fewer rows than
        parts.

    Notes
    -----
    Parts share most of their training rows, so their results are not independent. The standard
    error of the mean of J parts with variance :math:`s^2` is :math:`s\sqrt{1/J + 1/(k-1)}`
    (Nadeau and Bengio 2003), for log losses and for paired differences alike; intervals have
    Student's distribution with J - 1 degrees of freedom.

    References
    ----------
    .. [1] Nadeau and Bengio (2003). "Inference for the generalization error." Machine Learning 52.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> found = cross_validate(example("asia.csv"), ["bdeu", "bic"], "exact", k=5)
    >>> [method.label for method in found.methods], found.best.label
    (['bdeu', 'bic'], 'bic')
    >>> round(found["bdeu"].log_loss, 3), found["bdeu"].n_proved
    (2.22, 5)
    """
    dataset = as_dataset(data)
    return validated(
        dataset,
        methods_of(score, search, parameters),
        k=k,
        repeats=repeats,
        seed=seed,
        target=target,
        workers=workers,
        max_parents=max_parents,
        support=support,
        knowledge=knowledge,
        time_limit=time_limit,
    )


def methods_of(score: Any, search: Any, parameters: Any) -> list[Method]:
    """Make every combination of scores, searches and estimators, with a label for each."""
    scores = [make_score(one) if isinstance(one, str) else one for one in _listed("score", score)]
    searches = [search_for_fit(one) for one in _listed("search", search)]
    estimators = _listed("parameters", parameters)
    made = []
    for one, how, what in product(scores, searches, estimators):
        parts = [_label(one, scores)]
        parts += [_label(how, searches)] if len(searches) > 1 else []
        parts += [_named(what)] if len(estimators) > 1 else []
        made.append(Method(one, how, choose_estimator(one, what, {}), ", ".join(parts)))
    labels = [method.label for method in made]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidParameterError(f"{_WHO}: {label} is given twice; leave one out")
    return made


def validated(
    dataset: Dataset,
    methods: Sequence[Method],
    *,
    k: int,
    repeats: int,
    seed: int,
    target: str | None,
    workers: int | Executor | None,
    with_whole: bool = False,
    truth: Dag | Network | None = None,
    **limits: Any,
) -> CrossValidation:
    """Try methods on the same parts; `with_whole` learns from all rows too."""
    k = require_count(_WHO, "k", k, minimum=2, option="--cv")
    repeats = require_count(_WHO, "repeats", repeats, minimum=1)
    seed = require_count(_WHO, "seed", seed)
    _require_complete(dataset)
    each = _BYTES_PER_ROW + sum(dataset.codes(name).itemsize for name in dataset.names)
    require_row_memory(_WHO, "the division of", dataset.n_rows, each)
    classes = np.zeros(dataset.n_rows, np.int64)
    if target is not None:
        classes = dataset.codes(dataset.variable(target).name).astype(np.int64)
    wholes = {}
    who_works = resolve_workers(_WHO, workers)
    threads = who_works.threads
    reporter = current_reporter()
    if with_whole:
        for method in methods:
            if reporter is not None:
                reporter.report("learning from all rows", method.label)
            # With a bound, so that every method says how far from the best it may be.
            seconds, rest = shared_with_bound(limits.get("time_limit"))
            with unwatched():
                whole = _learned(dataset, method, threads, {**limits, "time_limit": seconds}, seed)
                wholes[method.label] = whole.bounded(rest, threads=threads)
    runs = []
    for repeat in range(repeats):
        drawn = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
        division = divided(dataset, classes, k, seed=drawn)
        runs += [_Run(m, division, repeat * k, held) for held in range(k) for m in methods]
    on_done = counting("learning from parts", len(runs))
    trier = _Trier(limits, seed)
    tried = run_all(
        trier, runs, threads=threads, who=_WHO, on_done=on_done, executor=who_works.executor
    )
    results = []
    for method in methods:
        parts = [one for run, one in zip(runs, tried, strict=True) if run.method is method]
        learned = wholes.get(method.label)
        comparison = None
        if learned is not None and truth is not None:
            comparison = compare(truth, learned.dag)
        results.append(
            MethodResult(
                label=method.label,
                log_losses=tuple(one.log_loss for one in parts),
                n_arcs=tuple(one.n_arcs for one in parts),
                n_parameters=tuple(one.n_parameters for one in parts),
                n_proved=sum(one.is_proved for one in parts),
                seconds=sum(one.seconds for one in parts),
                n_parts_of_one=k,
                whole=learned,
                comparison=comparison,
            )
        )
    weights = dataset.weights
    is_whole = weights is not None and weights.dtype == np.int64
    n_rows = int(dataset.total_weight) if is_whole else dataset.n_rows
    return CrossValidation(tuple(results), n_rows, k, repeats, seed, target)


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """A method to be tried on the rows of one part, having learned from the others."""

    method: Method
    parts: Parts
    n_before: int
    part: int

    def __str__(self) -> str:
        return f"{self.method.label}: part {self.n_before + self.part + 1}"


@dataclass(frozen=True, slots=True)
class _Tried:
    """What came out of one run."""

    log_loss: float
    n_arcs: int
    n_parameters: int
    is_proved: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class _Trier:
    """Learns from all parts but one, and predicts that."""

    limits: Mapping[str, Any]
    seed: int

    def __call__(self, run: _Run, threads: int) -> _Tried:
        start = time.perf_counter()
        with warnings.catch_warnings():
            # What is said of all rows is not said again of each part.
            warnings.simplefilter("ignore", DataWarning)
            train = run.parts.without(run.part)
            result = _learned(train, run.method, threads, self.limits, self.seed)
            network = result.fit(run.method.parameters, threads=threads)
            loss = network.log_loss(run.parts.only(run.part), threads=threads)
        return _Tried(
            log_loss=loss,
            n_arcs=len(network.dag.arcs),
            n_parameters=network.n_parameters,
            is_proved=result.is_proved,
            seconds=time.perf_counter() - start,
        )


def _learned(
    data: Dataset, method: Method, threads: int | None, limits: Mapping[str, Any], seed: int
) -> Result:
    return learn_one_of_many(
        data, method.score, search=method.search, workers=threads, seed=seed, **limits
    )


def _require_complete(dataset: Dataset) -> None:
    if dataset.has_missing:
        name = next(name for name, count in dataset.missing_counts.items() if count)
        raise DataError(
            f"{by_reader(_WHO, 'evaluate')}: complete rows are needed, got missing values in "
            f"{name!r}; read the table with {arg('missing', 'drop')} or {arg('missing', 'state')}"
        )


def _listed(what: str, value: Any) -> list[Any]:
    listed = list(value) if isinstance(value, list | tuple) else [value]
    if not listed:
        raise InvalidParameterError(f"{_WHO}: the list for {what} has nothing in it")
    return listed


def _label(made: Any, compared: Sequence[Any]) -> str:
    """Name a score or a search, with its settings where its name alone is not enough."""
    alike = [one for one in compared if one.name == made.name]
    return made.name if len(alike) == 1 else repr(made)


def _named(parameters: Estimator | str | None) -> str:
    if parameters is None:
        return DEFAULT_ESTIMATOR
    if isinstance(parameters, str):
        return canonical(parameters, [*ESTIMATORS, OF_SCORE])
    return parameters.name
