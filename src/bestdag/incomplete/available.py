"""Each family is scored over the rows that show all of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.data.missing import complete_rows
from bestdag.errors import DataError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.incomplete.base import Task
from bestdag.network.fitting import fitted_network
from bestdag.network.network import Network
from bestdag.parameters.base import Estimator
from bestdag.scores import SCORES
from bestdag.scores.base import Score
from bestdag.scores.local_scores import Family
from bestdag.scores.node_average import AveragedScore
from bestdag.scores.prior import StructurePrior
from bestdag.scores.scorer import Scorer
from bestdag.search.result import SearchResult
from bestdag.wording import arg, first_names

__all__ = ["Available"]


@dataclass(frozen=True, slots=True)
class Available:
    """Score each family by its mean log-likelihood over the rows that show all of it.

    This is the node-average likelihood of Balov (2013), see `NodeAverage`, for the scores LL, AIC,
    BIC and HQC (their own penalty divided by the number of rows) and PNAL. Scores are means per
    row. It assumes that values are missing completely at random. The parameters of a structure are
    fitted to the same counts.
    """

    name: ClassVar[str] = "available"
    reads_as: ClassVar[str] = "keep"
    idle: ClassVar[str | None] = None  # its score is a mean for each row, on complete tables too
    summary: ClassVar[str] = "each variable was scored on the rows without missing values in it"
    keeps_missing: ClassVar[bool] = True
    has_expected_counts: ClassVar[bool] = False
    has_mean_scores: ClassVar[bool] = True

    def refusal(self, score: Score) -> str | None:
        """Say why it cannot be used with a score; None where it can."""
        if isinstance(score, AveragedScore):
            return None
        known = ", ".join(name for name, one in SCORES.items() if hasattr(one, "rate"))
        label = getattr(score, "name", score)
        return f"is a mean log-likelihood with a penalty, for the scores {known}, got {label}"

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the data as they are, if every column has a value."""
        reason = self.refusal(score)
        if reason is not None:
            raise InvalidParameterError(f"learn: {arg('missing', 'available')} {reason}")
        weights = dataset.weights
        for name in dataset.missing_counts:
            shown = ~dataset.missing(name)
            if not (shown if weights is None else weights[shown] > 0).any():
                raise DataError(
                    f"learn: column {name!r} has no values, so no family with it can be scored; "
                    f"leave it out with {arg('drop', [name])}"
                )
        return dataset

    def scorer(
        self,
        dataset: Dataset,
        score: Score,
        structure_prior: StructurePrior | None,
        *,
        support: float = 0.0,
        threads: int | None = None,
        dag: Dag | None = None,
    ) -> Scorer | None:
        """Score by means over the rows that show a family, whatever the structure."""
        if structure_prior is not None:
            raise InvalidParameterError(
                f"learn: {arg('missing', 'available')} scores means per row, to which the "
                "logarithm of a structure prior cannot be added; leave out "
                f"{arg('structure_prior')}"
            )
        return Scorer(dataset, score, missing="available", support=support, threads=threads)

    def learn(
        self, dataset: Dataset, score: Score, task: Task, scorer: Scorer | None
    ) -> SearchResult:
        """Learn with any search that needs no score-equivalent score."""
        assert scorer is not None
        if task.knowledge is not None:
            _require_seen(scorer, _demanded(task.knowledge, list(scorer.names)))
        result = task.solve(scorer)
        if result.score == -math.inf:
            _require_seen(scorer, [(name, result.dag.parents(name)) for name in result.dag.nodes])
        if not dataset.has_missing:
            note = "scores are means per row; no missing values"
        else:
            n_complete = int(np.count_nonzero(complete_rows(dataset)))
            note = (
                "scores are means over the rows that show a family, which assumes that values are "
                f"missing completely at random; {n_complete:,} of {dataset.n_rows:,} rows are "
                "complete"
            )
        return replace(result, notes=(*result.notes, note))

    def fit(
        self,
        dag: Dag,
        dataset: Dataset,
        estimator: Estimator,
        threads: int | None,
        counts: CountingEngine | None = None,
    ) -> Network:
        """Fit each table to the rows that show its family."""
        network, _ = fitted_network(
            dag, dataset, estimator, missing="available", threads=threads, counts=counts
        )
        return network


def _demanded(knowledge: Knowledge, names: list[str]) -> Iterator[Family]:
    """Return each variable with the parents that it must have."""
    known = knowledge.for_nodes(names)
    for i, name in enumerate(names):
        yield name, [names[p] for p in known.required_parents(i)]


def _require_seen(scorer: Scorer, families: Iterable[Family]) -> None:
    """Refuse families that the knowledge requires and that no row shows."""
    listed = list(families)
    for (child, parents), score in zip(listed, scorer.families(listed).tolist(), strict=True):
        if score == -math.inf:
            raise DataError(
                f"learn: no row shows {child!r} and its parents {first_names(sorted(parents))} "
                "together, so that no structure with these arcs can be scored"
            )
