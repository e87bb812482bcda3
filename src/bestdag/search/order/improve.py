"""Improving a structure, round by round, for as long as there is time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from bestdag import _core
from bestdag.graph.dag import Dag
from bestdag.machine import memory_left, thread_count
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.climbing.ascent import ascend
from bestdag.search.climbing.run import finish, walk_for
from bestdag.search.ges.search import GES
from bestdag.search.ges.walk import Walk as ClassWalk
from bestdag.search.hill_climb import HillClimb
from bestdag.search.order import kept
from bestdag.search.order.candidates import Candidates, Limits, with_set
from bestdag.search.order.crew import crew_bytes, new_crew, prior_sums
from bestdag.search.order.kept import parents_of
from bestdag.search.order.orders import Orders, chains_among_sets
from bestdag.search.order.path_limits import narrowed, precedences
from bestdag.search.order.reinsertion_turns import ReinsertionTurns
from bestdag.search.problem import Problem, SearchEnd
from bestdag.search.result import SearchResult, Step
from bestdag.search.tabu import Tabu
from bestdag.search.ties import is_better

__all__ = ["Improver", "Structure"]

# Work of one round, in nanoseconds by our count: a fraction of a second.
_MOST_WORK, _WORK_PER_VARIABLE = 3e8, 1e6
# Rounds of the search among listed sets in one turn, and how often it has one: every so many
# rounds, fewer after so many turns without success.
_ROUNDS, _ROUNDS_PER_VARIABLE = 1000, 5
_TURN_EVERY, _TURN_SELDOM, _MANY_FAILURES = 2, 8, 3
# Of a small set that is listed, here and in native code; and of the memory there is, for them all.
_BYTES_PER_SET, _SHARE_FOR_SETS = 60, 0.2
# To set up the search over orders, for each pair of variables.
_SECONDS_PER_PAIR = 1e-7
# One round in so many lists small parent sets, until they are listed: where large families are
# common, few of these sets will be of use.
_LIST_EVERY, _LIST_SELDOM = 2, 4
_LARGE, _COMMON = 3, 0.3
# Where there are more sets, they are first listed for the most promising parents.
_MANY_SETS = 2_000_000
# Where classes grow denser than this, steps of GES take longer and longer.
_STEPS_PER_VARIABLE = 6
# With more variables tabu search takes too long for one round. Then variables are reinserted in
# turns, and GES takes so many steps in one of three rounds until it ends.
_MANY_FOR_TABU = 200
_GES_STEPS, _TURN_OF = 200, 3


class Structure(NamedTuple):
    """A structure and its score."""

    dag: Dag
    score: float


class Improver:
    """Raises the score of a structure by rounds of work.

    What a round does depends on the rounds before it, never on a clock: the same number of rounds
    gives the same structure, for any number of threads. At the problem's deadline a round ends
    early and leaves what was found by then.

    The first round is GES, where the score allows it and is native, and tabu search. With more than
    200 variables it is climbing by single arcs; then variables of the best structure are cut loose
    and reinserted (see `HillClimb`) for as long as that gains much, and later in turns, as GES is
    until it ends. The other rounds search over orders of the variables: in an order each variable
    has parents among those before it that grew and shrank one by one, without a limit on their
    number, or the best of the small sets that are listed meanwhile; variables are moved to their
    best places, disturbed, and moved again.

    Parameters
    ----------
    problem : Problem
        With data; a file of local scores is refused.
    start : Dag
        The structure to begin with; it obeys the problem's knowledge.
    max_sets : int, default 10,000,000
        About so many small parent sets are listed, fewer where memory is short.
    chains : int, default 4
        Searchers that work from the same structure; threads share them.

    Attributes
    ----------
    best : Structure
        The best structure so far, with its score.
    n_rounds : int
        Rounds done.
    n_idle : int
        Of these, the last ones, which brought nothing.
    trace : list of Step
        What raised the score.
    is_late : bool
        Whether there is too little time left to begin searching over orders.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.examples import example
    >>> from bestdag.scores.scorer import Scorer
    >>> problem = Problem(Scorer(read(example("asia.csv")), "bic"))
    >>> improver = Improver(problem, Dag(problem.names))
    >>> improver.round(), improver.n_rounds
    (True, 1)
    """

    def __init__(
        self, problem: Problem, start: Dag, *, max_sets: int = 10_000_000, chains: int = 4
    ) -> None:
        scorer = problem.scorer("order")
        self._problem = problem
        self._scorer = scorer
        self._chains = chains
        self._max_sets = int(min(max_sets, _SHARE_FOR_SETS * memory_left() / _BYTES_PER_SET))
        self._threads = thread_count(problem.threads, who="order")
        self._numbers = {name: i for i, name in enumerate(problem.names)}
        self._prior = prior_sums(scorer)
        self._is_narrow = False  # whether limits are such that no statement can be broken
        self._crew: _core.OrderCrew | None = None
        self._base: Structure  # the best when the crew was made
        self._crew_bytes = crew_bytes()
        self._lists: list[Candidates] | None = None
        self._all_lists: list[Candidates] = []  # those that are done with, too
        self._before: Sequence[tuple[int, int]] = ()
        self._sets: dict[int, ParentSets] = {}  # listed so far
        self._orders: tuple[Dag, Orders] | None = None  # with the best when it was asked last
        self._orders_made_of: Dag  # whose families are among its sets
        self._is_inside = False  # a round
        self._n_turns = 1  # of the search over orders, the first round counted as one
        self._n_failures = 0  # turns of the search among listed sets since it found something
        self._is_climbed = False  # no single arc change raises the best
        self._classes: tuple[ClassWalk, Iterator[None]] | None = None  # as long as GES goes on
        self._reinsertion: ReinsertionTurns | None = None
        self.best = Structure(start, scorer.total(start))
        self.n_rounds = self.n_idle = 0
        self.trace: list[Step] = []
        self.is_late = False

    def state(self) -> dict[str, Any]:
        """Return where it is, between two rounds or within the first one."""
        return kept.state_of(self)

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state of an improver of the same problem."""
        kept.restore(self, state)

    @property
    def is_searched(self) -> bool:
        """Whether everything was tried at least once: what is left is chance."""
        return len(self._numbers) < 2 or (self._lists is not None and not self._lists)

    def round(self) -> bool:
        """Do one portion of work; True when the best is better than before.

        Raises
        ------
        KeyboardInterrupt
            Soon after Ctrl-C; the best so far is kept.
        """
        before = self.best.score
        self.n_rounds += 1
        self._is_inside = True
        if self.n_rounds == 1 and len(self._numbers) > 1:
            self._begin()
        else:
            with self._problem.checkpoint.paused():
                self._go_on(before)
        self._is_inside = False
        self.n_idle = 0 if self.best.score > before else self.n_idle + 1
        return self.n_idle == 0

    def _go_on(self, before: float) -> None:
        """Do the work of a round after the first."""
        if len(self._numbers) < 2:
            self.climb()
        elif self._problem.out_of_time():
            pass
        elif self._reinsertion is not None and self._reinsertion.has_turn(self.n_rounds):
            self._reinsert(self._reinsertion)
        elif self._classes is not None and self.n_rounds % _TURN_OF == 2:
            self._walk_classes(*self._classes)
        else:
            self._search_orders()
            if self._reinsertion is not None:
                self._reinsertion.take_gain_of_orders(self.best.score - before)

    def _begin(self) -> None:
        """Find a first good structure."""
        at = {"start": parents_of(self._problem, self.best.dag), "is_walked": False}
        with self._problem.checkpoint.part("first", lambda: at) as saved:
            at = at if saved is None else saved
            self._find_first(at)

    def _find_first(self, at: dict[str, Any]) -> None:
        first = self._problem.within(math.inf, start=self._problem.dag(at["start"]))
        has_ges = self._scorer.native is not None and self._scorer.is_score_equivalent
        if len(self._numbers) > _MANY_FOR_TABU:
            climb = HillClimb(reinsert=False)
            walk = walk_for(climb, first, remember=True)
            self._take(finish(climb, walk, ascend), None)
            if walk.has_begun:
                self._reinsertion = ReinsertionTurns(walk)
            if has_ges:
                classes = ClassWalk(first, self._scorer)
                self._classes = (classes, GES().steps(classes))
            return
        if has_ges and not at["is_walked"]:
            most = _STEPS_PER_VARIABLE * len(self._numbers)
            self._take(GES(max_steps=most).run(first), "ges")
            at["is_walked"] = True
        self._take(Tabu().run(first), "tabu")

    def _walk_classes(self, walk: ClassWalk, steps: Iterator[None]) -> None:
        """Let GES take some steps; when it ends, keep what it found if it is better."""
        n_taken = 0
        with suppress(SearchEnd):
            n_taken = sum(1 for _ in islice(steps, _GES_STEPS))
        if n_taken < _GES_STEPS:
            self._classes = None
            self._keep(Structure(walk.member(), walk.score), "ges")

    def _reinsert(self, turns: ReinsertionTurns) -> None:
        """Let variables be reinserted, and keep what that found if it is better."""
        before = self.best.score
        try:
            turns.run(self._parents(), before)
        finally:
            if self._is_better(turns.best_score):
                best = self._problem.dag(turns.best_parents())
                self._keep(Structure(best, turns.best_score), "reinsert")
        turns.take_gain(self.best.score - before, self.best.score)

    def climb(self) -> bool:
        """Take single arc changes until none raises the best; True when one did."""
        before = self.best.score
        if not self._is_climbed:
            with self._problem.checkpoint.paused():
                found = HillClimb(reinsert=False).run(self._from_best())
            self._take(found, None)
            self._is_climbed = found.status == "local optimum"
        return self.best.score > before

    def _from_best(self) -> Problem:
        return self._problem.within(math.inf, start=self.best.dag)

    def _take(self, found: SearchResult, move: str | None) -> None:
        """Keep what a search found if it is better, as one step with this name or as its own."""
        self._keep(Structure(found.dag, found.score), move or found.trace)
        if found.status == "interrupted":
            raise KeyboardInterrupt

    def _keep(self, found: Structure, way: str | Sequence[Step]) -> None:
        if self._is_better(found.score):
            gain = found.score - self.best.score
            self.trace.extend([Step(way, gain, found.score)] if isinstance(way, str) else way)
            self.best = found
            self._is_climbed = False
            self._go_to_best()

    def _is_better(self, score: float) -> bool:
        return is_better(score, self.best.score)

    def _search_orders(self) -> None:
        """Search over orders for a while, list some sets, or climb when that brings nothing."""
        problem = self._problem
        self._n_turns += 1
        if self._crew is None or self._lists is None:
            self.is_late = _SECONDS_PER_PAIR * len(self._numbers) ** 2 > problem.seconds_left
            if self.is_late:
                return
            self._make_crew()
            assert self._crew is not None
            assert self._lists is not None
        with self._scorer.refusals():
            if self._lists and self._n_turns % self._list_every == 0:
                self._list_sets(self._crew, self._lists)
            every = _TURN_EVERY if self._n_failures < _MANY_FAILURES else _TURN_SELDOM
            if not self._lists and self._n_turns % every == 0:
                self._search_listed()
                return
            work = min(_MOST_WORK, _WORK_PER_VARIABLE * len(self._numbers))
            improved = self._crew.improve(work, self._crew_threads, problem.seconds_left)
        if improved:
            self._consider(self._crew.parents())
        elif not problem.out_of_time():
            self.climb()

    @property
    def _list_every(self) -> int:
        n_large = sum(len(group) > _LARGE for group in self._parents())
        return _LIST_SELDOM if n_large > _COMMON * len(self._numbers) else _LIST_EVERY

    @property
    def _crew_threads(self) -> int:
        native = self._scorer.native
        is_one_pass = native is None or native.shares_passes  # which has threads of its own
        return 1 if self._prior is None or is_one_pass else self._threads

    def _list_sets(self, crew: _core.OrderCrew, lists: list[Candidates]) -> None:
        for child, sets in lists[0].list_next(self._problem.seconds_left).items():
            self._sets[child] = sets
            crew.add_sets(child, sets.scores, sets.offsets, sets.members)
        if lists[0].is_done:
            del lists[0]

    def _search_listed(self) -> None:
        """Search among the listed sets and the families of the best for a while."""
        problem, n = self._problem, len(self._numbers)
        if self._orders is None or self._orders[0] != self.best.dag:
            orders = self._new_orders(self.best.dag)
            if not orders.is_feasible:
                self._n_failures = _MANY_FAILURES
                return
            first = [self._numbers[v] for v in self.best.dag.topological_order()]
            orders.descend_from(first, problem.seconds_left)
            orders.scatter(problem.seconds_left)
            self._orders = (self.best.dag, orders)
        orders = self._orders[1]
        orders.improve(_ROUNDS + _ROUNDS_PER_VARIABLE * n, problem.seconds_left)
        before = self.best.score
        self._consider(orders.parents())
        self._n_failures += 1
        if self.best.score > before:
            self._n_failures = 0
            self._orders = (self.best.dag, orders)
            self._go_to_best()

    def _new_orders(self, dag: Dag) -> Orders:
        """Set up the search among the listed sets and the families of a structure."""
        names = self._problem.names
        scores = self._scorer.by_child(dag)
        children = [
            with_set(self._sets[v], scores[names[v]], group)
            for v, group in enumerate(parents_of(self._problem, dag))
        ]
        chains = chains_among_sets(self._chains, len(names))
        table = ScoreTable(names, children, complete=False)
        self._orders_made_of = dag
        seed = self._problem.seed + self.n_rounds
        return Orders(table, self._before, seed, chains, self._threads)

    def _go_to_best(self) -> None:
        """Let the crew go on from the best structure."""
        if self._crew is None:
            return
        if self._is_narrow or not self._crew.begin(self._parents()):
            self._crew = None  # the limits depend on the best, or have to

    def _parents(self) -> list[list[int]]:
        return parents_of(self._problem, self.best.dag)

    def _consider(self, parents: Sequence[Sequence[int]]) -> None:
        """Keep a better structure, unless it violates a constraint: then narrow the limits."""
        problem, nodes, dag = self._problem, self._problem.nodes, self._problem.dag(parents)
        if (nodes.required_edges or nodes.has_ancestral) and not problem.knowledge.allows(dag):
            self._is_narrow = True
            self._crew = self._orders = None
            return
        score = self._scorer.total(dag)
        if self._is_better(score):
            self.trace.append(Step("orders", score - self.best.score, score))
            self.best = Structure(dag, score)
            self._is_climbed = False

    def _make_crew(self, base: Structure | None = None) -> None:
        """Set up the native search, at the best structure, and what sets are to be listed."""
        self._base = base = self.best if base is None else base
        nodes = self._problem.nodes
        limits = Limits(nodes.allowed, nodes.required, nodes.max_parents)
        if not self._is_narrow:
            self._before = precedences(nodes)
            self._crew = self._new_crew(limits, self._before)
            self._is_narrow = not self._crew.begin(parents_of(self._problem, base.dag))
        if self._is_narrow:
            limits = narrowed(limits, nodes, base.dag)
            self._before = ()
            self._crew = self._new_crew(limits, ())
            self._crew.begin(parents_of(self._problem, base.dag))
        self._sets, self._orders = {}, None
        self._lists = [Candidates(self._scorer, limits, self._max_sets)]
        if self._lists[0].n_sets > _MANY_SETS:
            self._lists.insert(0, Candidates(self._scorer, limits, _MANY_SETS // 2))
        self._all_lists = list(self._lists)

    def _new_crew(self, limits: Limits, before: Sequence[tuple[int, int]]) -> _core.OrderCrew:
        seed, score, n_bytes = self._problem.seed, self._base.score, self._crew_bytes
        return new_crew(
            self._scorer, self._prior, limits, before, seed, self._chains, score, n_bytes
        )
