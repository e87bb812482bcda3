"""What a way to treat missing values is, and the task it gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from bestdag.checkpoint import RunState
from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.network.fitting import fitted_network
from bestdag.network.network import Network
from bestdag.parameters.base import Estimator
from bestdag.scores.base import Score
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.prior import StructurePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search.driver import run
from bestdag.search.near_optimal.request import NearOptimal
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult
from bestdag.search.steps import Search
from bestdag.workers import Workers

__all__ = ["CompleteRows", "Task", "Treatment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What `learn` was asked for: a search and everything it needs but the scores."""

    search: Search
    near_optimal: NearOptimal | None = None
    structure_prior: StructurePrior | None = None
    knowledge: Knowledge | None = None
    max_parents: int | None = None
    support: float = DEFAULT_SUPPORT
    time_limit: float | None = None
    seed: int = 0
    workers: Workers = field(default_factory=Workers)
    state: RunState | None = None

    def solve(self, scores: LocalScores, *, start: Dag | None = None) -> SearchResult:
        """Run the search once; a task with other settings is made by `dataclasses.replace`."""
        problem = Problem(
            scores,
            knowledge=self.knowledge,
            max_parents=self.max_parents,
            time_limit=self.time_limit,
            workers=self.workers,
            seed=self.seed,
            state=self.state,
        ).starting_from(start)
        if self.near_optimal is not None:
            from bestdag.search.near_optimal.search import solve_near_optimal

            return solve_near_optimal(problem, self.search, self.near_optimal)
        return run(self.search, problem)


@runtime_checkable
class Treatment(Protocol):
    """A way to learn from tables with missing values: a frozen dataclass, its fields the settings.

    ``reads_as`` is the setting `missing` of `read` that it needs: "keep" where it takes missing
    cells itself. ``idle`` says that it has nothing to do where no missing values, so that such a
    table is learned as any complete one; None where it has. ``summary`` says in a report what was
    done about missing values. ``keeps_missing`` says that rows with missing values are learned
    from; the counts may then be expected ones, and the scores means per row.
    """

    name: ClassVar[str]
    reads_as: ClassVar[str]
    idle: ClassVar[str | None]
    summary: ClassVar[str]
    keeps_missing: ClassVar[bool]
    has_expected_counts: ClassVar[bool]
    has_mean_scores: ClassVar[bool]

    def refusal(self, score: Score) -> str | None:
        """Say why it cannot be used with a score; None where it can."""
        ...

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the data that are learned from, or refuse them."""
        ...

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
        """Return where the scores of families come from.

        Where they depend on a structure it is that of `dag`, and None comes back without one.
        """
        ...

    def learn(
        self, dataset: Dataset, score: Score, task: Task, scorer: Scorer | None
    ) -> SearchResult:
        """Learn from data that are settled, by what `scorer` gave without a structure."""
        ...

    def fit(
        self,
        dag: Dag,
        dataset: Dataset,
        estimator: Estimator,
        threads: int | None,
        counts: CountingEngine | None = None,
    ) -> Network:
        """Fit the parameters of a structure to data that are settled; `counts` counts them."""
        ...


class CompleteRows:
    """Base of the ways after which no missing values any more."""

    __slots__ = ()
    idle: ClassVar[str | None] = None
    summary: ClassVar[str] = ""
    keeps_missing: ClassVar[bool] = False
    has_expected_counts: ClassVar[bool] = False
    has_mean_scores: ClassVar[bool] = False

    def refusal(self, score: Score) -> str | None:
        """Return None: rows without missing values suit every score."""
        return None

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
        """Score as from any table, whatever the structure."""
        return Scorer(dataset, score, structure_prior, support=support, threads=threads)

    def learn(
        self, dataset: Dataset, score: Score, task: Task, scorer: Scorer | None
    ) -> SearchResult:
        """Learn as from any table."""
        assert scorer is not None
        return task.solve(scorer)

    def fit(
        self,
        dag: Dag,
        dataset: Dataset,
        estimator: Estimator,
        threads: int | None,
        counts: CountingEngine | None = None,
    ) -> Network:
        """Fit as to any table."""
        return fitted_network(dag, dataset, estimator, threads=threads, counts=counts)[0]
