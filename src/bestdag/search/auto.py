"""The default search: a good structure at once, then better ones, a bound, and the proof."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from bestdag.errors import require_choice, require_count, require_positive
from bestdag.registry import setting
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.table import ScoreTable
from bestdag.search.auto_notes import advice, ending, what_was_done
from bestdag.search.auto_table import AT_ONCE, BOUND, search_table
from bestdag.search.bound import Bound, upper_bound
from bestdag.search.exact.dp.all_sets import forecast_whole
from bestdag.search.exact.dp.engine import Forecast
from bestdag.search.exact.search import Exact
from bestdag.search.order.improve import Improver, Structure
from bestdag.search.problem import Problem, SearchEnd
from bestdag.search.result import SearchResult, Status
from bestdag.search.ties import is_better

__all__ = ["Auto"]

Turn = Literal["whole", "listed"]

# Of the time so far, what proofs may have taken when all parent sets are listed, so that a proof is
# a matter of time.
_SHARE_FOR_PROOF = 0.5
# Before that, with few variables, what lists of parent sets and bounds may have taken, and of it
# the lists: a full list is likely, and then a proof is.
_SHARE_FOR_LISTS, _LISTS_ALONE = 0.3, 0.8
# With many variables, and once no more is listed, what bounds may have taken: it doubles with each
# better bound, and halves with each turn that brought none.
_SHARE_FOR_BOUND, _MANY_VARIABLES = 0.05, 60
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.25
# But nothing after the first bound while structures still rise by more than this share of the score
# within the last tenth of the time, or, with many variables, within so many rounds if they took
# longer: some of them bring nothing at once.
_STEEP, _RECENT, _RECENT_ROUNDS = 5e-5, 0.1, 6
# A proof over all parent sets begins when this share of its forecast has gone into structures.
_SHARE_BEFORE_WHOLE = 0.25
# A forecast is good to a factor of two.
_CAUTION = 2.0
# What comes within a second needs nothing before it, nor do so few variables.
_FEW_VARIABLES = 8
_LEAST_SLICE = 0.2
# Without a time limit: the least time without a better structure or bound that ends the search.
_LEAST_IDLE = 2.0
# A bound that falls by less than this share of the gap is no news.
_NEWS = 0.01


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
    engine : {"auto", "dp", "bnc"}, default "auto"
        Engine of the exact search. One that is asked for by name is a wish for exact search.

    Notes
    -----
    With a time limit the time is used, unless a proof comes first. Without one, the search ends
    with a proof, or when neither the score nor the bound has improved for as long as it took to
    get there, at least two seconds; at the latest after its budget.

    Structures come from GES, tabu search, rounds of search over orders and climbing (see
    `OrderSearch`). The proof comes from dynamic programming over all parent sets where its
    forecast fits into the time that is left. Otherwise parent sets are listed meanwhile, with at
    most 60 variables for about two fifths of the time; once all that a best structure may need are
    there, an exact search among them gets turns, each as long as everything before it. Until then
    their bounds give a bound on the best score, a linear program tightens it, for as long as that
    helps. How time is divided depends on the time so far and on what came of it, never on the
    limit: a longer limit does not give a worse structure.

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
    engine: Literal["auto", "dp", "gpu", "bnc"] = setting("auto", "Engine of the exact search.")

    def __post_init__(self) -> None:
        require_positive("auto", "budget", self.budget)
        if self.rounds is not None:
            require_count("auto", "rounds", self.rounds, minimum=1)
        require_choice("auto", "engine", self.engine, ("auto", "dp", "gpu", "bnc"))

    def run(self, problem: Problem) -> SearchResult:
        """Search; the notes of the result say what was tried and for how long."""
        if self.engine != "auto":
            found = Exact(engine=self.engine).run(problem)
            note = f"auto chose exact: the engine '{self.engine}' was asked for"
            return replace(found, notes=(note, *found.notes))
        if isinstance(problem.scores, ScoreTable):
            return search_table(self, problem)
        return _Run(self, problem).result()


class _Run:
    """One search from data: the best so far, its bound, and what the time went into."""

    def __init__(self, settings: Auto, problem: Problem) -> None:
        self._settings = settings
        self._given = problem
        self._has_limit = problem.deadline is not None
        before = problem.checkpoint.seconds_before  # of a run that goes on
        left = math.inf if self._has_limit else settings.budget - problem.seconds - before
        self._problem = problem.within(left)
        self._problem.started -= before
        if problem.reporter is not None:
            problem.reporter.until(self._problem.deadline)
        self._improver = Improver(self._problem, problem.feasible_dag("auto"))
        self._whole: Forecast | None = None  # as long as it is to be tried
        self._seconds_for_whole: float | None = None
        self._listing: ParentSetListing | None = None
        self._table: ScoreTable | None = None  # once all sets are listed
        self._best = self._improver.best
        self._found_by = "order"
        self._bound = Bound(value=None, how="there was no time for one")
        self._proved: SearchResult | None = None
        self._news_at = 0.0  # when score or bound improved last
        self._history = [(0.0, self._best.score)]  # seconds, and the score from then on
        self._spent = {"structures": 0.0, "proof": 0.0}
        self._turns = 0  # of the exact search
        self._turn: Turn | None = None  # whose it is, where that may take long
        self._is_large = len(problem.names) > _MANY_VARIABLES
        self._share_for_bound = _SHARE_FOR_BOUND
        # When the last rounds began.
        self._began = deque([0.0], maxlen=_RECENT_ROUNDS if self._is_large else 1)

    def result(self) -> SearchResult:
        """Search until the end."""
        status = self._problem.until_stopped(self._search)
        self._take_structure()
        if self._proved is None and self._bound.value is None and status != "interrupted":
            self._first_bound()
        if self._proved is not None:
            found = self._proved  # at once, its own seconds say as much as a note
            said = (self._what_was_done,) if self._improver.n_rounds else ()
            return replace(found, seconds=self._given.seconds, notes=(*said, *found.notes))
        return self._unproved(status)

    def _search(self) -> Status:
        self._begin()
        return self._turn_by_turn()

    def _begin(self) -> None:
        """Prove at once, or find a first structure and a first bound."""
        self._whole = self._fitting_forecast()
        if len(self._problem.names) <= _FEW_VARIABLES:
            self._prove_by_whole()
        elif self._whole is None or self._whole.seconds > AT_ONCE:
            self._improve()
            self._first_bound()
        else:
            self._prove_by_whole()

    def _go_on(self) -> None:
        """Go on with the turn in which the run was kept."""
        if self._turn == "whole":
            self._prove_by_whole()
        elif self._turn == "listed":
            self._prove_by_lists()
        elif self._improver.n_rounds == 0:
            self._improve()
            self._first_bound()

    def _turn_by_turn(self) -> Status:
        while self._proved is None:
            self._problem.keep()
            self._problem.check_time()
            if self._improver.n_rounds == self._settings.rounds and self._whole is None:
                return "step limit"
            if self._is_idle() and self._whole is None and not self._improver.climb():
                return "local optimum"
            self._step()
        return "optimum proved"

    def _step(self) -> None:
        """Give the next turn to whatever has had less than its share."""
        seconds = self._problem.seconds
        whole = self._whole
        if whole is not None and (
            seconds >= _SHARE_BEFORE_WHOLE * whole.seconds
            or self._is_idle()
            or self._improver.n_rounds == self._settings.rounds
        ):
            self._prove_by_whole()
        elif whole is None and self._spent["proof"] + _LEAST_SLICE <= self._share() * seconds:
            self._work_on_proof(self._share() * seconds)
        else:
            self._improve()

    def _share(self) -> float:
        if self._table is not None:
            return _SHARE_FOR_PROOF
        if self._is_steep():
            return 0.0
        return _SHARE_FOR_LISTS if self._may_list_all else self._share_for_bound

    @property
    def _may_list_all(self) -> bool:
        """Whether a list of all parent sets that a best structure may need is likely."""
        return not self._is_large and (self._listing is None or not self._listing.is_over)

    def _is_steep(self) -> bool:
        """Whether structures rise fast."""
        before = min((1.0 - _RECENT) * self._problem.seconds, self._began[0])
        place = bisect_right(self._history, before, key=lambda point: point[0])
        return self._best.score - self._history[place - 1][1] > _STEEP * abs(self._best.score)

    def _is_idle(self) -> bool:
        """Whether nothing has improved for as long as it took to get here."""
        if self._has_limit:
            return False
        idle = self._problem.seconds - self._news_at
        return idle >= max(_LEAST_IDLE, self._news_at)

    def _improve(self) -> None:
        began = time.monotonic()
        self._began.append(self._problem.seconds)
        try:
            self._improver.round()
        finally:
            self._spent["structures"] += time.monotonic() - began
            self._take_structure()
        if self._improver.is_late:
            raise SearchEnd("time limit")
        self._tell("search order", f"round {self._improver.n_rounds:,}")

    def _take_structure(self) -> None:
        self._take(self._improver.best, "order")

    def _take(self, found: Structure, by: str) -> None:
        if is_better(found.score, self._best.score):
            self._best, self._found_by = found, by
            self._news_at = self._problem.seconds
            self._history.append((self._news_at, found.score))

    def _tell(self, phase: str, detail: str = "") -> None:
        self._problem.tell(phase, detail, score=self._best.score, bound=self._bound.value)

    # The proof over all parent sets.

    def _fitting_forecast(self) -> Forecast | None:
        needed = forecast_whole(self._problem)
        if needed is None or not needed.has_room:
            return None
        self._seconds_for_whole = needed.seconds
        return needed if _CAUTION * needed.seconds <= self._problem.seconds_left else None

    def _prove_by_whole(self) -> None:
        """Prove; a proof that takes much longer than its forecast leaves time for structures."""
        whole, self._whole = self._whole, None
        left = self._problem.seconds_left
        seconds = left if whole is None else max(_CAUTION * whole.seconds, 0.5 * left)
        self._exact(self._problem.within(seconds), "whole")
        self._news_at = self._problem.seconds  # nothing could improve meanwhile

    def _prove_by_lists(self) -> None:
        """Search among the listed sets for as long as everything before it took."""
        problem = self._problem.within(max(AT_ONCE, self._problem.seconds))
        self._exact(problem, "listed")
        if problem.has_table:  # which it may have found in a file
            self._take_table(problem.table())

    def _take_table(self, table: ScoreTable) -> None:
        self._table = table
        self._problem.keep_table(table)

    def _exact(self, problem: Problem, turn: Turn) -> None:
        """Give the exact search a turn, and take what it found."""
        began = time.monotonic()
        self._turn = turn
        found = Exact().run(problem)
        self._turn = None
        self._spent["proof"] += time.monotonic() - began
        self._turns += 1
        if found.is_proved:
            self._proved = found
            self._take(Structure(found.dag, found.score), "exact")
        elif self._settings.rounds is None:  # what a clock cut short depends on the clock
            self._take(Structure(found.dag, found.score), "exact")
        if found.bound is not None:
            how = next((n for n in found.notes if n.startswith(BOUND)), f"{BOUND}exact search")
            self._take_bound(
                Bound(value=found.bound + found.resolution, how=how.removeprefix(BOUND))
            )
        if found.status == "interrupted":
            raise KeyboardInterrupt

    # Bounds, and the proof among listed sets.

    def _first_bound(self) -> None:
        """Bound by what costs next to nothing."""
        began = time.monotonic()
        self._take_bound(upper_bound(self._problem, deadline=began, incumbent=self._best.score))
        self._spent["proof"] += time.monotonic() - began

    def _work_on_proof(self, seconds: float) -> None:
        """List parent sets and tighten the bound, or search among them all."""
        problem = self._problem
        nodes = problem.nodes
        if self._table is not None or nodes.required_edges or nodes.has_ancestral:
            self._prove_by_lists()
            return
        began = time.monotonic()
        self._tell("bounding the best score")
        try:
            self._list_and_bound(began, seconds)
        finally:
            self._spent["proof"] += time.monotonic() - began

    def _list_and_bound(self, began: float, seconds: float) -> None:
        problem = self._problem
        if self._listing is None:
            self._listing = ParentSetListing(problem.scorer("auto"), problem.nodes)
        share = _LISTS_ALONE if self._may_list_all else 0.5
        self._listing.run(min(share * seconds, problem.seconds_left))
        if problem.out_of_time():
            return
        table = self._listing.table(finish=self._listing.is_over)
        if table.complete:
            self._take_table(table)
            return
        until = min(began + seconds, time.monotonic() + problem.seconds_left)
        is_news = self._take_bound(
            upper_bound(problem, table, deadline=until, incumbent=self._best.score)
        )
        if not self._may_list_all:
            share = self._share_for_bound * (2.0 if is_news else 0.5)
            self._share_for_bound = min(max(share, _LEAST_SHARE), _MOST_SHARE)

    def _take_bound(self, bound: Bound) -> bool:
        """Keep the lower bound; True when it is much lower."""
        known, new = self._bound.value, bound.value
        is_news = new is not None and (
            known is None or known - new > _NEWS * (known - self._best.score)
        )
        if is_news:
            self._news_at = self._problem.seconds
        if known is None or (new is not None and new < known):
            self._bound = bound
        if bound.is_interrupted:
            raise KeyboardInterrupt
        return is_news

    # The answer.

    def _unproved(self, status: Status) -> SearchResult:
        best, bound = self._best, self._bound
        why = BOUND if bound.value is not None else "no bound on the best score: "
        trace = self._improver.trace if self._found_by == "order" else []
        budget = None if self._has_limit else self._settings.budget
        how_to_prove = advice(self._given, self._seconds_for_whole)
        result = self._given.result(
            self._settings,
            best.dag,
            best.score,
            status,
            bound=None if bound.value is None else max(bound.value, best.score),
            trace=tuple(trace),
            notes=(
                f"{self._what_was_done}{ending(status, budget)}{how_to_prove}",
                f"{why}{bound.how}",
            ),
        )
        return replace(result, search=self._found_by)

    @property
    def _what_was_done(self) -> str:
        return what_was_done(self._improver.n_rounds, self._turns, self._spent)
