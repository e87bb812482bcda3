"""A score bound to a data set."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CandidateListing, CountingEngine, ParentLimits, parent_sets
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, GraphError, InvalidParameterError, require_count
from bestdag.graph.dag import Dag
from bestdag.machine import memory_left, require_memory
from bestdag.scores import make_score
from bestdag.scores.base import BoundScore, Score, checked_value, kernel_for
from bestdag.scores.explanation import Explanation, explain
from bestdag.scores.prior import StructurePrior
from bestdag.wording import first_names

__all__ = ["Scorer"]

# So many scores are remembered at most, and fewer where they would take more than this share of
# the memory there is, which is looked up when there are many. A full memory is emptied, never
# searched.
_MAX_REMEMBERED, _MANY_REMEMBERED = 1 << 20, 1 << 15
_BYTES_PER_SCORE, _SHARE_OF_MEMORY = 400, 0.1
# Families that a score of the user's own gets between two looks at the clock.
_BETWEEN_LOOKS = 16

_Family = tuple[str, Collection[str]]
_Key = tuple[str, frozenset[str]]


class _HasDag(Protocol):
    """A network, or anything else that has a structure."""

    @property
    def dag(self) -> Dag: ...


class Scorer:
    """Local and total scores of one data set, remembered.

    Parameters
    ----------
    dataset : Dataset
        Complete: without missing cells.
    score : Score or str
        A score, or the name of one with its default settings.
    structure_prior : StructurePrior, optional
        Its logarithm is added to every local and total score.
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
        dataset: Dataset,
        score: Score | str = "bdeu",
        structure_prior: StructurePrior | None = None,
        *,
        threads: int | None = None,
    ) -> None:
        _require_dataset(dataset)
        self.score: Score = make_score(score) if isinstance(score, str) else _checked_score(score)
        self.structure_prior = structure_prior
        _require_whole_counts(self.score, dataset)
        self._engine = CountingEngine(dataset, threads=threads)
        self._kernel = kernel_for(self.score, self._engine.variables)
        self._remembered: dict[_Key, float] = {}
        self._most_remembered = min(_MAX_REMEMBERED, _MANY_REMEMBERED)
        if structure_prior is not None:
            _require_prior(structure_prior)
            for name in dataset.names:  # so that an unknown variable is found at once
                self._log_prior(name, frozenset())

    @property
    def dataset(self) -> Dataset:
        """The data."""
        return self._engine.dataset

    @property
    def is_score_equivalent(self) -> bool:
        """Whether score and structure prior both give equal values to equivalent structures."""
        prior = self.structure_prior
        return self.score.is_score_equivalent and (prior is None or prior.is_score_equivalent)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in name order."""
        return self._engine.variables

    def family(self, child: str, parents: Collection[str] = ()) -> float:
        """Score one family."""
        return float(self.families([(child, parents)])[0])

    def families(self, families: Iterable[_Family]) -> npt.NDArray[np.float64]:
        """Score many families, each given as (child, parents), in one native call."""
        keys = [(child, _as_set(child, parents)) for child, parents in families]
        new = [key for key in dict.fromkeys(keys) if key not in self._remembered]
        if new:
            if len(self._remembered) + len(new) > self._most_remembered:
                room = len(self._remembered) + _SHARE_OF_MEMORY * memory_left() / _BYTES_PER_SCORE
                self._most_remembered = int(min(_MAX_REMEMBERED, room))
            if len(self._remembered) + len(new) > self._most_remembered:
                self._remembered.clear()
                new = list(dict.fromkeys(keys))
            self._remembered.update(zip(new, self._compute(new).tolist(), strict=True))
        return np.array([self._remembered[key] for key in keys], dtype=np.float64)

    def changes(self, child: str, parents: Collection[str] = ()) -> npt.NDArray[np.float64]:
        """Score every single-parent change of one family, in one native call.

        Returns
        -------
        array
            One entry per variable, in the order of `variables`: the score after dropping it
            where it is a parent, the score of the family as it is where it is the child, and
            the score after adding it everywhere else.
        """
        return self.additions(child, parents, [v.name for v in self.variables])

    def additions(
        self, child: str, parents: Collection[str], candidates: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Score one family after adding each candidate, in one native call.

        A candidate that is a parent already is dropped instead, as in `changes`.
        """
        number = self._engine.number
        family = number(child), sorted(map(number, _as_set(child, parents)))
        if family[0] in family[1]:
            raise GraphError(f"family: {child!r} cannot be its own parent")
        numbers = np.array([number(name) for name in candidates], np.int32)
        return self.numbered_changes([family], [numbers])[0]

    def numbered_changes(
        self,
        families: Sequence[tuple[int, Sequence[int]]],
        candidates: Sequence[npt.NDArray[np.int32]],
        time_limit: float = math.inf,
    ) -> list[npt.NDArray[np.float64]]:
        """Score `additions` to several families in one call; numbers are places in `variables`.

        What is not done after `time_limit` seconds is nan.
        """
        if self._kernel is None:
            end = time.monotonic() + time_limit
            pairs = zip(families, candidates, strict=True)
            return [self._changes_until(end, family, group) for family, group in pairs]
        with self.refusals():
            found = self._engine.score_changes(self._kernel, families, candidates, time_limit)
        if self.structure_prior is not None:
            found = list(map(self._with_prior, found, map(self._changed, families, candidates)))
        return found

    def _changes_until(
        self,
        end: float,
        family: tuple[int, Sequence[int]],
        candidates: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.float64]:
        found = np.full(len(candidates), math.nan)
        if time.monotonic() >= end:
            return found
        families = self._changed(family, candidates)
        for first in range(0, len(families), _BETWEEN_LOOKS):
            if time.monotonic() >= end:
                break
            some = slice(first, first + _BETWEEN_LOOKS)
            found[some] = self.families(families[some])
        return found

    def change_scorers(self) -> _core.ChangeScorers:
        """Return what scores changes natively, without the structure prior; needs `has_kernel`."""
        assert self._kernel is not None
        return self._engine.change_scorers(self._kernel)

    def _changed(
        self, family: tuple[int, Sequence[int]], candidates: npt.NDArray[np.int32]
    ) -> list[_Family]:
        names = [v.name for v in self.variables]
        own, given = names[family[0]], frozenset(names[p] for p in family[1])
        return [(own, (given ^ {names[c]}) - {own}) for c in candidates.tolist()]

    def pair_scores(
        self,
        names: Sequence[str],
        given: Collection[str] = (),
        *,
        out: npt.NDArray[np.float64] | None = None,
        time_limit: float = math.inf,
    ) -> npt.NDArray[np.float64]:
        """Score each variable with each other one as its parent; each pair is counted once.

        Parameters
        ----------
        names : sequence of str
        given : collection of str
            Parents that every variable has; none of `names`.
        out : array, optional
            Filled instead of a new array: what is done before Ctrl-C is in it.
        time_limit : float
            Seconds; what is not done by then is nan.

        Returns
        -------
        array, n x n
            ``[i, j]`` is the score of variable j with the parents i and `given`, and ``[j, j]``
            that of variable j with the parents `given`.
        """
        n = len(names)
        require_memory("score", f"{n:,} x {n:,} scores", 16 * n * n, "use fewer variables")
        common = _as_set("each variable", given)
        scores = np.empty((n, n)) if out is None else out
        scores.fill(math.nan)
        if self._kernel is None:
            self._pair_scores_in_python(names, common, scores, time_limit)
            return scores
        priors = None
        if self.structure_prior is not None:
            priors = np.zeros((n, n))
            for i, one in enumerate(names):
                priors[i] = self._with_prior(priors[i], _pairs_of(one, names, common))
        try:
            with self.refusals():
                self._engine.score_pairs(self._kernel, names, common, scores, time_limit)
        finally:
            if priors is not None:
                scores += priors
        return scores

    def _pair_scores_in_python(
        self,
        names: Sequence[str],
        given: frozenset[str],
        out: npt.NDArray[np.float64],
        time_limit: float,
    ) -> None:
        end = time.monotonic() + time_limit
        for i, name in enumerate(names):
            if time.monotonic() >= end:
                return
            out[i] = self._compute(list(_pairs_of(name, names, given)))

    def all_families(self, max_parents: int) -> dict[str, npt.NDArray[np.float64]]:
        """Score every family with at most `max_parents` parents, in one native call.

        Returns
        -------
        dict of str to array
            For each child the scores of all parent sets, in the order of `parent_sets`.
        """
        names = [v.name for v in self.variables]
        max_parents = min(require_count("score", "max_parents", max_parents), len(names) - 1)

        def families(child: str) -> Iterator[_Family]:
            others = [name for name in names if name != child]
            return ((child, parents) for parents in parent_sets(others, max_parents))

        if self._kernel is None:
            return {child: self._compute(list(families(child))) for child in names}
        with self.refusals():
            scores = self._engine.score_all(self._kernel, max_parents)
        return {
            child: self._with_prior(row, families(child))
            for child, row in zip(names, scores, strict=True)
        }

    @property
    def has_kernel(self) -> bool:
        """Whether the score has a native twin."""
        return self._kernel is not None

    def candidate_listing(self, limits: Sequence[ParentLimits], *, prune: bool) -> CandidateListing:
        """Begin to list candidate parent sets natively, for `ParentSetListing`."""
        assert self._kernel is not None
        return self._engine.candidate_listing(self._kernel, limits, prune=prune)

    def total_cap(self) -> float:
        """Return what no network's score exceeds, without the prior over structures.

        The likelihood of any network is no more than that of the joint distribution in which each
        row is as likely as it is frequent. Infinite where nothing is known.
        """
        return math.inf if self._kernel is None else self._engine.total_cap(self._kernel)

    def upper_bounds(self, families: Sequence[_Family]) -> npt.NDArray[np.float64] | None:
        """Bound the scores of all families with more parents than each of these, without prior.

        By the score's own ``upper_bound(counts)``; None when it has none.
        """
        bound = getattr(self.score, "upper_bound", None)
        if bound is None:
            return None
        return np.array([float(bound(counts)) for counts in self._engine.count(families)])

    def forecast_every_set(self, *, leave_out: bool) -> tuple[float, float] | None:
        """Bytes and steps of `every_set` and of a program over it; None where not possible."""
        if self._kernel is None:
            return None
        return self._engine.forecast_every_set(self._kernel, leave_out=leave_out)

    def every_set(self) -> _core.EverySet:
        """Values of all sets of columns, not yet computed; needs a forecast that is not None."""
        assert self._kernel is not None
        return self._engine.every_set(self._kernel)

    def total(self, dag: Dag | _HasDag) -> float:
        """Score a structure, or that of a network: the sum over its families, rounded once."""
        return math.fsum(self.by_child(dag).values())

    def by_child(self, dag: Dag | _HasDag) -> dict[str, float]:
        """Score each family of a structure; keys are the children in the order of the data."""
        dag = _dag_of(dag)
        names = self.dataset.names
        in_data, in_graph = set(names), set(dag.nodes)
        missing = [name for name in names if name not in in_graph]
        extra = [node for node in dag.nodes if node not in in_data]
        if missing or extra:
            raise GraphError(_nodes_differ(missing, extra))
        scores = self.families([(name, dag.parents(name)) for name in names])
        return dict(zip(names, scores.tolist(), strict=True))

    def explain(self, child: str, parents: Collection[str] = ()) -> Explanation:
        """Show how a local score comes about: the counts and the terms of the sum."""
        given = _as_set(child, parents)
        (counts,) = self._engine.count([(child, given)])
        log_prior = None if self.structure_prior is None else self._log_prior(child, given)
        return explain(self.score, counts, log_prior)

    def _compute(self, families: Sequence[_Family]) -> npt.NDArray[np.float64]:
        if self._kernel is not None:
            with self.refusals():
                scores = self._engine.score(self._kernel, families)
        else:
            counted = self._engine.count(families)
            scores = np.array([checked_value(self.score, counts) for counts in counted])
        return self._with_prior(scores, families)

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Let the score say why its native twin refused a family."""
        try:
            yield
        except _core.RefusedFamilyError as error:
            child, parents, n_bytes = error.args
        else:
            return
        assert isinstance(self.score, BoundScore)
        given = [self.variables[parent] for parent in parents]
        self.score.refuse(self.variables[child], given, n_bytes)

    def _with_prior(
        self, scores: npt.NDArray[np.float64], families: Iterable[_Family]
    ) -> npt.NDArray[np.float64]:
        if self.structure_prior is None:
            return scores
        return scores + [self._log_prior(child, frozenset(parents)) for child, parents in families]

    def _log_prior(self, child: str, parents: frozenset[str]) -> float:
        assert self.structure_prior is not None
        value = self.structure_prior.family(child, parents)
        if not value < math.inf:  # nan too
            raise InvalidParameterError(
                f"structure prior: the logarithm for {child!r} given {sorted(parents)} must be a "
                f"number below infinity, got {value!r}"
            )
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "score": self.score,
            "structure_prior": self.structure_prior,
            "threads": self._engine.threads,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        prior = "" if self.structure_prior is None else f", {self.structure_prior!r}"
        return f"Scorer({self.score!r}{prior}, {self.dataset.n_rows:,} rows)"


def _require_dataset(dataset: object) -> None:
    if not isinstance(dataset, Dataset):
        raise InvalidParameterError(
            f"Scorer: a Dataset is needed, got {type(dataset).__name__}; make one with read()"
        )


def _checked_score(score: object) -> Score:
    if isinstance(score, type):
        raise InvalidParameterError(
            f"Scorer: score must be a score, got the class {score.__name__}; "
            f"give an instance, {score.__name__}()"
        )
    if not isinstance(score, Score):
        raise InvalidParameterError(f"Scorer: score must be a score or its name, got {score!r:.60}")
    return score


def _dag_of(given: object) -> Dag:
    dag = given if isinstance(given, Dag) else getattr(given, "dag", None)
    if not isinstance(dag, Dag):
        raise GraphError(f"score: a Dag or a network is needed, got {type(given).__name__}")
    return dag


def _require_prior(prior: object) -> None:
    if not isinstance(prior, StructurePrior):
        raise InvalidParameterError(
            "Scorer: structure_prior must have family(child, parents) and is_score_equivalent, "
            f"got {prior!r}"
        )


def _require_whole_counts(score: Score, dataset: Dataset) -> None:
    real = dataset.weights is not None and dataset.weights.dtype == np.float64
    if real and getattr(score, "needs_whole_counts", False):
        raise DataError(
            f"{score.name}: is defined for whole counts only, and the weights are not whole "
            "numbers; round them or use another score"
        )


def _as_set(child: str, parents: Collection[str]) -> frozenset[str]:
    if isinstance(parents, str):
        raise GraphError(
            f"family of {child!r}: parents must be a list of names, got the text {parents!r}"
        )
    return frozenset(parents)


def _pairs_of(parent: str, names: Sequence[str], given: frozenset[str]) -> Iterator[_Family]:
    """List the families of `pair_scores` with this parent."""
    return ((name, given | {parent} if name != parent else given) for name in names)


def _nodes_differ(missing: list[str], extra: list[str]) -> str:
    parts = []
    if missing:
        parts.append(f"columns {first_names(missing)} are not in the graph")
    if extra:
        parts.append(f"nodes {first_names(extra)} are not in the data")
    return "score: graph and data must have the same variables; " + ", and ".join(parts)
