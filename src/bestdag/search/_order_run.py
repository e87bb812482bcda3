"""One run of the search over orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from bestdag.errors import GraphError
from bestdag.graph.dag import Dag
from bestdag.machine import thread_count
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search._candidates import Candidates, Limits
from bestdag.search._orders import Orders
from bestdag.search._path_limits import narrowed, precedences
from bestdag.search.base import Problem, Status, Step
from bestdag.search.climbing.feasible import feasible_parents
from bestdag.search.hill_climb import HillClimb

__all__ = ["OrderRun", "Structure"]

_ROUNDS, _ROUNDS_PER_VARIABLE = 1000, 5
# Rounds in all, times variables: a round takes longer the more variables there are.
_MOST_WORK = 150_000_000
# Spells without a better structure while candidate sets are still being added.
_SHORT_PATIENCE = 1
_MANY_VARIABLES = 100
# The candidate sets get at most this share of the time.
_SHARE_FOR_SETS = 0.4
# Gains below this share of the score are rounding noise between equivalent structures.
_MIN_RELATIVE_GAIN = 1e-12


class Structure(NamedTuple):
    """A structure and its score."""

    dag: Dag
    score: float


class _OutOfTime(Exception):  # noqa: N818 (not an error)
    """The time limit is reached."""


class OrderRun:
    """State of one search: `best` and `trace` can be read whenever it ends."""

    def __init__(self, problem: Problem, max_sets: int, patience: int) -> None:
        self._problem = problem
        self._max_sets = max_sets
        self._patience = patience
        # Chains do not share what they find in different corners of a large problem.
        self._chains = 4 if len(problem.names) <= _MANY_VARIABLES else 2
        self._rounds_left = _MOST_WORK // len(problem.names)
        self._threads = thread_count(problem.threads, who="order")
        self._best: Structure | None = None
        self.trace: list[Step] = []

    @property
    def best(self) -> Structure:
        """The best structure found."""
        assert self._best is not None
        return self._best

    def search(self) -> Status:
        """Search until nothing more is found; says why it ended."""
        try:
            if isinstance(self._problem.scores, ScoreTable):
                self._search_table()
            else:
                self._search_data(self._problem.scores)
        except _OutOfTime:
            return "time limit"
        except KeyboardInterrupt:
            if self._best is None:
                raise
            return "interrupted"
        return "local optimum" if self._rounds_left > 0 else "step limit"

    def _search_table(self) -> None:
        problem = self._problem
        before = precedences(problem.nodes)
        orders = Orders(problem.table(), before, problem.seed, self._chains, self._threads)
        if orders.is_feasible:
            self._consider(orders, "first order")
            self._descend(orders, None)
            self._improve(orders, self._patience)
        if self._best is None:
            raise GraphError(
                "order: no structure among the sets of the score file obeys the knowledge; learn "
                "from the data"
            )

    def _search_data(self, scorer: Scorer) -> None:
        problem = self._problem
        nodes = problem.nodes
        start = problem.start or _dag(problem.names, feasible_parents(nodes, who="order"))
        self._best = Structure(start, scorer.total(start))
        self._climb()
        limits = Limits(nodes.allowed, nodes.required, nodes.max_parents)
        obeys = self._search_within(scorer, limits, precedences(nodes))
        if not obeys:
            self._search_within(scorer, narrowed(limits, nodes, start), ())
        self._climb()

    def _search_within(
        self, scorer: Scorer, limits: Limits, before: Sequence[tuple[int, int]]
    ) -> bool:
        """Search among families within limits; False when the end breaks a statement."""
        problem = self._problem
        candidates = Candidates(scorer, limits, self._max_sets, self._check_time)
        left = problem.seconds_left
        candidates.list_first(None if math.isinf(left) else _SHARE_FOR_SETS * left)
        candidates.grow_best()
        candidates.add(self.best.dag)
        order: list[int] | None = None
        total, obeys = -math.inf, False
        while True:
            orders = Orders(candidates.table(), before, problem.seed, self._chains, self._threads)
            if not orders.is_feasible:
                return False
            self._descend(orders, order)
            self._improve(orders, self._patience if order is None else _SHORT_PATIENCE)
            obeys = self._consider(orders, "better sets")
            if orders.score <= total + _MIN_RELATIVE_GAIN * abs(total):
                return obeys
            total, order = orders.score, orders.order()
            if self._rounds_left <= 0 or not candidates.around(orders.parents()):
                return obeys

    def _descend(self, orders: Orders, order: list[int] | None) -> None:
        """Go down from an order; without one from the best so far and from random orders."""
        problem = self._problem
        if order is not None:
            orders.descend_from(order, problem.seconds_left)
        else:
            if self._best is not None:
                numbers = {name: i for i, name in enumerate(problem.names)}
                first = [numbers[v] for v in self._best.dag.topological_order()]
                orders.descend_from(first, problem.seconds_left)
            orders.scatter(problem.seconds_left)
        self._consider(orders, "order")
        self._check_time()

    def _improve(self, orders: Orders, patience: int) -> None:
        problem = self._problem
        rounds = _ROUNDS + _ROUNDS_PER_VARIABLE * len(problem.names)
        idle = 0
        while idle < patience and self._rounds_left > 0:
            self._rounds_left -= rounds * self._chains
            improved = orders.improve(rounds, problem.seconds_left)
            idle = 0 if improved else idle + 1
            if improved:
                self._consider(orders, "rounds")
            self._check_time()
            problem.progress(f"score {self.best.score:.4f}, {idle} of {patience} idle spells")

    def _consider(self, orders: Orders, move: str) -> bool:
        """Keep the structure when it is better; False when it breaks a statement."""
        dag = _dag(self._problem.names, orders.parents())
        nodes = self._problem.nodes
        if (nodes.required_edges or nodes.has_ancestral) and not self._problem.knowledge.allows(
            dag
        ):
            return False
        score = orders.score
        if self._best is None or score > self._best.score + _MIN_RELATIVE_GAIN * abs(score):
            gain = 0.0 if self._best is None else score - self._best.score
            self._best = Structure(dag, score)
            self.trace.append(Step(move, gain, score))
        return True

    def _climb(self) -> None:
        """Climb on from the best, over all families and with every statement in view."""
        problem = self._problem
        self._check_time()
        climbed = HillClimb(reinsert=False).run(problem.within(math.inf, start=self.best.dag))
        if climbed.score > self.best.score + _MIN_RELATIVE_GAIN * abs(climbed.score):
            self._best = Structure(climbed.dag, climbed.score)
            self.trace.extend(climbed.trace)
        if climbed.status == "interrupted":
            raise KeyboardInterrupt
        self._check_time()

    def _check_time(self) -> None:
        if self._problem.out_of_time():
            raise _OutOfTime


def _dag(names: Sequence[str], parents: Sequence[Sequence[int]]) -> Dag:
    return Dag.from_parents(
        {v: [names[p] for p in given] for v, given in zip(names, parents, strict=True)}
    )
