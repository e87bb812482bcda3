"""The ladder: best structures with at most 1, 2, 3, ... parents per variable, proved from below.

Rung k is the best structure in which every variable has at most k parents. Rung 1 is a maximum
branching (Edmonds 1967), exact at any size. For the next ones the candidate sets of at most k
parents are listed completely, and an exact search among them gives an optimum or a bound; lists of
rung k are those of rung k - 1 and more. Once nothing is left to list, the rung is about all
structures that the limits admit, and its proof is the proof of the whole. A low rung is proved in
seconds where all sets could not even be listed, and says something that helps: no structure with at
most k parents scores more than this one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from bestdag.errors import GraphError
from bestdag.machine import memory_left
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.prior import ArcPrior
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.search import Exact
from bestdag.search.exact.statements.search import NoStructureError
from bestdag.search.order.improve import Structure
from bestdag.search.problem import Problem
from bestdag.search.rung import Rung
from bestdag.search.steps import (
    POINT,
    Bounded,
    Event,
    Found,
    Kept,
    Outcome,
    Phase,
    Proved,
    SearchEnd,
    Steps,
    follow,
)
from bestdag.search.ties import tie_width
from bestdag.search.trees import ChowLiu
from bestdag.wording import count_of

__all__ = ["Ladder"]


class _Tuning(NamedTuple):
    """The constants of the ladder."""

    # Lists whose forecast is longer than this share of the time that is left are not begun. A
    # forecast is good to a factor of two.
    share_for_lists: float = 0.5
    # They say nothing of what pruning saves: the next rung is likely to take no larger share of its
    # forecast than so many times that of the last one, if that was not over at once.
    caution: float = 4.0
    at_once: float = 0.01
    # After each rung, what is tried to list all sets there are: seconds, and a share of what lists
    # have taken. Few sets may be left, and then the whole may be proved at once.
    least_for_all: float = 0.3
    share_for_all: float = 0.5
    # A rung stalls when its gap has not fallen by this share within so much of the time that it has
    # had, and no less than so many seconds: then the next one is tried, and the rungs that are left
    # get turns.
    news: float = 0.02
    stalls_after: float = 0.5
    least_seconds: float = 2.0
    # Rungs that are left unproved; with so many of them no higher one is begun.
    most_open: int = 2


TUNING = _Tuning()


@dataclass(slots=True)
class _Work:
    """An exact search for one rung, and what it has come to."""

    max_parents: int | None
    steps: Steps
    n_sets: int
    outcome: Outcome = field(default_factory=Outcome)
    seconds: float = 0.0
    news_at: float = 0.0  # of `seconds`, when the gap fell last
    gap: float = math.inf  # at that time
    is_over: bool = False

    def take(self, event: Event) -> None:
        """Take an event into account, and note when the gap has fallen."""
        self.outcome.take(event)
        best, bound = self.outcome.best, self.outcome.bound
        if best is None or bound is None or bound.value is None:
            return
        gap = bound.value - best.score
        if gap < (1.0 - TUNING.news) * self.gap:
            self.gap, self.news_at = gap, self.seconds

    @property
    def is_stalled(self) -> bool:
        """Whether there has been no news for long."""
        idle = max(TUNING.least_seconds, TUNING.stalls_after * self.seconds)
        return self.seconds - self.news_at >= idle

    def rung(self) -> Rung:
        """Return what is known."""
        best, bound, proof = self.outcome.best, self.outcome.bound, self.outcome.proof
        value = None if bound is None else bound.value
        if best is not None and value is not None:
            value = max(value, best.score)
        rung = Rung(
            max_parents=self.max_parents,
            score=None if best is None else best.score,
            bound=value,
            seconds=self.seconds,
            n_sets=self.n_sets,
            engine=None if best is None else best.engine,
            resolution=0.0 if bound is None else bound.resolution,
        )
        if proof is None:
            return rung
        return replace(
            rung,
            bound=proof.score,
            is_proved=True,
            engine=proof.engine,
            resolution=proof.resolution,
            certificates=proof.certificates,
        )


class Ladder:
    """Climbs from rung to rung, in turns.

    Parameters
    ----------
    problem : Problem
        From data. Its own limit of parents is the top rung.

    Attributes
    ----------
    is_over : bool
        Whether nothing is left that may end in time: the top is proved, or every rung that was
        begun is, and no further lists fit.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        nodes = problem.nodes
        self._top = int(min(nodes.max_parents.max(initial=0), len(problem.names) - 1))
        required = (len(nodes.required_parents(i)) for i in range(len(problem.names)))
        self._next = max([1, *required])  # the rung to list next
        self._lists = _Lists(problem, self._top)
        self._work: _Work | None = None
        self._open: list[_Work] = []  # stalled, or left for another
        self._proved = 0
        self._is_all_listed = False
        self._seconds_for_lists = 0.0  # since the last rung
        self._incumbent: Structure | None = None
        self.is_over = False

    @property
    def table(self) -> ScoreTable | None:
        """What is listed of all sets there are, with open sets for the rest."""
        return self._lists.table(None) if self._is_all_listed else self._lists.so_far

    @property
    def is_promising(self) -> bool:
        """Whether lists that may end in time are under way, or a proof that has not stalled."""
        if self._work is not None:
            return not self._work.is_stalled
        return not self.is_over and not self._open

    def begin(self) -> Steps:
        """Prove what takes no time: rung 1."""
        if self._next == 1 and self._has_branchings():
            yield from self._branch()

    def run(self, seconds: float, incumbent: Structure | None = None) -> Steps:
        """Work for so long, or until nothing is left to do.

        Exact searches below the top begin with the `incumbent`, the best structure so far. A rung
        whose bound is no more than its score is left: nothing of it is better than what is known,
        and the next rung is worth more than its best structure.
        """
        end = time.monotonic() + min(seconds, self._problem.seconds_left)
        if incumbent is not None:
            self._incumbent = incumbent
        while not self.is_over:
            if self._work is not None:
                yield from self._solve(self._work, end)
            else:
                yield from self._list(end)
            yield POINT
            if time.monotonic() >= end:
                return

    def close(self) -> None:
        """End all work."""
        for work in (*self._open, *([] if self._work is None else [self._work])):
            work.steps.close()

    # Rung 1.

    def _has_branchings(self) -> bool:
        """Whether the best structure of rung 1 is a maximum branching."""
        nodes, prior = self._problem.nodes, self._problem.scores.structure_prior
        is_sum = prior is None or isinstance(prior, ArcPrior)
        return is_sum and not nodes.has_ancestral and self._top > 1

    def _branch(self) -> Steps:
        """Find the best structure in which no variable has more than one parent, by Edmonds."""
        began, problem = time.monotonic(), self._problem.with_at_most(1)
        n = len(problem.names)
        self._next = 2
        with suppress(GraphError):  # one that a statement about paths rules out
            outcome = yield from _phases(follow(ChowLiu(forest=True), problem), "at most 1 parent")
            if outcome.best is not None and outcome.status == "local optimum":
                score = outcome.best.score
                self._proved = 1
                yield Rung(
                    max_parents=1,
                    score=score,
                    bound=score,
                    is_proved=True,
                    seconds=time.monotonic() - began,
                    n_sets=n * n,
                    engine="edmonds",
                    resolution=n * tie_width(score),
                )

    # Lists.

    def _list(self, end: float) -> Steps:
        """Go on listing towards the next rung; begin it when all its sets are there."""
        most, lists = self._next, self._lists
        left = self._problem.seconds_left
        can_reach = lists.can_reach(most, TUNING.share_for_lists * left)
        if self._is_all_listed and most < self._top and len(self._open) < TUNING.most_open:
            self._next = most + 1  # the whole has stalled: the rungs below it
            self._begin(most)
            return
        if self._is_all_listed or len(self._open) >= TUNING.most_open or not can_reach:
            self._go_back()
            return
        began = time.monotonic()
        yield Phase(_phase(most), "scoring parent sets")
        is_done = lists.run(most, min(end - began, left))
        self._seconds_for_lists += time.monotonic() - began
        if is_done:
            self._is_all_listed = lists.is_complete
            self._next = most if lists.is_complete else most + 1
            self._begin(None if lists.is_complete else most)

    def _begin(self, most: int | None) -> None:
        """Begin an exact search among the sets of a rung."""
        table = self._lists.table(most)
        assert table is not None
        problem = self._problem if most is None else self._problem.with_at_most(most)
        problem.keep_table(table)
        if self._incumbent is not None and most is not None:  # a proof of all depends on no clock
            problem = problem.within(math.inf, start=self._incumbent.dag)
        work = _Work(most, Exact().steps(problem), table.n_sets, seconds=self._seconds_for_lists)
        work.news_at, self._seconds_for_lists = work.seconds, 0.0
        self._work = work

    def _go_back(self) -> None:
        """Return to a rung that was left unproved: the one that has had the least time."""
        if not self._open:
            self.is_over = True
            return
        self._work = min(self._open, key=lambda work: work.seconds)
        self._open.remove(self._work)

    # Proofs.

    def _solve(self, work: _Work, end: float) -> Steps:
        """Go on with an exact search until the turn is over."""
        yield Phase(_phase(work.max_parents), f"among {work.n_sets:,} parent sets")
        began, before = time.monotonic(), work.seconds
        try:
            while time.monotonic() < end and not self._is_settled(work):
                event = next(work.steps, None)
                work.seconds = before + time.monotonic() - began
                if event is None:
                    work.is_over = True
                    break
                work.take(event)
                is_about_all = work.max_parents is None and isinstance(event, Bounded | Proved)
                if is_about_all or isinstance(event, Found | Kept):
                    yield event
        except NoStructureError:  # no structure of this rung obeys every statement
            self._work = None
            return
        except SearchEnd:
            work.is_over = True
        except KeyboardInterrupt:
            yield work.rung()
            raise
        yield work.rung()
        if self._is_settled(work):
            work.steps.close()
            self._work, self._proved = None, max(self._proved, work.max_parents or self._top)
            self._open = [one for one in self._open if not self._is_covered(one)]
            self.is_over = work.max_parents is None
        elif work.is_over:
            self._work = None
        elif work.is_stalled:
            self._open.append(work)
            self._work = None

    def _is_settled(self, work: _Work) -> bool:
        """Whether a rung is proved, or one below the top has nothing better than what is known."""
        bound = work.outcome.bound
        if work.outcome.proof is not None or work.max_parents is None or bound is None:
            return work.outcome.proof is not None
        return self._incumbent is not None and bound.height <= self._incumbent.score

    def _is_covered(self, work: _Work) -> bool:
        """Whether a rung above it is proved, so that nothing is to be gained."""
        is_covered = work.max_parents is not None and work.max_parents <= self._proved
        if is_covered:
            work.steps.close()
        return is_covered


