"""A score bound to a data set."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.readers import as_dataset
from bestdag.data.schema import Variable
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.scores import make_score
from bestdag.scores.base import RefusingScore, Score, checked_value, require_whole_weights
from bestdag.scores.engine import FamilySupport, native_scores
from bestdag.scores.explanation import Explanation, explain
from bestdag.scores.local_scores import (
    Family,
    HasDag,
    LocalScores,
    dag_of,
    describe,
    pairs_of,
    parent_set,
)
from bestdag.scores.node_average import AveragedScore, NodeAverage
from bestdag.scores.prior import SparsePrior, StructurePrior, make_prior
from bestdag.scores.support import Support

__all__ = ["Scorer"]

# Families that share a pass over rows which are not in memory.
_PER_PASS = 1 << 16

_Floats = npt.NDArray[np.float64]


class Scorer(LocalScores):
    """Local and total scores of one data set, remembered.

    Parameters
    ----------
    data : Dataset, path, frame
        A Dataset, or anything that `read` takes. Complete, unless `missing` says otherwise.
    score : Score or str
        A score, or the name of one with its default settings.
    structure_prior : StructurePrior, "sparse" or "uniform", optional
        Its logarithm is added to every local and total score.
    missing : {"error", "available"}, default "error"
        What to do about missing values: refuse them, or score each family by its mean
        log-likelihood over the rows that show all of it, see `NodeAverage`; for LL, AIC, BIC, HQC
        and PNAL.
    support : float or Support, default 0.0
        Families with fewer rows than this for each occupied cell score minus infinity, see
        `Support`. Unlike `learn`, a scorer has no limit unless it is given.
    threads : int, optional
        Threads for native work; every processor by default.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"rain": ["no", "yes", "yes", "yes"], "wet": ["no", "no", "yes", "yes"]})
    >>> scorer = Scorer(data, "bic")
    >>> round(scorer.family("wet", ["rain"]), 6)
    -3.295837
    >>> round(scorer.total(Dag(["rain", "wet"], [("rain", "wet")])), 6)
    -6.238325
    """

    def __init__(
        self,
        data: Any,
        score: Score | str = "bdeu",
        structure_prior: StructurePrior | str | None = None,
        *,
        missing: str = "error",
        support: float | Support = 0.0,
        threads: int | None = None,
    ) -> None:
        dataset = as_dataset(data, missing="keep" if missing == "available" else "error")
        score = make_score(score) if isinstance(score, str) else _checked_score(score)
        require_whole_weights(score, dataset)
        counts = CountingEngine(dataset, missing=missing, threads=threads)
        if missing == "available":
            score = _averaged(score, dataset)
        if not isinstance(support, Support):
            support = Support(support)
        prior = make_prior(structure_prior, len(dataset.names))
        if prior is not None:
            _require_prior(prior)
        self._bind(counts, score, prior, support)
        if prior is not None:
            for name in dataset.names:  # so that an unknown variable is found at once
                self._log_prior(name, frozenset())

    def _bind(
        self,
        counts: CountingEngine,
        score: Score,
        prior: StructurePrior | None,
        support: Support,
    ) -> None:
        """Become the scores of what `counts` counts."""
        self.counts = counts
        self.names = tuple(variable.name for variable in counts.variables)
        dataset = counts.dataset
        self.n_rows, self.total_weight = dataset.n_rows, dataset.total_weight
        self.rows_in = dataset.rows_in
        if counts.provider is not None:
            self.workers, self._together = counts.provider.workers, _PER_PASS
        vars(self).pop("_number", None)
        self._score_by(score, prior, support)

    def _score_by(self, score: Score, prior: StructurePrior | None, support: Support) -> None:
        """Score the same rows in another way; nothing is remembered yet."""
        self._score, self._prior, self._support = score, prior, support
        self.name = score.name
        self.is_score_equivalent = score.is_score_equivalent and (
            prior is None or prior.is_score_equivalent
        )
        self.is_per_row = bool(getattr(score, "is_per_row", False))
        self.native = native_scores(self.counts, score, support)
        for made in ("_memory", "_family_support"):
            vars(self).pop(made, None)

    def by(self, score: Score | str) -> Scorer:
        """Return the same data by another score, with the same prior; what is read is shared."""
        chosen = make_score(score) if isinstance(score, str) else _checked_score(score)
        require_whole_weights(chosen, self.dataset)
        if self.counts.missing == "available":
            chosen = _averaged(chosen, self.dataset)
        return self._with(score=chosen)

    def within_support(self, rows_per_cell: float) -> Scorer:
        """Return the same scores, within another limit of support; 0 is none."""
        return self._with(support=Support(rows_per_cell))

    def with_threads(self, threads: int | None) -> Scorer:
        """Return the same scores, worked out by so many threads; None changes nothing."""
        counts = self.counts.with_threads(threads)
        return self if counts is self.counts else self._with(counts=counts)

    def without_prior(self) -> Scorer:
        """Return the scores of the data alone, without the prior over structures."""
        other = copy.copy(self)
        other._score_by(self._score, None, self._support)
        return other

    def exempting(self, families: Collection[tuple[str, frozenset[str]]]) -> Scorer:
        """Return the same scores, with these families admissible whatever their support."""
        return self._with(support=self.support.exempting(families))

    def _with(
        self,
        *,
        score: Score | None = None,
        support: Support | None = None,
        counts: CountingEngine | None = None,
    ) -> Scorer:
        """Return the same data by another score or within another limit; what is read is shared."""
        other = copy.copy(self)
        settings = score or self._score, self._prior, self._support if support is None else support
        if counts is None:
            other._score_by(*settings)
        else:
            other._bind(counts, *settings)
        return other

    @property
    def dataset(self) -> Dataset:
        """The data."""
        return self.counts.dataset

    @property
    def score(self) -> Score:
        """The score."""
        return self._score

    @property
    def structure_prior(self) -> StructurePrior | None:  # type: ignore[override]
        """The prior over structures, if there is one."""
        return self._prior

    @property
    def support(self) -> Support:  # type: ignore[override]
        """The limit of support."""
        return self._support

    @property
    def passes(self) -> int | None:  # type: ignore[override]
        """How often all rows were read so far; None where they are in memory."""
        return None if self.counts.provider is None else self.counts.provider.passes

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in name order."""
        return self.counts.variables

    def description(self) -> str | None:
        """Return a text that differs wherever scores may; None for a score that has none.

        A score or prior of your own has one if it is a dataclass, or by a method of this name.
        """
        return describe([self.dataset, self.score, self.structure_prior, self.support])

    def number(self, name: str) -> int:
        """Return the place of a variable in `names`."""
        return self.counts.number(name)

    def family(self, child: str, parents: Collection[str] = ()) -> float:
        """Score one family."""
        return float(self.families([(child, parents)])[0])

    def _computed(self, families: Sequence[Family]) -> _Floats:
        """Score families without remembering them, in one native call."""
        if self.native is not None:
            with self.refusals():
                scores = self.native.families(families)
        else:
            scores = np.array(list(map(self._by_formula, self.counts.count(families))))
        return self._with_prior(scores, families)

    def _by_formula(self, counts: FamilyCounts) -> float:
        """Score one family; minus infinity where it lacks support."""
        parents = frozenset(parent.name for parent in counts.parents)
        if self.support and parents and (counts.child.name, parents) not in self.support.exempt:
            most = self.support.most_cells(self.dataset.total_weight)
            if int(np.count_nonzero(counts.table)) > most:
                return -math.inf
        return checked_value(self.score, counts)

    def _with_prior(self, scores: _Floats, families: Iterable[Family]) -> _Floats:
        """Add the logarithm of the prior over structures, if there is one."""
        prior = self._prior
        if prior is None:
            return scores
        if isinstance(prior, SparsePrior):
            return scores + prior.per_arc * np.array([len(parents) for _, parents in families])
        return scores + [self._log_prior(child, frozenset(parents)) for child, parents in families]

    def _log_prior(self, child: str, parents: frozenset[str]) -> float:
        """Return what the prior over structures adds to a family; there must be one."""
        assert self._prior is not None
        value = self._prior.family(child, parents)
        if not value < math.inf:  # nan too
            raise InvalidParameterError(
                f"structure prior: the logarithm for {child!r} given {sorted(parents)} must be a "
                f"number below infinity, got {value!r}"
            )
        return value

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Let the score say why its native kernel refused a family."""
        try:
            yield
        except _core.RefusedFamilyError as error:
            child, parents, n_bytes = error.args
        else:
            return
        assert isinstance(self.score, RefusingScore)
        variables = [self.variables[parent] for parent in parents]
        self.score.refuse(self.variables[child], variables, n_bytes)

    @cached_property
    def _family_support(self) -> FamilySupport:
        """Which families have support, whatever the score."""
        return FamilySupport(self.counts, self.support)

    def lacking_support(
        self, families: Iterable[tuple[str, frozenset[str]]]
    ) -> list[tuple[str, frozenset[str]]]:
        """Return those of the families that are not admissible, each once."""
        return self._family_support.lacking(families)

    def numbered_changes(
        self,
        families: Sequence[tuple[int, Sequence[int]]],
        candidates: Sequence[npt.NDArray[np.int32]],
        time_limit: float = math.inf,
    ) -> list[_Floats]:
        """Score `additions` to several families in one native call; by number.

        What is not done after `time_limit` seconds is nan.
        """
        if self.native is None:
            return super().numbered_changes(families, candidates, time_limit)
        with self.refusals():
            changed = self.native.changes(families, candidates, time_limit)
        prior = self._prior
        if isinstance(prior, SparsePrior):
            pairs = zip(families, candidates, strict=True)
            sizes = [_sizes(child, parents, group) for (child, parents), group in pairs]
            return [one + prior.per_arc * size for one, size in zip(changed, sizes, strict=True)]
        if prior is not None:
            return list(map(self._with_prior, changed, map(self._changed, families, candidates)))
        return changed

    def _fill_pairs(
        self, names: Sequence[str], given: frozenset[str], out: _Floats, time_limit: float
    ) -> None:
        if self.native is None:
            super()._fill_pairs(names, given, out, time_limit)
            return
        n, priors, prior = len(names), None, self._prior
        if isinstance(prior, SparsePrior):
            priors = np.full((n, n), prior.per_arc * (len(given) + 1))
            np.fill_diagonal(priors, prior.per_arc * len(given))
        elif prior is not None:
            priors = np.zeros((n, n))
            for i, one in enumerate(names):
                priors[i] = self._with_prior(priors[i], pairs_of(one, names, given))
        try:
            with self.refusals():
                self.native.pairs(names, given, out, time_limit)
        finally:
            if priors is not None:
                out += priors

    def _all_families(self, most: int, time_limit: float) -> dict[str, _Floats] | None:
        if self.native is None:
            return super()._all_families(most, time_limit)
        with self.refusals():
            scores = self.native.all_families(most, time_limit)
        if scores is None:
            return None
        return {
            child: self._with_prior(row, self._families_of(child, most))
            for child, row in zip(self.names, scores, strict=True)
        }

    # The smallest sets only: a bound by the formula counts the family once more.
    bounds_every_set = False

    def upper_bounds(self, families: Sequence[Family]) -> _Floats | None:
        """Bound the scores of all families with more parents than each of these, without prior.

        By the score's own ``upper_bound(counts)``; None when it has none.
        """
        bound = getattr(self.score, "upper_bound", None)
        if bound is None:
            return None
        return np.array([float(bound(counts)) for counts in self.counts.count(families)])

    def by_child(self, dag: Dag | HasDag) -> dict[str, float]:
        """Score each family of a structure; keys are the children in the order of the data."""
        return self._by_child(dag_of(dag), self.dataset.names)

    def explain(self, child: str, parents: Collection[str] = ()) -> Explanation:
        """Show how a local score comes about: the counts and the terms of the sum."""
        return self.explain_each([(child, parents)])[0]

    def explain_each(self, families: Iterable[Family]) -> list[Explanation]:
        """Explain many families, counted in one call."""
        keys = [(child, parent_set(child, parents)) for child, parents in families]
        has_prior = self._prior is not None
        return [
            explain(self._score, counts, self._log_prior(*key) if has_prior else None)
            for key, counts in zip(keys, self.counts.count(keys), strict=True)
        ]

    def __copy__(self) -> Self:
        """Share what is read and what counts; `__setstate__` would read all of it again."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {
            "data": self.dataset,
            "score": self.score.score if isinstance(self.score, NodeAverage) else self.score,
            "structure_prior": self.structure_prior,
            "missing": self.counts.missing,
            "support": self.support,
            "threads": self.counts.threads,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        prior = "" if self.structure_prior is None else f", {self.structure_prior!r}"
        return f"Scorer({self.score!r}{prior}, {self.dataset.n_rows:,} rows)"


