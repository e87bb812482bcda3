"""The default search: a good structure at once, then better ones, a bound, and the proof."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, TypeVar

from bestdag.errors import GraphError, require_choice, require_count, require_positive
from bestdag.graph.dag import Dag
from bestdag.registry import setting
from bestdag.scores.table import ScoreTable
from bestdag.search.bound import bound_steps
from bestdag.search.exact.components import decompose
from bestdag.search.exact.dp.all_sets import forecast_whole
from bestdag.search.exact.dp.engine import Forecast, forecast
from bestdag.search.exact.search import Exact
from bestdag.search.exact.solver import ENGINES, EngineChoice
from bestdag.search.ladder import Ladder
from bestdag.search.order.improve import Improver
from bestdag.search.order.search import OrderSearch
from bestdag.search.problem import Problem
from bestdag.search.rung import Rung
from bestdag.search.steps import (
    POINT,
    Bounded,
    Event,
    Found,
    Note,
    Phase,
    Point,
    Proved,
    SearchEnd,
    Step,
    Steps,
    follow,
    require_start,
)
from bestdag.search.ties import is_better
from bestdag.wording import count_of

__all__ = ["Auto"]

_T = TypeVar("_T")


class _Tuning(NamedTuple):
    """The constants of the schedule; shares are of the time so far unless said otherwise."""

    # A proof over all parent sets that comes within a second needs nothing before it, nor do so
    # few variables. Else it begins when this share of its forecast has gone into structures. A
    # forecast is good to a factor of two.
    at_once: float = 1.0
    few_variables: int = 8
    share_before: float = 0.25
    caution: float = 2.0
    # Of the time so far, what rungs of the proof may have taken, and while structures rise fast.
    share_for_rungs: float = 0.5
    share_while_steep: float = 0.1
    # What the bound over all families may have taken besides: it doubles with each better bound,
    # and halves with each turn that brought none.
    share_for_bound: float = 0.05
    least_share: float = 0.01
    most_share: float = 0.25
    # It is hopeless where families that are not listed may add more than this share of what the
    # best structure gains over the one without arcs.
    hopeless: float = 0.5
    # With more variables, structures are better found by rounds that bring nothing at once.
    many_variables: int = 60
    # Structures rise fast when they gain more than this share of the score within the last tenth of
    # the time, or, with many variables, within so many rounds if they took longer: some of them
    # bring nothing at once.
    steep: float = 5e-5
    recent: float = 0.1
    recent_rounds: int = 6
    # Work on bounds comes in slices of so many seconds at least, and a bound that falls by less
    # than this share of the gap is no news.
    least_slice: float = 0.2
    news: float = 0.01
    # Without a time limit: the least time without a better structure or bound that ends the search.
    least_idle: float = 2.0
    # In a file of local scores: the share of a time limit for orders, before the exact search.
    share_for_orders: float = 0.3
    # What would be shown as 0.0 s is not said.
    least_shown: float = 0.05


TUNING = _Tuning()


@dataclass(frozen=True, slots=True, kw_only=True)
class Auto:
    """Find a good structure at once, better ones while there is time, and prove the best.

    Parameters
    ----------
    budget : float, default 60.0
        Without a time limit, seconds after which the search ends at the latest.
    rounds : int, optional
        End after so many rounds of improving. Then the structure is the same on every run,
        proven or not.
    engine : {"auto", "dp", "gpu", "bnc", "frontier"}, default "auto"
        Engine of the exact search. One that is asked for by name is a wish for exact search.
    start_from : Dag, optional
        The structure to begin with, which must obey the knowledge.

    Notes
    -----
    With a time limit the time is used, unless all is proved first. Without one, the search ends
    with a proof, or when neither the score nor any gap has improved for as long as it took to get
    there, at least two seconds; at the latest after its budget.

    Structures come from GES, tabu search, rounds of search over orders and climbing (see
    `OrderSearch`). The proof comes from dynamic programming over all parent sets where its
    forecast fits into the time that is left. Otherwise it is climbed in rungs, the best structures
    with at most 1, 2, 3, ... parents per variable: sets of so many parents are listed completely,
    and an exact search among them proves an optimum or a bound (see `Rung`). When nothing is left
    to list, the rung is about all structures. A bound on all of them is worked on besides, for as
    long as that helps. How time is divided depends on the time so far and on what came of it; what
    is forecast not to end within the limit is not begun.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bic")
    >>> result.search, result.status
    ('exact', 'optimum proved')
    """

    name: ClassVar[str] = "auto"

    budget: float = setting(
        60.0, "Time to spend if there is no time limit, e.g. 30s, 5m.", is_duration=True
    )
    rounds: int | None = setting(
        None, "Stop after this number of rounds, for reproducible results."
    )
    engine: EngineChoice = setting("auto", "Engine of the exact search.")
    start_from: Dag | None = setting(None, "First structure: a network file.", load="structure")

    def __post_init__(self) -> None:
        if self.start_from is not None:
            require_start("auto", self.start_from)
        require_positive("auto", "budget", self.budget)
        if self.rounds is not None:
            require_count("auto", "rounds", self.rounds, minimum=1)
        require_choice("auto", "engine", self.engine, ENGINES)

    @property
    def seconds_without_limit(self) -> float | None:
        """How long it takes at most where nobody else says; exact search ends by itself."""
        return self.budget if self.engine == "auto" else None

    def steps(self, problem: Problem) -> Steps:
        """Search; the notes of the result say what was tried and for how long."""
        if self.engine != "auto":
            return _by_engine(self.engine, problem)
        if isinstance(problem.scores, ScoreTable):
            return _search_table(problem)
        return _Schedule(self, problem).steps()


def _by_engine(engine: EngineChoice, problem: Problem) -> Steps:
    """Search exactly by one engine, and end as it does."""
    yield Note(f"auto chose exact: the engine '{engine}' was asked for")
    outcome = yield from follow(Exact(engine=engine), problem, by="exact")
    if outcome.status not in ("local optimum", "optimum proved"):
        raise SearchEnd(outcome.status)


class _Schedule:
    """One search from data: the best so far, its bound, and what the time went into."""

    def __init__(self, settings: Auto, problem: Problem) -> None:
        self._settings = settings
        self._problem = problem
        self._improver: Improver  # once turns are taken
        self._n_rounds = 0
        self._whole: Forecast | None = None  # as long as it is to be tried
        self._seconds_for_whole: float | None = None
        self._ladder: Ladder
        self._gaps: dict[int | None, float] = {}  # of rungs, when they were news
        self._bound_is_hopeless = False
        self._score = -math.inf
        self._bound: float | None = None
        self._is_proved = self._is_over = False
        self._news_at = 0.0  # when score or bound improved last
        self._history = [(0.0, self._score)]  # seconds, and the score from then on
        self._spent = {"structures": 0.0, "proof": 0.0, "bound": 0.0}
        self._turns = 0  # of the exact search
        self._is_large = len(problem.names) > TUNING.many_variables
        self._share_for_bound = TUNING.share_for_bound
        # When the last rounds began.
        self._began = deque([0.0], maxlen=TUNING.recent_rounds if self._is_large else 1)

    def steps(self) -> Steps:
        """Prove at once, or take turns until nothing improves; however it ends, with a bound."""
        yield Note(self._words)
        self._whole = whole = self._fitting_forecast()
        is_small = len(self._problem.names) <= TUNING.few_variables
        is_at_once = is_small or (whole is not None and whole.seconds <= TUNING.at_once)
        try:
            if is_at_once:
                if self._problem.start is not None:
                    yield from self._first_structure()
                yield from self._passed(follow(Exact(), self._whole_problem(), by="exact"))
                self._turns, self._spent["proof"] = 1, self._problem.seconds
            if not self._is_proved:
                self._improver = Improver(self._problem, self._problem.feasible_dag("auto"))
                self._ladder = Ladder(self._problem)
                with closing(self._ladder):  # its searches rest in threads of their own
                    yield from self._take_turns(begins_with_bound=not is_at_once)
        except SearchEnd:
            yield from self._first_bound()
            raise
        yield from self._first_bound()

    def _first_structure(self) -> Steps:
        """Say what there is to begin with."""
        dag = self._problem.feasible_dag("auto")
        score = self._problem.scorer("auto").total(dag)
        if is_better(score, self._score):
            self._score = score
            yield Found(dag, score, by="order")

    def _take_turns(self, *, begins_with_bound: bool) -> Steps:
        yield from self._first_structure()
        self._history = [(0.0, self._score)]
        self._news_at = self._problem.seconds if self._turns else 0.0  # nothing could improve
        if begins_with_bound:
            if self._whole is None:
                yield from self._passed(self._ladder.begin(), by="exact")
            yield from self._improve()
            yield from self._first_bound()
        while not self._is_proved:
            has_done_rounds = self._n_rounds == self._settings.rounds
            if has_done_rounds and self._whole is None:
                raise SearchEnd("step limit")
            if self._is_idle() and self._whole is None:
                before = self._score
                yield from self._passed(self._improver.climb())
                if self._score == before:
                    self._is_over = True
                    return
            yield from self._turn(has_done_rounds)

    def _turn(self, has_done_rounds: bool) -> Steps:
        """Give the next turn to whatever has had less than its share."""
        seconds, whole = self._problem.seconds, self._whole
        is_over = has_done_rounds or self._is_idle()
        if whole is not None and (is_over or seconds >= TUNING.share_before * whole.seconds):
            yield from self._exact(self._whole_problem())
            self._news_at = self._problem.seconds  # nothing could improve meanwhile
        elif whole is None and self._has_time("proof", self._share_for_rungs):
            yield from self._climb_rungs(self._share_for_rungs * seconds - self._spent["proof"])
        elif whole is None and self._has_time("bound", self._share_for_bound):
            yield from self._tighten_bound(self._share_for_bound * seconds)
        else:
            yield from self._improve()

    def _has_time(self, what: str, share: float) -> bool:
        """Whether a turn of this kind fits into its share of the time so far."""
        if self._ladder.is_over if what == "proof" else self._bound_is_hopeless:
            return False
        return self._spent[what] + TUNING.least_slice <= share * self._problem.seconds

    @property
    def _share_for_rungs(self) -> float:
        return TUNING.share_while_steep if self._is_steep() else TUNING.share_for_rungs

    def _is_steep(self) -> bool:
        """Whether structures rise fast."""
        before = min((1.0 - TUNING.recent) * self._problem.seconds, self._began[0])
        place = bisect_right(self._history, before, key=lambda point: point[0])
        return self._score - self._history[place - 1][1] > TUNING.steep * abs(self._score)

    def _is_idle(self) -> bool:
        """Whether nothing has improved for as long as it took to get here."""
        if self._problem.time_limit is not None or self._ladder.is_promising:
            return False
        idle = self._problem.seconds - self._news_at
        return idle >= max(TUNING.least_idle, self._news_at)

    # Structures.

    def _improve(self) -> Steps:
        began = time.monotonic()
        self._began.append(self._problem.seconds)
        try:
            yield from self._passed(self._improver.round())
        finally:
            self._n_rounds = self._improver.n_rounds
            self._spent["structures"] += time.monotonic() - began
        yield Phase("search order", f"round {self._n_rounds:,}")
        yield POINT

    def _passed(
        self, steps: Generator[Event, None, _T], by: str = ""
    ) -> Generator[Event, None, _T]:
        """Pass on what is better than all before; returns what the steps return."""
        while True:
            try:
                event = next(steps)
            except StopIteration as end:
                value: _T = end.value
                return value
            if by and isinstance(event, Found | Proved):
                event = event._replace(by=by)
            if isinstance(event, Found):
                is_exact = event.by == "exact"
                # With rounds the answer is the same on every run, and not what a clock cut short.
                if is_exact and self._settings.rounds is not None:
                    continue
                if not is_better(event.score, self._score):
                    continue
                self._take(event.score)
                if is_exact and self._n_rounds:  # the first round begins as it does anywhere
                    self._improver.take(event.structure, event.score)
                event = event if is_exact else event._replace(by="order")
            if isinstance(event, Proved):
                self._is_proved = True
                self._take(event.score)
            elif isinstance(event, Bounded):
                self._take_bound(event)
            elif isinstance(event, Rung):
                event = self._take_rung(event)
            elif isinstance(event, Step | Point) and self._problem.out_of_time():
                yield from self._first_bound()
            yield event

    def _take(self, score: float) -> None:
        if is_better(score, self._score):
            self._score = score
            self._news_at = self._problem.seconds
            self._history.append((self._news_at, score))

    def _take_bound(self, bound: Bounded) -> bool:
        """Take the lower bound; True when it is much lower."""
        known, new = self._bound, bound.value
        if new is None:
            return False
        is_news = known is None or known - new > TUNING.news * (known - self._score)
        if is_news:
            self._news_at = self._problem.seconds
        self._bound = new if known is None else min(known, new)
        return is_news

    def _take_rung(self, rung: Rung) -> Rung:
        """Note when a rung was proved, or its gap fell; returns it with the time of its proof."""
        gap = (
            0.0 if rung.is_proved else math.inf if rung.bound is None else rung.bound - self._score
        )
        if gap < (1.0 - TUNING.news) * self._gaps.get(rung.max_parents, math.inf):
            self._news_at, self._gaps[rung.max_parents] = self._problem.seconds, gap
        return replace(rung, proved_after=self._problem.seconds) if rung.is_proved else rung

    # The proof over all parent sets.

    def _fitting_forecast(self) -> Forecast | None:
        needed = forecast_whole(self._problem)
        if needed is None or not needed.has_room:
            return None
        self._seconds_for_whole = needed.seconds
        return needed if TUNING.caution * needed.seconds <= self._problem.seconds_left else None

    def _whole_problem(self) -> Problem:
        """Return the time for the proof; one that takes much longer leaves some for structures."""
        whole, self._whole = self._whole, None
        left = self._problem.seconds_left
        seconds = left if whole is None else max(TUNING.caution * whole.seconds, 0.5 * left)
        return self._problem.within(seconds)

    def _exact(self, problem: Problem) -> Steps:
        """Give the exact search a turn."""
        began = time.monotonic()
        try:
            yield from self._passed(follow(Exact(), problem, by="exact"))
        finally:
            self._spent["proof"] += time.monotonic() - began
            self._turns += 1

    # Rungs of the proof, and the bound over all families.

    def _climb_rungs(self, seconds: float) -> Steps:
        """Give the ladder a turn."""
        began = time.monotonic()
        try:
            yield from self._passed(self._ladder.run(seconds, self._improver.best), by="exact")
        finally:
            self._spent["proof"] += time.monotonic() - began
            self._turns += 1

    def _first_bound(self) -> Steps:
        """Bound by what costs next to nothing."""
        if self._bound is not None or self._is_proved:
            return
        began = time.monotonic()
        yield from self._bounded(bound_steps(self._problem, deadline=began, incumbent=self._score))
        self._spent["bound"] += time.monotonic() - began

    def _tighten_bound(self, seconds: float) -> Steps:
        """Bound by linear programs over what is listed, unless that is hopeless."""
        began, problem = time.monotonic(), self._problem
        yield Phase("bounding the best score")
        table = self._ladder.table
        self._bound_is_hopeless = table is None or self._is_hopeless(table)
        if not self._bound_is_hopeless:
            until = began + min(seconds, problem.seconds_left)
            is_news = yield from self._bounded(
                bound_steps(problem, table, deadline=until, incumbent=self._score)
            )
            share = self._share_for_bound * (2.0 if is_news else 0.5)
            self._share_for_bound = min(max(share, TUNING.least_share), TUNING.most_share)
        self._spent["bound"] += time.monotonic() - began
        yield POINT

    def _is_hopeless(self, table: ScoreTable) -> bool:
        """Whether what is not listed may add too much for any bound to be of use."""
        if table.complete or not table.is_bounded:
            return True  # then rungs do it, or nothing can
        more = 0.0
        for i in range(table.n_variables):
            open_sets = table.open_sets(i)
            assert open_sets is not None
            if len(open_sets):
                more += max(0.0, float(open_sets.scores[0] - table.child(i).scores[0]))
        empty = self._problem.scores.total(Dag(self._problem.names))
        return more > TUNING.hopeless * (self._score - empty)

    def _bounded(self, steps: Generator[Bounded, None, Bounded]) -> Generator[Event, None, bool]:
        """Pass on bounds; returns whether the last is much lower than what was known before."""
        return self._take_bound((yield from steps))

    # What it says of itself.

    def _words(self) -> str:
        """Say what the time went into, and how to get a proof."""
        n_rounds, spent = self._n_rounds, self._spent
        parts = []
        if n_rounds and spent["structures"] >= TUNING.least_shown:
            rounds = count_of(n_rounds, "round")
            parts.append(f"improved a structure for {spent['structures']:.1f} s ({rounds})")
        if spent["proof"] >= TUNING.least_shown:
            parts.append(f"worked on a proof for {spent['proof']:.1f} s")
        if spent["bound"] >= TUNING.least_shown:
            parts.append(f"worked on a bound for {spent['bound']:.1f} s")
        if self._is_proved and not n_rounds:
            return ""  # at once: its seconds say as much
        text = f"auto {', '.join(parts) or 'had no time'}"
        if self._is_over:
            text += "; stopped after no further improvement"
        if self._is_proved or self._seconds_for_whole is None:
            return text
        seconds = _time_for_proof(self._seconds_for_whole, self._problem.seconds)
        return f"{text}; a time limit of {seconds} s would give a proof"


def _time_for_proof(forecast_seconds: float, seconds: float) -> int:
    """Return a time limit that people would give, and no less than what has been too little."""
    seconds = 2.0 * max(forecast_seconds + 1.0, seconds)
    for step in (10, 30, 60, 120, 300, 600, 1200, 3600):
        if seconds <= step:
            return step
    return math.ceil(seconds / 3600) * 3600


def _search_table(problem: Problem) -> Steps:
    """Search among the sets of a score file: orders first, unless the proof takes no time."""
    largest = max(decompose(problem.table()), key=lambda part: len(part.variables))
    n, n_sets = len(largest.variables), largest.table.n_sets
    together = f"{n if n > 1 else 'no'} variables depend on each other"
    yield Note(f"auto chose exact: {together}, with {n_sets:,} parent sets")
    has_paths = problem.nodes.required_edges or problem.nodes.has_ancestral
    seconds = math.inf
    if not has_paths:
        seconds = forecast(n, n_sets=n_sets, threads=problem.threads).seconds
    first = None
    if seconds > TUNING.at_once:
        limit = problem.time_limit
        share = math.inf if limit is None else TUNING.share_for_orders * limit
        with suppress(GraphError):  # what it does not find, exact search may
            first = yield from follow(OrderSearch(), problem.within(share), by="order")
    outcome = yield from follow(Exact(), problem, by="exact")
    if outcome.proof is None:
        if first is not None:
            yield Note("the exact search ended without a proof; order was searched too")
        raise SearchEnd(outcome.status)