def _phase(most: int | None) -> str:
    if most is None:
        return "proving the best of all"
    return f"proving the best with at most {count_of(most, 'parent')}"


def _phases(steps: Generator[Event, None, Outcome], text: str) -> Generator[Event, None, Outcome]:
    """Pass on structures alone; returns what the steps return."""
    yield Phase(text)
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        if isinstance(event, Found):
            yield event


class _Lists:
    """Complete lists of the sets of at most so many parents, one rung after another.

    Where subsets may break what a set obeys (an ancestor to be, an edge in either direction), lists
    are made anew for each rung; else one listing goes on from rung to rung.
    """

    def __init__(self, problem: Problem, top: int) -> None:
        self._problem = problem
        self._top = top
        nodes = problem.nodes
        is_anew = nodes.has_ancestral or bool(nodes.required_edges)
        self._listing = None if is_anew else ParentSetListing(problem.scores, nodes)
        self._tables: dict[int | None, ScoreTable] = {}
        self._spent = self._on_rung = 0.0
        self._forecast: float | None = None  # seconds for the rung at hand, without any pruning
        self._share = 1.0  # of a forecast, what it is likely to take
        self.is_complete = False  # nothing is left to list

    def can_reach(self, most: int, seconds: float) -> bool:
        """Whether the sets of this rung are likely to be listed within so many seconds."""
        if self._listing is None:
            return True
        if self._listing.is_over and not self._listing.is_complete_at(most):
            return False  # memory was short
        needed = self._listing.forecast(most)
        if needed.seconds > TUNING.at_once and self._forecast is None:
            self._forecast = needed.seconds
        return self._share * needed.seconds <= seconds and (
            self._share * needed.n_bytes <= memory_left()
        )

    def run(self, most: int, seconds: float) -> bool:
        """Go on towards a rung; returns whether all its sets are listed, or all there are."""
        began = time.monotonic()
        try:
            return self._go_on(most, seconds)
        finally:
            self._spent += time.monotonic() - began

    def _go_on(self, most: int, seconds: float) -> bool:
        listing = self._listing
        if listing is None:
            return self._list_anew(most, seconds)
        began = time.monotonic()
        listing.run(seconds, max_parents=most)
        self._on_rung += time.monotonic() - began
        if not listing.is_complete_at(most):
            return False
        self._learn_from_forecast()
        if not listing.is_over:  # larger ones may be few
            more = max(TUNING.least_for_all, TUNING.share_for_all * self._spent)
            listing.run(min(more, self._problem.seconds_left))
        self.is_complete = listing.is_complete_at(self._top)
        if self.is_complete:
            self._tables = {None: listing.table(finish=True)}
        else:
            self._tables = {most: listing.table_at(most)}
        return True

    def _learn_from_forecast(self) -> None:
        """Compare what the lists of a rung took with their forecast, which knows of no pruning."""
        if self._forecast is not None:
            self._share = min(1.0, TUNING.caution * self._on_rung / self._forecast)
        self._forecast, self._on_rung = None, 0.0

    def _list_anew(self, most: int, seconds: float) -> bool:
        """List all sets, or those of a rung."""
        table = self._problem.table(0.5 * seconds)
        if not table.complete and most < self._top:
            table = self._problem.with_at_most(most).table(0.5 * seconds)
        elif table.complete:
            self.is_complete, most = True, self._top
        if table.complete:
            self._tables[None if self.is_complete else most] = table
        return table.complete

    def table(self, most: int | None) -> ScoreTable:
        """Return the sets of a rung."""
        if most in self._tables:
            return self._tables[most]
        assert most is not None
        return _with_at_most(self._tables[None], most)

    @property
    def so_far(self) -> ScoreTable | None:
        """What is listed, with open sets for the rest."""
        return None if self._listing is None else self._listing.table()


def _with_at_most(table: ScoreTable, most: int) -> ScoreTable:
    """Return the sets of at most so many parents: what pruning leaves of them alone."""
    children = []
    for i in range(table.n_variables):
        sets = table.child(i)
        sizes = np.diff(sets.offsets)
        few = sizes <= most
        offsets = np.concatenate([[0], np.cumsum(sizes[few])])
        members = sets.members[np.repeat(few, sizes)]
        children.append(ParentSets(sets.scores[few], offsets, members))
    return ScoreTable(table.names, children, n_scored=table.n_scored, max_parents=most)
