"""The one driver of all searches: clock, memory, Ctrl-C, progress, other workers, checkpoint."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any, NamedTuple

from bestdag.errors import GraphError
from bestdag.graph.dag import Dag
from bestdag.machine import memory_limit as limited_memory
from bestdag.machine import peak_memory
from bestdag.progress import listening
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.table import ScoreTable
from bestdag.search.problem import Problem
from bestdag.search.result import BoundSource, SearchResult, Status, Step
from bestdag.search.steps import (
    Bounded,
    Class,
    Event,
    Found,
    Kept,
    Listed,
    Note,
    Outcome,
    Phase,
    Point,
    Rung,
    Search,
    SearchEnd,
    Steps,
    can_stop,
    checked_search,
    posed,
)
from bestdag.search.structures import Structures
from bestdag.search.ties import is_better
from bestdag.wording import arg, count_of
from bestdag.workers import run_all

__all__ = ["Afterwards", "run"]

# Of a long trace these are kept: so many of the first steps and of the last ones.
_STEPS_AT_EITHER_END = 10_000
# Between two looks at what there is to say of progress.
_SECONDS_BETWEEN_TELLS = 0.05


class Best(NamedTuple):
    """The best structure, as it is in the file of a run."""

    dag: Dag
    score: float
    by: str
    engine: str | None


class Rungs(NamedTuple):
    """The rungs of a proof, as they are in the file of a run."""

    rungs: tuple[Rung, ...]


class Afterwards(NamedTuple):
    """What follows a search, whatever it came to: a bound, the structures next to the best.

    `steps` is given what is known by then.
    """

    steps: Callable[[Outcome], Steps]


def run(search: Search, problem: Problem, afterwards: Afterwards | None = None) -> SearchResult:
    """Run a search to its end, a limit or Ctrl-C, and return the best it came to.

    At each event the clock is looked at and the state is written where that is due. A run that
    goes on begins with the best structure of the parts before it as its start, with their bound,
    and with whatever the search asked to be kept.
    """
    search = checked_search(search)
    problem = posed(problem, search)
    budget = None
    if problem.deadline is None:  # a search may say how long it takes where nobody else does
        budget = getattr(search, "seconds_without_limit", None)
        if budget is not None:
            problem = problem.within(max(0.0, budget - problem.state.seconds_before))
    if problem.reporter is not None:
        problem.reporter.until(problem.deadline)
    n_before = problem.scores.passes
    with limited_memory(None) as memory, listening(problem.reporter):
        one = _Run(search, problem)
        one.begin()
        status = one.searched()
        if afterwards is not None:
            status = one.followed(afterwards, status)
        result = one.result(status)
        lacking = problem.without_support(result.dag) if result.score == -math.inf else None
        if lacking is not None:  # a search of the user's own that does not look at scores
            raise GraphError(f"search: {search.name} gives {lacking}; pass {arg('support', 0)}")
    notes = list(result.notes)
    if memory.shortages and not result.is_proved:
        notes.append(f"within {memory}: {', '.join(memory.shortages.values())}")
    if budget is not None and result.status == "time limit":
        notes.append(f"its budget of {budget:g} s was used up")
    scores = problem.scores
    changes: dict[str, Any] = {}
    if n_before is not None and scores.passes is not None:
        changes |= {"passes": scores.passes - n_before, "workers": scores.workers}
    if scores.rows_in is not None:
        changes["rows_in"] = scores.rows_in
    if scores.total_weight is not None and not scores.is_per_row:
        changes["n_rows"] = scores.total_weight
    if problem.has_data:
        changes["empty_score"] = scores.total(Dag(problem.names))
    return replace(
        result,
        notes=tuple(notes),
        limits=problem.limits,
        peak_bytes=peak_memory(),
        is_among_listed=isinstance(scores, ScoreTable),
        **changes,
    )


class _Run:
    """One run: what is known so far, and the loop that learns more."""

    def __init__(self, search: Search, problem: Problem) -> None:
        self._search = search
        self._listed: Structures | None = None
        self._problem = problem
        self._known = Outcome()
        self._notes: list[str | Callable[[], str]] = []
        self._class: Class | None = None
        self._trace = Trace()
        self._phase = Phase(f"search {search.name}")
        # A first structure usually comes at once, and is worth waiting for.
        self._next_tell = time.monotonic() + _SECONDS_BETWEEN_TELLS

    def begin(self) -> None:
        """Begin with what an earlier part of the run has found."""
        state = self._problem.state
        best, bound = state.get("best", Best), state.get("bound", Bounded)
        if best is not None:
            self._problem.go_on_from(best.dag)
            self._known.take(Found(best.dag, best.score, by=best.by, engine=best.engine))
        if bound is not None:
            self._known.take(bound)
        ladder = state.get("ladder", Rungs)
        for rung in () if ladder is None else ladder.rungs:
            self._known.take(rung)

    def _put(self) -> None:
        """Let the file have the best structure, the lowest bound and the rungs of the proof."""
        state, best, bound = self._problem.state, self._known.best, self._known.bound
        if not state.is_saved:
            return
        if best is not None:
            state.put("best", Best(best.structure, best.score, best.by, best.engine))
        if bound is not None:
            state.put("bound", bound)
        if state.is_saved and self._known.rungs:
            rungs = tuple(rung.without_certificates() for rung in self._known.ladder)
            state.put("ladder", Rungs(rungs))

    def followed(self, afterwards: Afterwards, status: Status) -> Status:
        """Run what follows the search; returns how both have ended."""
        self._known.best, self._known.status = self._best(), status
        with suppress(SearchEnd):
            try:
                self._pass(afterwards.steps(self._known), self._problem)
            except KeyboardInterrupt:
                return "interrupted"
        return self._known.status if self._known.proof is not None else status

    def searched(self) -> Status:
        """Run the steps of the search; returns why they ended."""
        problem = self._problem
        try:
            independent = getattr(self._search, "independent", None)
            if problem.executor is not None and independent is not None:
                searches = independent()
                if len(searches) > 1:
                    return self._in_parallel(searches)
            is_late = self._pass(self._search.steps(problem), problem)
            return "time limit" if is_late else self._known.status
        except SearchEnd as end:
            return end.status
        except KeyboardInterrupt:
            if self._known.best is None and not problem.has_data:
                raise  # nothing can be scored
            return "interrupted"
        finally:
            self._problem.scores = problem.scores  # the search may have admitted families

    def _pass(self, steps: Steps, problem: Problem) -> bool:
        """Take what steps say until they end, or until a limit, which is True.

        Ctrl-C that comes between two steps is raised where the steps have come to, as it is when
        it comes within one: what they have found so far, they still say.
        """
        state, has_limit = problem.state, problem.deadline is not None
        is_told, is_saved = problem.reporter is not None, state.is_saved
        pressed: KeyboardInterrupt | None = None
        try:
            while True:
                event = next(steps) if pressed is None else steps.throw(pressed)
                pressed = None
                try:
                    self._take(event)
                    if is_told:
                        self._tell()
                    if is_saved and state.is_due:
                        self._put()
                        state.keep()
                except KeyboardInterrupt as interrupt:
                    pressed = interrupt
                    continue
                may_stop = has_limit and isinstance(event, Step | Point)
                if may_stop and problem.out_of_time() and can_stop(self._known, problem):
                    return True
        except StopIteration:
            return False
        finally:
            steps.close()

    def _take(self, event: Event) -> None:
        """Take an event into account."""
        if type(event) is Step:  # first what is most frequent
            self._trace.append(event)
        elif isinstance(event, Point):
            pass
        elif isinstance(event, Phase):
            self._phase = event
            self._next_tell = 0.0
        elif isinstance(event, Found):
            best = self._known.best
            if best is None:
                self._next_tell = 0.0
            if event.move:
                gain = 0.0 if best is None else event.score - best.score
                self._trace.append(Step(event.move, gain, event.score))
            self._known.take(event)
        elif isinstance(event, Note):
            self._notes.append(event.text)
        elif isinstance(event, Class):
            self._class = event
        elif isinstance(event, Listed):
            self._listed = event.structures
        elif isinstance(event, Kept):
            self._problem.state.put(event.name, event.value)
        else:
            self._known.take(event)

    def _tell(self) -> None:
        now = time.monotonic()
        if now < self._next_tell:
            return
        self._next_tell = now + _SECONDS_BETWEEN_TELLS
        known, phase = self._known, self._phase
        detail = phase.detail
        if not detail and self._trace.n_steps:
            detail = count_of(self._trace.n_steps, "step")
        self._problem.report(
            phase.text,
            detail,
            score=None if known.best is None else known.best.score,
            bound=None if known.bound is None else known.bound.value,
            share=phase.share,
        )

    # Independent searches, each a task of the executor.

    def _in_parallel(self, searches: Sequence[Search]) -> Status:
        """Run each search elsewhere, and take the best as if they had come one after another."""
        problem = self._problem
        work = _Task(problem.scorer(self._search.name), problem.settings(), problem.start)
        results = run_all(
            work, searches, threads=None, who=self._search.name, executor=problem.executor
        )
        for result in results:
            best = self._known.best
            if best is None or is_better(result.score, best.score):
                self._known.best = Found(result.dag, result.score, by=self._search.name)
            for step in result.trace:
                self._trace.append(step)
        self._notes += results[0].notes
        ended = (one.status for one in results if one.status != "local optimum")
        return next(ended, "local optimum")

    def _best(self) -> Found:
        """Return the best structure; where the limit came before the first, one to begin with."""
        if self._known.best is not None:
            return self._known.best
        problem, name = self._problem, self._search.name
        dag = problem.feasible_dag(name)
        return Found(dag, problem.scorer(name).total(dag))

    def result(self, status: Status) -> SearchResult:
        """Say what came of it, to the file of the run too."""
        self._put()
        known, problem, search = self._known, self._problem, self._search
        best, bound, proof = self._best(), known.bound, known.proof
        value = None if bound is None or bound.value is None else max(bound.value, best.score)
        source = None if bound is None else bound.source
        resolution = 0.0 if value is None or bound is None else bound.resolution
        if proof is not None:
            status, value, resolution = "optimum proved", proof.score, proof.resolution
            source = BoundSource(kind="proof")
        notes = (note() if callable(note) else note for note in self._notes)
        words = () if self._class is None else (self._class.words,)
        return SearchResult(
            dag=best.structure,
            score=best.score,
            bound=value,
            bound_source=source,
            resolution=resolution,
            status=status,
            search=best.by or search.name,
            engine=best.engine,
            seconds=problem.seconds,
            settings=asdict(search) if is_dataclass(search) else {},
            certificates=() if proof is None else proof.certificates,
            trace=self._trace.steps(),
            notes=(*words, *dict.fromkeys(filter(None, notes))),
            among=None if self._class is None else self._class.among,
            structures=self._listed,
            weights=None if self._class is None else self._class.weights,
            ladder=known.ladder,
        )


@dataclass(frozen=True, slots=True)
class _Task:
    """Runs a search elsewhere, with all that the problem has."""

    scorer: LocalScores
    settings: Mapping[str, Any]
    start: Dag | None

    def __call__(self, search: Search, threads: int) -> SearchResult:
        problem = Problem(self.scorer, workers=threads, **self.settings)
        return run(search, problem.starting_from(self.start))


class Trace:
    """The first and the last steps of a run; what came between is one step."""

    def __init__(self) -> None:
        self._first: list[Step] = []
        self._last: deque[Step] = deque()
        self._left_out = Step("", 0.0, 0.0)
        self.n_steps = 0

    def append(self, step: Step) -> None:
        """Add a step."""
        self.n_steps += 1
        if len(self._first) < _STEPS_AT_EITHER_END:
            self._first.append(step)
            return
        self._last.append(step)
        if len(self._last) > _STEPS_AT_EITHER_END:
            _, gain, score = self._last.popleft()
            self._left_out = Step("", self._left_out.gain + gain, score)

    def steps(self) -> tuple[Step, ...]:
        """Return the steps."""
        n_left_out = self.n_steps - len(self._first) - len(self._last)
        between: tuple[Step, ...] = ()
        if n_left_out:
            between = (self._left_out._replace(move=f"{n_left_out:,} steps that are not kept"),)
        return (*self._first, *between, *self._last)
