"""The rounds of structural EM, for any search."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.checkpoint import RunState
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError
from bestdag.graph.dag import Dag
from bestdag.incomplete.base import Task
from bestdag.incomplete.scoring import fitted_score, flat_counts
from bestdag.incomplete.shaking import shaken
from bestdag.inference.expected import ExpectedCounts, ExpectedScorer
from bestdag.inference.rows import IncompleteRows
from bestdag.inference.tables import FlatTables
from bestdag.network.fitting import tables_for
from bestdag.parameters.dirichlet import HasPriors
from bestdag.parameters.em import EM, Expectation
from bestdag.progress import current_reporter, listening
from bestdag.scores.base import PenalisedLikelihood, Score
from bestdag.scores.qnml import QNML
from bestdag.scores.support import Support
from bestdag.search.annealing import Annealing
from bestdag.search.auto import Auto
from bestdag.search.exact.search import Exact
from bestdag.search.ges import GES
from bestdag.search.hill_climb import HillClimb
from bestdag.search.order.search import OrderSearch
from bestdag.search.problem import Problem
from bestdag.search.result import Limits, SearchResult, Status, Step
from bestdag.search.steps import Search, SearchEnd
from bestdag.search.tabu import Tabu
from bestdag.search.ties import is_better
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.incomplete.em import StructuralEM

__all__ = ["Rounds"]

_Floats = npt.NDArray[np.float64]

# Up to so many families, "auto" finds the best structure of every round.
_FEW_FAMILIES = 4096
# To look at a structure takes as long as the first one took, times this at most, as a rule; and a
# search is worth little if there is no time for that, so this share of the time is kept for it too.
_LOOKS = 4.0
_SHARE_TO_LOOK = 0.05
# Searches that may return any structure, so also the one that they begin with.
_FREE = (Exact, HillClimb, Tabu, Annealing, OrderSearch, GES)
# Seconds to look at a structure after the time, where there is no other, and after Ctrl-C; or as
# a share of the time that it took.
_GRACE = 0.05
_GRACE_SHARE = 0.01


_PHASE = "structural EM"


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A structure with parameters, and how probable it makes what the rows show."""

    dag: Dag
    tables: FlatTables
    values: _Floats
    log_likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    dag: Dag
    score: float