def _checked_score(score: object) -> Score:
    if isinstance(score, type):
        raise InvalidParameterError(
            f"Scorer: score must be a score, got the class {score.__name__}; "
            f"give an instance, {score.__name__}()"
        )
    if not isinstance(score, Score):
        raise InvalidParameterError(f"Scorer: score must be a score or its name, got {score!r:.60}")
    return score


def _averaged(score: Score, dataset: Dataset) -> Score:
    """Return the score per row of a table with missing values."""
    if not isinstance(score, AveragedScore):
        raise InvalidParameterError(
            f"Scorer: missing='available' needs a log-likelihood with a penalty per parameter, "
            f"got {score.name}"
        )
    n = float(dataset.total_weight)
    return NodeAverage(score=score, n_cases=n, incomplete=frozenset(dataset.missing_counts))


def _require_prior(prior: object) -> None:
    if not isinstance(prior, StructurePrior):
        raise InvalidParameterError(
            "Scorer: structure_prior must have family(child, parents) and is_score_equivalent, "
            f"got {prior!r}"
        )


def _sizes(
    child: int, parents: Sequence[int], candidates: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Return how many parents a family has after each candidate was added or dropped."""
    change = np.where(np.isin(candidates, np.array(parents, np.int32)), -1, 1)
    return len(parents) + np.where(candidates == child, 0, change)
