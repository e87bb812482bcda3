"""What a search gets: scores, what the user knows, and when to stop."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestdag.checkpoint import RunState
from bestdag.errors import GraphError, InvalidParameterError, require_count, require_positive
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge, NodeKnowledge
from bestdag.graph.knowledge.knowledge import require_knowledge
from bestdag.progress import current_reporter
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.table import ScoreTable
from bestdag.search.feasible import (
    allowed_sets,
    feasible_parents,
    require_sums,
    required_families,
    smallest_sets,
)
from bestdag.search.result import Limits, SearchResult
from bestdag.search.steps import Search, SearchEnd
from bestdag.wording import arg, count_of, first_names
from bestdag.workers import Workers, resolve_workers

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from bestdag.search.driver import Afterwards

__all__ = ["Problem"]

# A limit of zero would be refused; a millisecond gives the smallest sets.
_LEAST_SECONDS = 1e-3
# To make lists of who may be whose parent, for each pair; what takes no longer than the second is
# done whatever time is left.
_SECONDS_PER_PAIR, _AT_ONCE = 3e-7, 0.05


class Problem:
    """What a search gets: scores, what the user knows, limits, and what an earlier run has found.

    Parameters
    ----------
    scores : LocalScores
        Where local scores come from: a `Scorer`, a `ScoreTable`, a score of your own.
    knowledge : Knowledge, optional
        What every structure must obey.
    max_parents : int, optional
        At most so many parents for every variable.
    time_limit : float, optional
        Seconds for all of it, from now.
    workers : int or concurrent.futures.Executor, optional
        The number of threads, one per processor unless given; or who runs what can be done in
        parallel: parent sets of each child, restarts of climbing.
    seed : int, default 0
        Where searches that draw at random begin; the same seed gives the same result.
    state : RunState, optional
        What an earlier part of the run has found, and what this one does; in no file unless given.
    """

    def __init__(
        self,
        scores: LocalScores,
        *,
        knowledge: Knowledge | None = None,
        max_parents: int | None = None,
        time_limit: float | None = None,
        workers: int | Executor | Workers | None = None,
        seed: int = 0,
        state: RunState | None = None,
    ) -> None:
        self.started = time.monotonic()
        if time_limit is not None:
            require_positive("search", "time_limit", time_limit)
        self.time_limit = time_limit
        self._end = None if time_limit is None else self.started + time_limit
        if isinstance(scores, ScoreTable):
            require_sums(scores)
        self.scores = scores
        self.names: tuple[str, ...] = scores.names
        self.knowledge = require_knowledge("search", knowledge)
        self._nodes = self.knowledge.for_nodes(self.names)
        if scores.support and not self.knowledge.is_empty:
            self.require_families(required_families(self._nodes))
        self.max_parents = None
        if max_parents is not None:
            # More than there are variables is no limit; native code has 32 bits for it.
            most = require_count("search", "max_parents", max_parents)
            self.max_parents = min(most, len(self.names))
        chosen = resolve_workers("search", workers)
        self.threads, self.executor = chosen.threads, chosen.executor
        self.seed = require_count("search", "seed", seed)
        self._start: Dag | None = None
        self._best_before: Dag | None = None
        self.state = RunState() if state is None else state
        self.reporter = current_reporter()
        if self.reporter is not None:
            self.reporter.until(self.deadline)
        self._table: ScoreTable | None = None

    @property
    def nodes(self) -> NodeKnowledge:
        """What the user knows, over the variables in name order; `max_parents` is in it."""
        if self.max_parents is None:
            return self._nodes
        most = np.minimum(self._nodes.max_parents, self.max_parents).astype(np.int32)
        return replace(self._nodes, max_parents=most)

    @property
    def limits(self) -> Limits:
        """What leaves structures out."""
        most = self.max_parents
        support = self.scores.support or None
        return Limits(
            max_parents=most if most is not None and most < len(self.names) - 1 else None,
            support=0.0 if support is None else support.rows_per_cell,
            has_statements=any(said.field != "skeleton" for said in self.knowledge.statements()),
            has_skeleton=self.knowledge.skeleton is not None,
            exempt=() if support is None else support.exempt,
        )

    def require_families(self, families: Iterable[tuple[str, frozenset[str]]]) -> None:
        """Admit families that every structure asked for must have, whatever their support."""
        if not self.scores.support:
            return
        lacking = self.scores.lacking_support(families)
        if lacking:
            self.scores = self.scores.exempting(lacking)

    def scorer(self, who: str) -> LocalScores:
        """Return where scores of any family come from; a file of local scores is refused."""
        if not isinstance(self.scores, ScoreTable):
            return self.scores
        raise InvalidParameterError(
            f"{who}: needs data, got a file of local scores, which lists some parent sets only; "
            "the searches 'auto', 'exact' and 'order' take such files"
        )

    def within(self, seconds: float, *, start: Dag | None = None) -> Problem:
        """Return this problem with at most so many seconds from now, and perhaps another start."""
        other = copy.copy(self)
        end = time.monotonic() + seconds
        if self.deadline is None or end < self.deadline:
            other._end = None if math.isinf(end) else end
        if start is not None:
            other._start, other._best_before = start, None
        return other

    def with_at_most(self, max_parents: int) -> Problem:
        """Return this problem with at most so many parents for every variable, or fewer."""
        other = copy.copy(self)
        if self.max_parents is None or max_parents < self.max_parents:
            other.max_parents, other._table = max_parents, None
        return other

    def starting_from(self, start: Dag | None) -> Problem:
        """Return this problem with a structure to begin with, which must obey the knowledge."""
        if start is None or start is self._start:
            return self
        other = copy.copy(self)
        other._start = self._checked_start(start)
        return other

    def without_start(self) -> Problem:
        """Return this problem without a structure to begin with."""
        other = copy.copy(self)
        other._start, other._best_before = None, None
        return other

    def go_on_from(self, best: Dag) -> None:
        """Begin with the best structure of an earlier part of the run."""
        self._best_before = best

    @property
    def start(self) -> Dag | None:
        """The structure to begin with: the best of a run that goes on, or the one given."""
        return self._start if self._best_before is None else self._best_before

    def solve(self, search: Search, afterwards: Afterwards | None = None) -> SearchResult:
        """Run a search to its end, to a limit or to Ctrl-C, and return the best it came to.

        `afterwards` follows it, such as the work on a bound.

        Examples
        --------
        >>> from bestdag.data.readers import read
        >>> from bestdag.examples import example
        >>> from bestdag.scores.scorer import Scorer
        >>> from bestdag.search.hill_climb import HillClimb
        >>> Problem(Scorer(read(example("asia.csv")), "bic")).solve(HillClimb()).status
        'local optimum'
        """
        from bestdag.search.driver import run

        return run(search, self, afterwards)

    @property
    def has_data(self) -> bool:
        """Whether any structure can be scored; among the sets of a file, few can."""
        return not isinstance(self.scores, ScoreTable)

    @property
    def deadline(self) -> float | None:
        """When the time is up: early enough to keep what there is by then; None without a limit."""
        return None if self._end is None else self._end - self.state.reserve

    def out_of_time(self) -> bool:
        """Whether the limit is reached."""
        return self.seconds_left <= 0

    @property
    def seconds(self) -> float:
        """Time since the problem was posed."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """Time until the limit; infinite without one."""
        deadline = self.deadline
        return math.inf if deadline is None else deadline - time.monotonic()

    def check_time(self) -> None:
        """Raise `SearchEnd` when the time is up."""
        if self.out_of_time():
            raise SearchEnd("time limit")

    def dag(self, parents: Sequence[Sequence[int]]) -> Dag:
        """Return a structure by names; parents are numbers of variables in name order."""
        names = self.names
        return Dag(names, [(names[p], names[c]) for c, group in enumerate(parents) for p in group])

    def feasible_dag(self, who: str) -> Dag:
        """Return a structure to begin with: the one given, or one that your constraints allow."""
        return self.start or self.dag(feasible_parents(self.nodes, who=who))

    def parents(self, dag: Dag) -> list[list[int]]:
        """Return the parents of every variable by their numbers in name order."""
        number = {name: i for i, name in enumerate(self.names)}
        return [sorted(number[p] for p in dag.parents(name)) for name in self.names]

    def settings(self) -> dict[str, Any]:
        """Return what makes the same problem of the same scores, from now, elsewhere."""
        left = self.seconds_left
        return {
            "knowledge": self.knowledge,
            "max_parents": self.max_parents,
            "time_limit": None if math.isinf(left) else max(left, _LEAST_SECONDS),
            "seed": self.seed,
        }

    def report(
        self,
        phase: str,
        detail: str = "",
        *,
        score: float | None = None,
        bound: float | None = None,
        share: float | None = None,
    ) -> None:
        """Say how far things are, to whoever asked; score and bound are about this problem."""
        if self.reporter is not None:
            self.reporter.report(phase, detail, score=score, bound=bound, share=share)

    def table(self, time_limit: float | None = None) -> ScoreTable:
        """Return the candidate parent sets that the user's knowledge of arcs allows.

        It takes no longer than `time_limit` seconds, or than the problem's own limit leaves; a
        table that gets next to no time still has the smallest sets, and says it is incomplete.
        """
        if isinstance(self.scores, ScoreTable):
            if self.knowledge.is_empty and self.max_parents is None:
                return self.scores
            return allowed_sets(self.scores, self.nodes)
        if self._table is not None:
            return self._table
        left = max(self.seconds_left if time_limit is None else time_limit, _LEAST_SECONDS)
        if self.listing_takes > max(left, _AT_ONCE):
            return smallest_sets(self.scores, self.nodes)
        return build_score_table(
            self.scores,
            max_parents=self.max_parents,
            knowledge=self.knowledge,
            time_limit=None if math.isinf(left) else left,
            anytime=True,
            workers=Workers(executor=self.executor),
        )

    @property
    def listing_takes(self) -> float:
        """Seconds to say which sets there may be, before the first is scored, about."""
        return _SECONDS_PER_PAIR * len(self.names) ** 2

    @property
    def has_table(self) -> bool:
        """Whether candidate parent sets are there already."""
        return self._table is not None or isinstance(self.scores, ScoreTable)

    def keep_table(self, table: ScoreTable) -> None:
        """Remember what `table` would list, for this problem and those made of it."""
        self._table = table

    def without_support(self, dag: Dag) -> str | None:
        """Name a variable of a structure with its parents that lack support, if there is one."""
        if not self.scores.support:
            return None
        families = [(v, frozenset(dag.parents(v))) for v in self.names]
        lacking = self.scores.lacking_support(families)
        if not lacking:
            return None
        least = count_of(self.scores.support.rows_per_cell, "row")
        return f"{lacking[0][0]!r} parents with fewer than {least} per table cell"

    def _checked_start(self, start: Dag) -> Dag:
        if sorted(start.nodes) != sorted(self.names):
            raise GraphError(
                f"search: {arg('start_from')} must have the variables of the data, and no others; "
                f"they differ in {first_names(sorted(set(start.nodes) ^ set(self.names)))}"
            )
        broken = self.knowledge.violations(start)
        if broken:
            raise GraphError(f"search: {arg('start_from')} violates your constraints: {broken[0]}")
        child = self.without_support(start)
        if child is not None:
            raise GraphError(
                f"search: {arg('start_from')} gives {child}; begin with another structure, or pass "
                f"{arg('support', 0)}"
            )
        limit = self.max_parents
        crowded = [v for v in self.names if limit is not None and len(start.parents(v)) > limit]
        if crowded:
            raise GraphError(
                f"search: {arg('start_from')} gives {crowded[0]!r} more parents than "
                f"{arg('max_parents', limit)}"
            )
        return start