class Rounds:
    """Structural EM on one data set: what `StructuralEM.learn` does."""

    def __init__(self, settings: StructuralEM, dataset: Dataset, score: Score, task: Task) -> None:
        self._began = time.monotonic()
        self._settings = settings
        self._score = score
        self._task = task
        table = _rows_that_show_something(dataset)
        self._n_empty = dataset.n_rows - table.n_rows
        self._rows = IncompleteRows(
            table, table.variables, threads=task.workers.threads, who="learn"
        )
        self._reporter = current_reporter()
        start = getattr(task.search, "start_from", None)
        self._start = start if isinstance(start, Dag) else None
        self._search, self._choice = _for_rounds(task, len(table.names))
        self._em = EM(
            prior=score if isinstance(score, HasPriors) else None,
            seed=task.seed,
            tolerance=settings.tolerance,
            max_iterations=settings.max_iterations,
        )
        self._trace: list[Step] = []
        self._best: _Best | None = None
        self._falls: list[float] = []
        self._n_drawn = self._n_groups = self._n_rounds = 0
        self._deadline = math.inf  # there is none until there is something to return
        self._look_seconds = 0.0
        self._state = task.state or RunState()
        self._n_searches = 0
        self._support = Support(task.support)  # what searches found to be exempt is in it
        self._limits = Limits()

    def run(self) -> SearchResult:
        """Run, and start again as often as asked; the best of all rounds is the result.

        A run that goes on has what the searches of its rounds found; parameters are fitted again.
        """
        statuses: list[Status] = []
        random = np.random.default_rng(self._task.seed)
        start = self._start
        for number in range(1 + self._settings.restarts):
            if number:
                assert self._best is not None
                knowledge, most = self._task.knowledge, self._task.max_parents
                support = self._rows.family_support(self._support)
                start = shaken(self._best.dag, random, knowledge, most, support)
            try:
                statuses.append(self._climb(start, is_given=number == 0 and start is not None))
            except SearchEnd as end:
                statuses.append(end.status)
            except _core.OutOfTimeError:
                statuses.append("time limit")
            except KeyboardInterrupt:
                if self._best is None:  # nothing is there yet
                    raise
                statuses.append("interrupted")
            if statuses[-1] in ("time limit", "interrupted"):
                break
        assert self._best is not None
        return SearchResult(
            dag=self._best.dag,
            score=self._best.score,
            status=statuses[-1],
            search=self._search.name,
            seconds=time.monotonic() - self._began,
            settings={**asdict(cast("Any", self._search)), "missing": asdict(self._settings)},
            trace=tuple(self._trace),
            notes=tuple(self._notes()),
            n_rows=self._rows.dataset.total_weight,
            limits=self._limits,
        )

    def _climb(self, start: Dag | None, *, is_given: bool) -> Status:
        """Go from one start until no structure scores more than the one there is."""
        began = time.monotonic()
        fitted, counts = self._first(start)
        seen: set[Dag] = set()
        before: float | None = None
        for number in range(self._settings.max_rounds + 1):
            if number:
                counts = self._expected(fitted)
            scorer = self._scorer(counts)
            score = fitted_score(scorer, fitted.dag, fitted.values, fitted.log_likelihood)
            # A search may be bound to structures that nothing to begin with is one of.
            self._record(fitted.dag, score, before, counts=number > 0 or is_given)
            before = score
            if number == self._settings.max_rounds:
                return "step limit"
            if self._task.time_limit is not None and math.isinf(self._deadline):
                self._deadline = self._began + self._task.time_limit
                self._look_seconds = time.monotonic() - began
            if self._best is None:
                result, fitted = self._first_round(scorer, _Best(fitted.dag, score), counts)
            else:
                result = self._searched(scorer, fitted.dag)
                if result.status in ("time limit", "interrupted"):  # it may not be the best
                    raise SearchEnd(result.status)
                competes = number > 0 or is_given
                if competes and not is_better(result.score, scorer.total(fitted.dag)):
                    return "local optimum"
                if result.dag in seen:
                    return "local optimum"
                fitted = self._continued(result.dag, counts)
            seen.add(result.dag)
            self._n_rounds += 1
        raise AssertionError("the loop ends inside")

    def _first_round(
        self, scorer: ExpectedScorer, start: _Best, counts: ExpectedCounts
    ) -> tuple[SearchResult, _Fitted]:
        """Search and fit for the first time; what it ends with early is the best there is."""
        result = None
        status: Status = "time limit"
        is_free = isinstance(self._search, _FREE)
        try:
            result = self._searched(scorer, start.dag, to_the_end=not is_free)
            if result.status not in ("time limit", "interrupted"):
                return result, self._continued(result.dag, counts)
            status = result.status
        except _core.OutOfTimeError:
            pass
        except KeyboardInterrupt:
            status = "interrupted"
        try:
            if result is None:
                raise _core.OutOfTimeError
            self._deadline = self._last_moment(status) if is_free else math.inf
            self._accept(result.dag, scorer)
        except _core.OutOfTimeError:
            if not is_free:
                raise KeyboardInterrupt from None
            self._best = start
        raise SearchEnd(status)

    def _last_moment(self, status: Status) -> float:
        """Until when a structure may be looked at after a search has ended early."""
        now = time.monotonic()
        if status == "interrupted":
            return now + _GRACE
        return max(self._deadline, now + max(_GRACE, _GRACE_SHARE * (now - self._began)))

    def _searched(
        self, scorer: ExpectedScorer, start: Dag, *, to_the_end: bool = False
    ) -> SearchResult:
        """Run the search of a round; `to_the_end`: what it needs to return something is not cut."""
        self._n_searches += 1
        name = f"round {self._n_searches}"
        before = self._state.get(name, SearchResult)
        if before is not None:
            return self._within_limits(before)
        limit, deadline = self._time_limit(), self._deadline
        task = replace(
            self._task,
            search=self._search,
            time_limit=limit,
            state=None,  # the round is what is kept
        )
        if to_the_end:
            self._deadline = math.inf
        within = ExpectedScorer(
            scorer.expected, self._score, task.structure_prior, support=self._support
        )
        reporter = None if self._reporter is None else self._reporter.within(_PHASE)
        with listening(reporter):
            result = self._within_limits(task.solve(within, start=start))
        self._deadline = deadline
        if result.status not in ("time limit", "interrupted"):
            self._state.put(name, replace(result, certificates=()))
            self._state.keep()
        return result

    def _within_limits(self, result: SearchResult) -> SearchResult:
        """Remember what left structures out, and what was required all the same."""
        self._limits = result.limits
        self._support = self._support.exempting(result.limits.exempt)
        return result

    def _scorer(self, counts: ExpectedCounts) -> ExpectedScorer:
        """Score any family by its expected counts; the limit of support is for searches."""
        return ExpectedScorer(counts, self._score, self._task.structure_prior)

    def _first(self, start: Dag | None) -> tuple[_Fitted, ExpectedCounts]:
        """Fit a structure to begin with: the one given, or the emptiest one that is allowed."""
        task = self._task
        empty = self._fitted(Dag(v.name for v in self._rows.variables))
        counts = self._expected(empty)
        scorer = self._scorer(counts)
        problem = Problem(
            scorer,
            knowledge=task.knowledge,
            max_parents=task.max_parents,
            time_limit=task.time_limit,
            seed=task.seed,
        ).starting_from(start)
        begin = problem.feasible_dag("learn")
        if not begin.arcs:
            return empty, counts
        fitted = self._fitted(begin)
        return fitted, self._expected(fitted)

    def _fitted(self, dag: Dag) -> _Fitted:
        tables = tables_for(self._rows, dag)
        expect = Expectation(self._rows, tables, self._seconds_left)
        best = self._em.run(self._rows, expect)[0]
        return _Fitted(dag, tables, best.values, best.log_likelihood)

    def _continued(self, dag: Dag, counts: ExpectedCounts) -> _Fitted:
        """Go on with EM from the expected counts of a structure."""
        tables = tables_for(self._rows, dag)
        values = self._em.maximized(tables, flat_counts(tables, counts))
        expect = Expectation(self._rows, tables, self._seconds_left)
        run = self._em.run_from(values, expect, "expected counts")
        if run is None:
            raise DataError(
                "learn: a row has probability zero after a round; use a score with a prior"
            )
        return _Fitted(dag, tables, run.values, run.log_likelihood)

    def _accept(self, dag: Dag, scorer: ExpectedScorer) -> None:
        """Take a structure at the end of the time without iterations of EM."""
        tables = tables_for(self._rows, dag)
        values = self._em.maximized(tables, flat_counts(tables, scorer.expected))
        log_likelihood, _ = Expectation(self._rows, tables, self._seconds_left)(values)
        score = fitted_score(scorer, dag, values, log_likelihood)
        self._record(dag, score, None, counts=True)

    def _expected(self, fitted: _Fitted) -> ExpectedCounts:
        counts = ExpectedCounts(
            self._rows,
            fitted.tables.parents,
            fitted.values,
            max_cells=self._settings.max_cells,
            n_draws=self._settings.draws,
            seed=self._task.seed,
            clock=self._seconds_left,
        )
        self._n_drawn = max(self._n_drawn, counts.n_drawn)
        self._n_groups = max(self._n_groups, counts.n_groups)
        return counts

    def _record(self, dag: Dag, score: float, before: float | None, *, counts: bool) -> None:
        number = len(self._trace)
        move = (
            f"round {number}: {count_of(len(dag.arcs), 'arc')}" if before is not None else "start"
        )
        gain = 0.0 if before is None else score - before
        self._trace.append(Step(move, gain, score))
        if gain < 0 and is_better(score - gain, score):
            self._falls.append(gain)
        if counts and (self._best is None or is_better(score, self._best.score)):
            self._best = _Best(dag, score)
        if self._reporter is not None:
            best = None if self._best is None else self._best.score
            self._reporter.report(_PHASE, move, score=best)

    def _seconds_left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _time_limit(self) -> float | None:
        """Seconds for a search: what is left, but for a look at what it finds."""
        left = self._seconds_left()
        if math.isinf(left):
            return None
        return max(left - max(_LOOKS * self._look_seconds, _SHARE_TO_LOOK * left), 1e-3)

    def _notes(self) -> Iterator[str]:
        runs = f", {1 + self._settings.restarts} runs" if self._settings.restarts else ""
        yield (
            f"structural EM: {count_of(self._n_rounds, 'round')}{runs}{self._choice}; cells are "
            "taken to be missing at random"
        )
        if self._n_drawn:
            yield (
                f"{self._n_drawn:,} of {self._n_groups:,} groups of missing values have more than "
                f"{self._settings.max_cells:,} states together: their counts come from "
                f"{self._settings.draws:,} draws each, so that nothing is guaranteed"
            )
        elif isinstance(self._score, PenalisedLikelihood | QNML):
            yield "expected counts are exact, so that no round lowers the score"
        elif isinstance(self._score, HasPriors):
            yield (
                "expected counts are exact; a Bayesian score of them is an approximation "
                "(Friedman 1998), reported as that of Cheeseman and Stutz"
            )
        if self._falls:
            yield (
                f"the score fell in {count_of(len(self._falls), 'round')}, by up to "
                f"{-min(self._falls):.6g}; the best round is returned"
            )
        if self._n_empty:
            yield f"{count_of(self._n_empty, 'row')} without any value left out"


def _rows_that_show_something(dataset: Dataset) -> Dataset:
    empty = np.ones(dataset.n_rows, dtype=np.bool_)
    for name in dataset.names:
        empty &= dataset.missing(name)
    if empty.all():
        raise DataError("learn: no row has a value, so nothing can be learned")
    return dataset.select(rows=~empty) if empty.any() else dataset


def _for_rounds(task: Task, n_variables: int) -> tuple[Search, str]:
    """Return what searches in every round, and words for what "auto" chose."""
    if not isinstance(task.search, Auto):
        search: Any = task.search
        if isinstance(getattr(search, "start_from", None), Dag):  # the first round begins with it
            default = next(one.default for one in fields(search) if one.name == "start_from")
            search = replace(search, start_from=default)
        return search, ""
    most = n_variables - 1 if task.max_parents is None else min(task.max_parents, n_variables - 1)
    n_families = n_variables * sum(math.comb(n_variables - 1, k) for k in range(most + 1))
    if n_families <= _FEW_FAMILIES:
        return Exact(), ", each with the best structure"
    return HillClimb(), ", each by hill climbing"
