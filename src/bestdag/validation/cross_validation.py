"""Cross-validation of scores, searches and estimators on one table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.errors import (
    DataError,
    InvalidParameterError,
    import_optional,
    require_count,
    unknown_name,
)
from bestdag.evaluation.classification import folds
from bestdag.evaluation.structures import StructureComparison, compare
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.learning import Result
from bestdag.network.network import Network
from bestdag.parameters import choose_estimator, make_estimator
from bestdag.parameters.base import Estimator
from bestdag.scores import make_score
from bestdag.scores.base import Score
from bestdag.search import search_for_fit
from bestdag.search.problem import Search
from bestdag.validation.fits import learn_one_of_many
from bestdag.wording import count_of

__all__ = [
    "CrossValidation",
    "Method",
    "MethodResult",
    "PairedDifference",
    "cross_validate",
    "methods_of",
    "validated",
]

_WHO = "cross_validate"


@dataclass(frozen=True, slots=True)
class Method:
    """A score, a search and the parameters of what is found."""

    score: Score
    search: Search
    parameters: Estimator
    label: str


@dataclass(frozen=True, slots=True)
class MethodResult:
    """How one method did in every part.

    Attributes
    ----------
    label : str
    log_losses : tuple of float
        Mean of -ln P(row) over the rows held out, part by part, in nats.
    n_arcs, n_parameters : tuple of int
        Of the networks learned.
    n_proved : int
        In so many parts the structure is the proven optimum.
    seconds : float
        For learning, fitting and predicting all parts.
    n_parts_of_one : int
        k: the parts of one repeat.
    whole : Result or None
        What was learned from all rows, if that was asked for.
    comparison : StructureComparison or None
        Of that with the true structure.
    """

    label: str
    log_losses: tuple[float, ...]
    n_arcs: tuple[int, ...]
    n_parameters: tuple[int, ...]
    n_proved: int
    seconds: float
    n_parts_of_one: int
    whole: Result | None = field(default=None, compare=False)
    comparison: StructureComparison | None = field(default=None, compare=False)

    @property
    def log_loss(self) -> float:
        """Mean over the parts."""
        return _mean(self.log_losses)

    @property
    def standard_error(self) -> float:
        """Of the log loss; see `cross_validate`."""
        return _standard_error(self.log_losses, self.n_parts_of_one)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the log loss, by Student's distribution."""
        return _interval(self.log_loss, self.standard_error, len(self.log_losses))

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: None for what is infinite."""
        return {
            "label": self.label,
            "log_loss": _finite(self.log_loss),
            "standard_error": _finite(self.standard_error),
            "interval": [_finite(end) for end in self.interval],
            "log_losses": [_finite(loss) for loss in self.log_losses],
            "n_arcs": list(self.n_arcs),
            "n_parameters": list(self.n_parameters),
            "n_proved": self.n_proved,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The log loss of one method minus that of another, on the same rows.

    Attributes
    ----------
    one, other : str
    mean, standard_error : float
        Below zero: the first is better.
    interval : (float, float)
        95 %, by Student's distribution.
    """

    one: str
    other: str
    mean: float
    standard_error: float
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "one": self.one,
            "other": self.other,
            "mean": _finite(self.mean),
            "standard_error": _finite(self.standard_error),
            "interval": [_finite(end) for end in self.interval],
        }


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """Methods compared on the same parts of one table.

    Attributes
    ----------
    methods : tuple of MethodResult
    n_rows, k, repeats, seed : int
    target : str or None
        The column whose states have equal shares in all parts.
    """

    methods: tuple[MethodResult, ...]
    n_rows: int
    k: int
    repeats: int
    seed: int
    target: str | None

    @property
    def best(self) -> MethodResult:
        """The method with the least log loss; ties go to the first."""
        return min(self.methods, key=lambda method: method.log_loss)

    def __getitem__(self, one: str) -> MethodResult:
        for method in self.methods:
            if method.label == one:
                return method
        raise unknown_name("method", one, [method.label for method in self.methods])

    def difference(self, one: str, other: str) -> PairedDifference:
        """Compare two methods by their labels, part by part."""
        a, b = self[one], self[other]
        # Where both are infinite nothing is known of the difference.
        apart = [
            math.nan if math.isinf(x) and math.isinf(y) else x - y
            for x, y in zip(a.log_losses, b.log_losses, strict=True)
        ]
        mean = _mean(apart)
        error = _standard_error(apart, self.k)
        return PairedDifference(one, other, mean, error, _interval(mean, error, len(apart)))

    def differences(self) -> tuple[PairedDifference, ...]:
        """Compare every method with the best one."""
        best = self.best
        return tuple(
            self.difference(method.label, best.label)
            for method in self.methods
            if method is not best
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "rows": self.n_rows,
            "k": self.k,
            "repeats": self.repeats,
            "seed": self.seed,
            "target": self.target,
            "methods": [method.to_dict() for method in self.methods],
            "best": self.best.label,
            "differences": [one.to_dict() for one in self.differences()],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the log loss of each method with its interval; needs matplotlib."""
        if ax is None:
            ax = import_optional("matplotlib.pyplot", who="plot", extra="plot").subplots()[1]
        shown = [method for method in self.methods if math.isfinite(method.log_loss)]
        places = range(len(shown))
        halves = [method.log_loss - method.interval[0] for method in shown]
        ax.errorbar([m.log_loss for m in shown], places, xerr=halves, fmt="o")
        ax.set_yticks(places, [method.label for method in shown])
        ax.set(xlabel="held-out log loss (nats per row)", title=self._about())
        return ax

    def _about(self) -> str:
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        return f"{self.k}-fold cross-validation{times}, {count_of(self.n_rows, 'row')}"

    def __str__(self) -> str:
        width = max(len("method"), *(len(method.label) for method in self.methods))
        lines = [self._about(), f"{'method':<{width}}  {'log loss':>12}  {'s.e.':>10}  {'arcs':>6}"]
        lines += [
            f"{m.label:<{width}}  {m.log_loss:>12.6f}  {m.standard_error:>10.6f}  "
            f"{_mean(m.n_arcs):>6.1f}"
            for m in self.methods
        ]
        for one in self.differences():
            low, high = one.interval
            lines.append(
                f"{one.one} - {one.other}: {one.mean:.6f}, 95 % interval {low:.6f} to {high:.6f}"
            )
        return "\n".join(lines)


def cross_validate(
    data: Any,
    score: Score | str | Sequence[Score | str] = "bdeu",
    search: Search | str | Sequence[Search | str] = "auto",
    parameters: Estimator | str | Sequence[Estimator | str | None] | None = None,
    *,
    k: int = 10,
    repeats: int = 1,
    seed: int = 0,
    target: str | None = None,
    max_parents: int | None = None,
    knowledge: Knowledge | Sequence[str] | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> CrossValidation:
    r"""Say how well what is learned predicts rows that were held out.

    Parameters
    ----------
    data : Dataset, or anything `read` takes
        Complete. All its states are declared in every part.
    score, search, parameters : one or a list of each
        Every combination is a method. By default the parameters are those that belong to the
        score. "auto" by its name has a second for each part.
    k : int, default 10
        Parts: each is held out once, and the network learned from the others predicts it.
    repeats : int, default 1
        Divide the rows again so many times.
    seed : int, default 0
        How rows are divided; all methods have the same parts.
    target : str, optional
        A column whose states shall have equal shares in all parts.
    max_parents, knowledge, time_limit, threads
        As in `learn`; the limit is for one part.
    progress : callable, optional
        Called with a text for each part.

    Returns
    -------
    CrossValidation

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
    dataset = data if isinstance(data, Dataset) else read(data)
    return validated(
        dataset,
        methods_of(score, search, parameters),
        k=k,
        repeats=repeats,
        seed=seed,
        target=target,
        threads=threads,
        progress=progress,
        max_parents=max_parents,
        knowledge=knowledge,
        time_limit=time_limit,
    )


def methods_of(score: Any, search: Any, parameters: Any) -> list[Method]:
    """Make every combination of scores, searches and estimators, with a label for each."""
    scores = [make_score(one) if isinstance(one, str) else one for one in _listed("score", score)]
    searches = [search_for_fit(one) for one in _listed("search", search)]
    given = _listed("parameters", parameters)
    made = []
    for one, how, what in product(scores, searches, given):
        parts = [_label(one, scores)]
        parts += [_label(how, searches)] if len(searches) > 1 else []
        parts += [_named(what)] if len(given) > 1 else []
        made.append(Method(one, how, choose_estimator(one, what, {}), ", ".join(parts)))
    labels = [method.label for method in made]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidParameterError(f"{_WHO}: {label} is there twice; leave one of them out")
    return made


def validated(
    dataset: Dataset,
    methods: Sequence[Method],
    *,
    k: int,
    repeats: int,
    seed: int,
    target: str | None,
    threads: int | None,
    progress: Callable[[str], None] | None = None,
    with_whole: bool = False,
    truth: Dag | Network | None = None,
    **limits: Any,
) -> CrossValidation:
    """Try methods on the same parts; `with_whole` learns from all rows too."""
    k = require_count(_WHO, "k", k, minimum=2, option="--cv")
    repeats = require_count(_WHO, "repeats", repeats, minimum=1)
    seed = require_count(_WHO, "seed", seed)
    _require_complete(dataset)
    classes = np.zeros(dataset.n_rows, np.int64)
    if target is not None:
        classes = dataset.codes(dataset.variable(target).name).astype(np.int64)
    wholes = {}
    if with_whole:
        for method in methods:
            _say(progress, f"{method.label}: all rows")
            # With a bound, so that every method says how far from the best it may be.
            more = {**limits, "bound": True}
            wholes[method.label] = _learned(dataset, method, threads, more, seed)
    rows: dict[str, list[tuple[float, int, int, bool, float]]] = {m.label: [] for m in methods}
    for repeat in range(repeats):
        drawn = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
        part = folds(classes, k, seed=drawn)
        for held_out in range(k):
            train = dataset.select(rows=part != held_out)
            test = dataset.select(rows=part == held_out)
            for method in methods:
                _say(progress, f"{method.label}: part {repeat * k + held_out + 1}")
                rows[method.label].append(_tried(train, test, method, threads, limits, seed))
    found = []
    for method in methods:
        losses, arcs, sizes, proved, seconds = zip(*rows[method.label], strict=True)
        whole = wholes.get(method.label)
        compared = None if whole is None or truth is None else compare(truth, whole.dag)
        found.append(
            MethodResult(
                method.label, losses, arcs, sizes, sum(proved), sum(seconds), k, whole, compared
            )
        )
    return CrossValidation(tuple(found), dataset.n_rows, k, repeats, seed, target)


def _tried(
    train: Dataset,
    test: Dataset,
    method: Method,
    threads: int | None,
    limits: Mapping[str, Any],
    seed: int,
) -> tuple[float, int, int, bool, float]:
    import time
    import warnings

    from bestdag.errors import DataWarning

    start = time.perf_counter()
    with warnings.catch_warnings():
        # What is said of all rows is not said again of each part.
        warnings.simplefilter("ignore", DataWarning)
        result = _learned(train, method, threads, limits, seed)
        network = result.fit(method.parameters, threads=threads)
    loss = network.log_loss(test, threads=threads)
    seconds = time.perf_counter() - start
    return loss, len(network.dag.arcs), network.n_parameters, result.is_proved, seconds


def _learned(
    data: Dataset, method: Method, threads: int | None, limits: Mapping[str, Any], seed: int
) -> Result:
    return learn_one_of_many(
        data, method.score, search=method.search, threads=threads, seed=seed, **limits
    )


def _require_complete(dataset: Dataset) -> None:
    if dataset.has_missing:
        name = next(name for name, count in dataset.missing_counts.items() if count)
        raise DataError(
            f"{_WHO}: complete rows are needed, got missing cells in {name!r}; read with missing "
            'set to "drop" or "state"'
        ).with_option(
            f"evaluate: complete rows are needed, got missing cells in {name!r}; pass --missing "
            "drop or --missing state"
        )


def _say(progress: Callable[[str], None] | None, text: str) -> None:
    if progress is not None:
        progress(text)


def _listed(what: str, given: Any) -> list[Any]:
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not listed:
        raise InvalidParameterError(f"{_WHO}: the list for {what} has nothing in it")
    return listed


def _label(made: Any, among: Sequence[Any]) -> str:
    """Name a score or a search, with its settings where its name alone is not enough."""
    alike = [one for one in among if one.name == made.name]
    return made.name if len(alike) == 1 else repr(made)


def _named(parameters: Estimator | str | None) -> str:
    if parameters is None:
        return "own parameters"
    made = make_estimator(parameters) if isinstance(parameters, str) else parameters
    return made.name


def _mean(values: Sequence[float]) -> float:
    if any(math.isinf(value) or math.isnan(value) for value in values):
        return math.nan if any(math.isnan(value) for value in values) else sum(values)
    return math.fsum(values) / len(values)


def _standard_error(values: Sequence[float], k: int) -> float:
    if not all(math.isfinite(value) for value in values):
        return math.nan
    return statistics.stdev(values) * math.sqrt(1 / len(values) + 1 / (k - 1))


def _interval(mean: float, error: float, n: int) -> tuple[float, float]:
    if not math.isfinite(error):
        return (-math.inf, math.inf)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.975)) * error
    return mean - half, mean + half


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
