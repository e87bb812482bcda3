"""Improving a structure, round by round, for as long as there is time."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.graph.dag import Dag
from bestdag.machine import memory_left, thread_count
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.prior import SparsePrior, UniformPrior
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.climbing.ascent import Reinsertion, ascend, begun_walk
from bestdag.search.climbing.walk import Walk
from bestdag.search.feasible import Parents
from bestdag.search.ges import GES
from bestdag.search.hill_climb import HillClimb
from bestdag.search.order.families import Candidates, Limits, narrowed, precedences, with_set
from bestdag.search.order.listed import Orders, chains_among_sets
from bestdag.search.order.tuning import TUNING
from bestdag.search.problem import Problem
from bestdag.search.steps import (
    POINT,
    Event,
    Found,
    Outcome,
    Phase,
    Search,
    SearchEnd,
    Step,
    Steps,
    follow,
)
from bestdag.search.tabu import Tabu
from bestdag.search.ties import is_better, tie_width

__all__ = ["Improver", "Structure"]

# What a prior adds, by arcs and by children.
PriorSums = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


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

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.examples import example
    >>> from bestdag.scores.scorer import Scorer
    >>> problem = Problem(Scorer(read(example("asia.csv")), "bic"))
    >>> improver = Improver(problem, Dag(problem.names))
    >>> n_events = sum(1 for _ in improver.round())
    >>> improver.n_rounds, round(improver.best.score, 6)
    (1, -4488.374176)
    """

    def __init__(
        self, problem: Problem, start: Dag, *, max_sets: int = 10_000_000, chains: int = 4
    ) -> None:
        scorer = problem.scorer("order")
        self._problem = problem
        self._scorer = scorer
        self._chains = chains
        self._max_sets = int(min(max_sets, TUNING.set_share * memory_left() / TUNING.bytes_per_set))
        self._threads = thread_count(problem.threads, who="order")
        self._numbers = {name: i for i, name in enumerate(problem.names)}
        self._prior = _prior_sums(scorer)
        self._is_narrow = False  # whether limits are such that no statement can be broken
        self._searchers: _core.OrderCrew | None = None
        self._lists: list[Candidates] | None = None
        self._before: Sequence[tuple[int, int]] = ()
        self._sets: dict[int, ParentSets] = {}  # listed so far
        self._orders: tuple[Dag, Orders] | None = None  # with the best when it was asked last
        self._n_turns = 1  # of the search over orders, the first round counted as one
        self._n_failures = 0  # turns of the search among listed sets since it found something
        self._is_climbed = False  # no single arc change raises the best
        self._classes: Steps | None = None  # as long as GES goes on
        self._reinsertion: _ReinsertionTurns | None = None
        self.best = Structure(start, scorer.total(start))
        self.n_rounds = self.n_idle = 0

    @property
    def is_searched(self) -> bool:
        """Whether everything was tried at least once: what is left is chance."""
        return len(self._numbers) < 2 or (self._lists is not None and not self._lists)

    def round(self) -> Steps:
        """Do one portion of work."""
        before = self.best.score
        self.n_rounds += 1
        if self.n_rounds == 1:
            yield Found(*self.best)
        if len(self._numbers) < 2:
            yield from self.climb()
        elif self.n_rounds == 1:
            yield from self._find_first()
        elif self._reinsertion is not None and self._reinsertion.has_turn(self.n_rounds):
            yield from self._reinsert(self._reinsertion)
        elif self._classes is not None and self.n_rounds % TUNING.turn_of == 2:
            yield from self._walk_classes(self._classes)
        else:
            yield from self._search_orders()
            if self._reinsertion is not None:
                self._reinsertion.take_gain_of_orders(self.best.score - before)
        self.n_idle = 0 if self.best.score > before else self.n_idle + 1

    def _find_first(self) -> Steps:
        """Find a first good structure."""
        first = self._from_best()
        has_ges = self._scorer.native is not None and self._scorer.is_score_equivalent
        if len(self._numbers) > TUNING.many_for_tabu:
            yield Phase("search hill_climb")
            walk = yield from begun_walk(HillClimb(reinsert=False), first)
            yield from ascend(walk)
            self._keep(Structure(first.dag(walk.best_parents()), walk.best_score))
            self._reinsertion = _ReinsertionTurns(walk)
            if has_ges:
                self._classes = GES().steps(first)
            return
        if has_ges:
            most = TUNING.ges_steps_per_variable * len(self._numbers)
            yield from self._take(GES(max_steps=most), first, "ges")
        yield from self._take(Tabu(), first, "tabu")

    def _walk_classes(self, steps: Steps) -> Steps:
        """Let GES take some steps, and take its structure if it is better."""
        n_taken, outcome = 0, Outcome()
        for event in steps:
            outcome.take(event)
            n_taken += isinstance(event, Step)
            yield POINT
            if n_taken == TUNING.ges_steps:
                break
        else:
            self._classes = None
        if outcome.best is not None and self._is_better(outcome.best.score):
            best = outcome.best._replace(move="ges")
            self._keep(Structure(best.structure, best.score))
            yield best

    def _reinsert(self, turns: _ReinsertionTurns) -> Steps:
        """Let variables be reinserted, and take the structure if it is better."""
        before = self.best.score
        for event in turns.run(self._parents(), before):
            yield POINT if isinstance(event, Step) else event
        if self._is_better(turns.best_score):
            best = Structure(self._problem.dag(turns.best_parents()), turns.best_score)
            self._keep(best)
            yield Step("reinsert", best.score - before, best.score)
        turns.take_gain(self.best.score - before, self.best.score)

    def take(self, dag: Dag, score: float) -> None:
        """Go on from a structure that was found elsewhere, if it is better."""
        self._keep(Structure(dag, score))

    def climb(self) -> Generator[Event, None, bool]:
        """Take single arc changes until none raises the best; returns whether one did."""
        before = self.best.score
        if not self._is_climbed:
            yield from self._take(HillClimb(reinsert=False), self._from_best())
            self._is_climbed = True
        return self.best.score > before

    def _from_best(self) -> Problem:
        return self._problem.within(math.inf, start=self.best.dag)

    def _take(self, search: Search, problem: Problem, move: str | None = None) -> Steps:
        """Run a search and take its structure if it is better, as one step with a name or many."""
        before = self.best.score
        outcome = yield from follow(search, problem, as_move=move)
        if outcome.best is not None and self._is_better(outcome.best.score):
            self._keep(Structure(outcome.best.structure, outcome.best.score))
            if move is not None:
                yield Step(move, self.best.score - before, self.best.score)

    def _keep(self, structure: Structure) -> None:
        if self._is_better(structure.score):
            self.best = structure
            self._is_climbed = False
            self._go_to_best()

    def _is_better(self, score: float) -> bool:
        return is_better(score, self.best.score)

    def _search_orders(self) -> Steps:
        """Search over orders for a while, list some sets, or climb when that brings nothing."""
        problem = self._problem
        self._n_turns += 1
        if self._searchers is None or self._lists is None:
            if TUNING.seconds_per_pair * len(self._numbers) ** 2 > problem.seconds_left:
                raise SearchEnd("time limit")
            self._set_up_searchers()
            assert self._searchers is not None
            assert self._lists is not None
        with self._scorer.refusals():
            if self._lists and self._n_turns % TUNING.list_every == 0:
                self._list_sets(self._searchers, self._lists)
            every = (
                TUNING.listed_every
                if self._n_failures < TUNING.many_failures
                else TUNING.listed_seldom
            )
            is_listed_turn = not self._lists and self._n_turns % every == 0
            if not is_listed_turn:
                work = min(TUNING.work, TUNING.work_per_variable * len(self._numbers))
                improved = self._searchers.improve(work, self._threads_each, problem.seconds_left)
        yield POINT
        if is_listed_turn:
            yield from self._search_listed()
        elif improved:
            yield from self._consider(self._searchers.parents())
        else:
            yield from self.climb()

    @property
    def _threads_each(self) -> int:
        native = self._scorer.native
        is_one_pass = native is None or native.shares_passes  # which has threads of its own
        return 1 if self._prior is None or is_one_pass else self._threads

    def _list_sets(self, searchers: _core.OrderCrew, lists: list[Candidates]) -> None:
        for child, sets in lists[0].list_next(self._problem.seconds_left).items():
            self._sets[child] = sets
            searchers.add_sets(child, sets.scores, sets.offsets, sets.members)
        if lists[0].is_done:
            del lists[0]

    def _search_listed(self) -> Steps:
        """Search among the listed sets and the families of the best for a while."""
        problem, n = self._problem, len(self._numbers)
        if self._orders is None or self._orders[0] != self.best.dag:
            orders = self._new_orders(self.best.dag)
            if not orders.is_feasible:
                self._n_failures = TUNING.many_failures
                return
            first = [self._numbers[v] for v in self.best.dag.topological_order()]
            orders.descend_from(first, problem.seconds_left)
            orders.scatter(problem.seconds_left)
            self._orders = (self.best.dag, orders)
        orders = self._orders[1]
        rounds = TUNING.listed_rounds + TUNING.listed_rounds_per_variable * n
        n_sets = sum(map(len, self._sets.values()))
        share = min(1.0, TUNING.listed_sets / max(1, n_sets))
        orders.improve(max(1, int(share * rounds)), problem.seconds_left)
        before = self.best.score
        yield from self._consider(orders.parents())
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
            for v, group in enumerate(self._problem.parents(dag))
        ]
        chains = chains_among_sets(self._chains, len(names))
        table = ScoreTable(names, children, complete=False)
        seed = self._problem.seed + self.n_rounds
        return Orders(table, self._before, seed, chains, self._threads)

    def _go_to_best(self) -> None:
        """Let the searchers go on from the best structure."""
        if self._searchers is None:
            return
        if self._is_narrow or not self._searchers.begin(self._parents()):
            self._searchers = None  # the limits depend on the best, or have to

    def _parents(self) -> list[list[int]]:
        return self._problem.parents(self.best.dag)

    def _consider(self, parents: Sequence[Sequence[int]]) -> Steps:
        """Keep a better structure, unless it violates a constraint: then narrow the limits."""
        problem, nodes, dag = self._problem, self._problem.nodes, self._problem.dag(parents)
        if (nodes.required_edges or nodes.has_ancestral) and not problem.knowledge.allows(dag):
            self._is_narrow = True
            self._searchers = self._orders = None
            return
        score = self._scorer.total(dag)
        if self._is_better(score):
            self.best = Structure(dag, score)
            self._is_climbed = False
            yield Found(dag, score, "orders")

    def _set_up_searchers(self) -> None:
        """Set up the native search, at the best structure, and what sets are to be listed."""
        nodes = self._problem.nodes
        limits = Limits(nodes.allowed, nodes.required, nodes.max_parents)
        if not self._is_narrow:
            self._before = precedences(nodes)
            self._searchers = self._new_searchers(limits, self._before)
            self._is_narrow = not self._searchers.begin(self._parents())
        if self._is_narrow:
            limits = narrowed(limits, nodes, self.best.dag)
            self._before = ()
            self._searchers = self._new_searchers(limits, ())
            self._searchers.begin(self._parents())
        self._sets, self._orders = {}, None
        self._lists = [Candidates(self._scorer, limits, self._max_sets)]
        if self._lists[0].n_sets > TUNING.many_sets:
            self._lists.insert(0, Candidates(self._scorer, limits, TUNING.many_sets // 2))

    def _new_searchers(self, limits: Limits, before: Sequence[tuple[int, int]]) -> _core.OrderCrew:
        return _native_searchers(
            self._scorer,
            self._prior,
            limits,
            before,
            self._problem.seed,
            self._chains,
            self.best.score,
        )


class _ReinsertionTurns:
    """Reinsertion of variables, some in each turn, and whether it has the next one.

    Parameters
    ----------
    walk : Walk
        At a local optimum; it remembers its best structure.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._reinsertion = Reinsertion(walk)
        self._gains = {"orders": 0.0, "reinsert": 0.0}  # of a turn, the last ones
        self._n_more = 0  # turns that come next
        self._is_steep = True  # whether it comes before all else

    def has_turn(self, n_rounds: int) -> bool:
        """Say whether the round of this number is a turn of it."""
        is_worth_it = self._gains["reinsert"] >= TUNING.worth * self._gains["orders"]
        every = TUNING.turn_of if is_worth_it else TUNING.rare_turn_of
        return self._is_steep or self._n_more > 0 or n_rounds % every == 0

    def run(self, parents: Parents, score: float) -> Steps:
        """Cut some variables of the best structure loose, and climb again."""
        if is_better(score, self._walk.best_score):
            yield from self._reinsertion.go_to(parents)
        yield from self._reinsertion.run(self._n_cuts)

    @property
    def best_score(self) -> float:
        """Score of the best structure that it came to."""
        return self._walk.best_score

    def best_parents(self) -> Parents:
        """Return the parents of every variable in that structure."""
        return self._walk.best_parents()

    def take_gain(self, gain: float, score: float) -> None:
        """Note what a turn gained, at the score of the best structure now."""
        self._gains["reinsert"] = gain
        self._n_more = (self._n_more or TUNING.turns_in_a_row) - 1
        if gain <= TUNING.worth_more * self._gains["orders"]:
            self._n_more = 0
        self._is_steep = gain > self._n_cuts * TUNING.steep * abs(score)

    def take_gain_of_orders(self, gain: float) -> None:
        """Note what a round of search over orders gained."""
        self._gains["orders"] += 0.5 * (gain - self._gains["orders"])

    @property
    def _n_cuts(self) -> int:
        """Of one turn."""
        many = int(TUNING.reinserted_share * len(self._walk.base)) if self._is_steep else 0
        return max(TUNING.reinserted, many)


def _native_searchers(
    scorer: LocalScores,
    prior: PriorSums | None,
    limits: Limits,
    before: Sequence[tuple[int, int]],
    seed: int,
    chains: int,
    score: float,
) -> _core.OrderCrew:
    """Set up the native search; `score` says how large scores are, and so which are equal.

    Without `prior` families are scored in Python.
    """
    n = len(limits.max_parents)
    allowed = limits.allowed & (limits.max_parents > 0)
    candidates = [np.flatnonzero(column).astype(np.int32) for column in allowed.T]
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum([len(group) for group in candidates], out=offsets[1:])
    arcs, bases = (np.zeros((n, n)), np.zeros(n)) if prior is None else prior
    native = None if prior is None else scorer.native
    return _core.OrderCrew(
        native.change_source if native else partial(_score_in_python, scorer),
        offsets,
        np.concatenate([np.empty(0, np.int32), *candidates]),
        limits.required.T[allowed.T].astype(np.uint8),
        arcs.T[allowed.T],
        bases,
        limits.max_parents,
        before=[*((p, c) for p, c in np.argwhere(limits.required).tolist()), *before],
        tie=tie_width(score),
        n_rows=float(scorer.n_rows),
        seed=seed % 2**64,
        n_lanes=chains,
        max_bytes=min(TUNING.score_bytes, TUNING.score_share * memory_left()),
    )


def _score_in_python(
    scorer: LocalScores, child: int, parents: list[int], candidates: list[int]
) -> npt.NDArray[np.float64]:
    wanted = np.array(candidates, np.int32)
    return scorer.numbered_changes([(child, parents)], [wanted])[0]


def _prior_sums(scorer: LocalScores) -> PriorSums | None:
    """Return what a prior adds; None when it is no finite sum, or no native score adds to it."""
    if scorer.native is None:
        return None
    names = list(scorer.names)
    n = len(names)
    prior: Any = scorer.structure_prior
    if prior is None or isinstance(prior, UniformPrior):
        return np.zeros((n, n)), np.zeros(n)
    if isinstance(prior, SparsePrior):
        sums = np.full((n, n), prior.per_arc)
        np.fill_diagonal(sums, 0.0)
        return sums, np.zeros(n)
    if not hasattr(prior, "arc"):
        return None
    arcs = np.array([[0.0 if p == c else prior.arc(p, c) for c in names] for p in names])
    bases = np.array([prior.family(c, frozenset()) for c in names])
    return (arcs, bases) if np.isfinite(arcs).all() and np.isfinite(bases).all() else None
