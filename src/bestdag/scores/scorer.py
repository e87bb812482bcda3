"""A score bound to a data set."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.data.readers import as_dataset
from bestdag.data.schema import Variable
from bestdag.errors import GraphError, InvalidParameterError, require_count
from bestdag.graph.dag import Dag
from bestdag.scores import make_score
from bestdag.scores.base import Score
from bestdag.scores.bulk import BulkScores
from bestdag.scores.explanation import Explanation, explain
from bestdag.scores.family_scores import Family, FamilyScores, parent_set
from bestdag.scores.node_average import AveragedScore, NodeAverage
from bestdag.scores.prior import StructurePrior, make_prior
from bestdag.scores.support import Support
from bestdag.scores.whole_counts import require_whole_weights
from bestdag.wording import first_names

__all__ = ["Scorer"]


class _HasDag(Protocol):
    """A network, or anything else that has a structure."""

    @property
    def dag(self) -> Dag: ...


class Scorer:
    """Local and total scores of one data set, remembered.

    Parameters
    ----------
    dataset : Dataset, path, frame
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
        dataset: Any,
        score: Score | str = "bdeu",
        structure_prior: StructurePrior | str | None = None,
        *,
        missing: str = "error",
        support: float | Support = 0.0,
        threads: int | None = None,
    ) -> None:
        dataset = as_dataset(dataset, missing="keep" if missing == "available" else "error")
        score = make_score(score) if isinstance(score, str) else _checked_score(score)
        require_whole_weights(score, dataset)
        counts = CountingEngine(dataset, missing=missing, threads=threads)
        if missing == "available":
            score = _averaged(score, dataset)
        if not isinstance(support, Support):
            support = Support(support)
        prior = make_prior(structure_prior, len(dataset.names))
        self._scores = FamilyScores(counts, score, prior, support)
        self.bulk = BulkScores(self._scores)  # for searches
        if prior is not None:
            _require_prior(prior)
            for name in dataset.names:  # so that an unknown variable is found at once
                self._scores.log_prior(name, frozenset())

    def by(self, score: Score | str) -> Scorer:
        """Return the same data by another score, with the same prior; what is read is shared."""
        chosen = make_score(score) if isinstance(score, str) else _checked_score(score)
        require_whole_weights(chosen, self.dataset)
        counts = self._scores.counts
        if counts.missing == "available":
            chosen = _averaged(chosen, self.dataset)
        return self._with(chosen, self.support)

    def within_support(self, rows_per_cell: float) -> Scorer:
        """Return the same scores, within another limit of support; 0 is none."""
        return self._with(self.score, Support(rows_per_cell))

    def exempting(self, families: Collection[tuple[str, frozenset[str]]]) -> Scorer:
        """Return the same scores, with these families admissible whatever their support."""
        return self._with(self.score, self.support.exempting(families))

    def _with(self, score: Score, support: Support) -> Scorer:
        """Return the same data by another score or within another limit; what is read is shared."""
        other = copy.copy(self)
        other._scores = FamilyScores(self._scores.counts, score, self.structure_prior, support)
        other.bulk = BulkScores(other._scores)
        return other

    @property
    def dataset(self) -> Dataset:
        """The data."""
        return self._scores.counts.dataset

    @property
    def score(self) -> Score:
        """The score."""
        return self._scores.score

    @property
    def structure_prior(self) -> StructurePrior | None:
        """The prior over structures, if there is one."""
        return self._scores.structure_prior

    @property
    def support(self) -> Support:
        """The limit of support."""
        return self._scores.support

    @property
    def is_score_equivalent(self) -> bool:
        """Whether score and structure prior both give equal values to equivalent structures."""
        prior = self.structure_prior
        return self.score.is_score_equivalent and (prior is None or prior.is_score_equivalent)

    @property
    def is_per_row(self) -> bool:
        """Whether scores are means over rows, not sums."""
        return bool(getattr(self.score, "is_per_row", False))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in name order."""
        return self._scores.counts.variables

    def family(self, child: str, parents: Collection[str] = ()) -> float:
        """Score one family."""
        return float(self.families([(child, parents)])[0])

    def families(self, families: Iterable[Family]) -> npt.NDArray[np.float64]:
        """Score many families, each given as (child, parents), in one native call."""
        return self._scores.remembered(families)

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
        number = self._scores.counts.number
        family = number(child), sorted(map(number, parent_set(child, parents)))
        if family[0] in family[1]:
            raise GraphError(f"family: {child!r} cannot be its own parent")
        numbers = np.array([number(name) for name in candidates], np.int32)
        return self.bulk.numbered_changes([family], [numbers])[0]

    def all_families(self, max_parents: int) -> dict[str, npt.NDArray[np.float64]]:
        """Score every family with at most `max_parents` parents, in one native call.

        Returns
        -------
        dict of str to array
            For each child the scores of all sets of the other variables in name order: smaller
            sets first, sets of one size in colexicographic order, as
            `scores.parent_sets.enumeration.parent_sets` lists them.
        """
        most = require_count("score", "max_parents", max_parents)
        found = self.bulk.all_families(min(most, len(self.variables) - 1))
        assert found is not None  # without a time limit
        return found

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
        given = parent_set(child, parents)
        (counts,) = self._scores.counts.count([(child, given)])
        log_prior = None if self.structure_prior is None else self._scores.log_prior(child, given)
        return explain(self.score, counts, log_prior)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "score": self.score.score if isinstance(self.score, NodeAverage) else self.score,
            "structure_prior": self.structure_prior,
            "missing": self._scores.counts.missing,
            "support": self.support,
            "threads": self._scores.counts.threads,
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


def _nodes_differ(missing: list[str], extra: list[str]) -> str:
    parts = []
    if missing:
        parts.append(f"columns {first_names(missing)} are not in the graph")
    if extra:
        parts.append(f"nodes {first_names(extra)} are not in the data")
    return "score: graph and data must have the same variables; " + ", and ".join(parts)
