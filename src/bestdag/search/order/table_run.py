"""One search over orders among the parent sets of a score file."""

from __future__ import annotations

from typing import Any

from bestdag.errors import GraphError
from bestdag.machine import thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.order.improve import Structure
from bestdag.search.order.kept import parents_of
from bestdag.search.order.listed_climb import ListedClimb
from bestdag.search.order.orders import Orders, chains_among_sets
from bestdag.search.order.path_limits import precedences
from bestdag.search.problem import Problem
from bestdag.search.result import Status, Step
from bestdag.search.ties import is_better

__all__ = ["TableRun"]

_ROUNDS, _ROUNDS_PER_VARIABLE = 1000, 5
# Rounds in all, times variables: a round takes longer the more variables there are.
_MOST_WORK = 150_000_000


class TableRun:
    """State of one search: `best` and `trace` can be read whenever it ends."""

    def __init__(self, problem: Problem, patience: int, chains: int) -> None:
        self._problem = problem
        self._patience = patience
        self._chains = chains_among_sets(chains, len(problem.names))
        self._rounds_left = _MOST_WORK // len(problem.names)
        self._threads = thread_count(problem.threads, who="order")
        self._idle = 0  # turns without a better structure
        self._best: Structure | None = None
        self.trace: list[Step] = []

    @property
    def best(self) -> Structure:
        """The best structure found; Ctrl-C before there is one is raised again."""
        if self._best is None:
            raise KeyboardInterrupt
        return self._best

    def search(self) -> Status:
        """Search until nothing more is found and no single arc change helps; says why it ended."""
        table = self._problem.table()
        self._search_table(table)
        self._climb(table)
        return "local optimum" if self._rounds_left > 0 else "step limit"

    def _climb(self, table: ScoreTable) -> None:
        """Take single arc changes until none raises the best: orders may miss those under rules."""
        climb = ListedClimb(self._problem, table, self.best.dag)
        while (taken := climb.step(self.best.score)) is not None:
            move, gain = taken
            self._best = Structure(climb.dag, self.best.score + gain)
            self.trace.append(Step(move, gain, self._best.score))

    def _search_table(self, table: ScoreTable) -> None:
        problem = self._problem
        before = precedences(problem.nodes)
        orders = Orders(table, before, problem.seed, self._chains, self._threads)
        with problem.checkpoint.part("sets", lambda: self._state(orders)) as saved:
            if saved is not None:
                self._restore(saved, orders)
                problem.check_time()
                self._improve(orders)
            elif orders.is_feasible:
                self._begin(orders)
                problem.check_time()
                self._improve(orders)
        if self._best is not None:
            return
        what = "no structure among the sets of the score file"
        if orders.is_feasible:
            raise GraphError(
                f"order: found {what} that obeys the statements about paths and edges; use the "
                "search 'exact', or learn from the data"
            )
        raise GraphError(f"order: {what} satisfies your constraints; learn from the data")

    def _begin(self, orders: Orders) -> None:
        problem = self._problem
        self._consider(orders, "first order")
        if self._best is not None:
            numbers = {name: i for i, name in enumerate(problem.names)}
            first = [numbers[v] for v in self._best.dag.topological_order()]
            orders.descend_from(first, problem.seconds_left)
        orders.scatter(problem.seconds_left)
        self._consider(orders, "order")

    def _state(self, orders: Orders) -> dict[str, Any]:
        """Return where the search is, between two turns."""
        best = self._best
        return {
            "rounds_left": self._rounds_left,
            "idle": self._idle,
            "places": orders.places(),
            "trace": self.trace,
            "best": best and [parents_of(self._problem, best.dag), best.score],
        }

    def _restore(self, state: dict[str, Any], orders: Orders) -> None:
        self._rounds_left, self._idle = state["rounds_left"], state["idle"]
        orders.restore(state["places"])
        self.trace = [Step(*step) for step in state["trace"]]
        if state["best"] is not None:
            parents, score = state["best"]
            self._best = Structure(self._problem.dag(parents), score)

    def _improve(self, orders: Orders) -> None:
        problem, patience = self._problem, self._patience
        rounds = _ROUNDS + _ROUNDS_PER_VARIABLE * len(problem.names)
        while self._idle < patience and self._rounds_left > 0:
            problem.keep()
            self._rounds_left -= rounds * self._chains
            improved = orders.improve(rounds, problem.seconds_left)
            self._idle = 0 if improved else self._idle + 1
            if improved:
                self._consider(orders, "rounds")
            problem.check_time()
            # Whatever was found may break a statement, and then there is none yet.
            score = None if self._best is None else self._best.score
            detail = f"{self._idle} of {patience} turns without improvement"
            problem.tell("search order", detail, score=score)

    def _consider(self, orders: Orders, move: str) -> None:
        """Keep the structure when it is better and obeys every statement."""
        nodes, dag = self._problem.nodes, self._problem.dag(orders.parents())
        if (nodes.required_edges or nodes.has_ancestral) and not self._problem.knowledge.allows(
            dag
        ):
            return
        score = orders.score
        if self._best is None or is_better(score, self._best.score):
            gain = 0.0 if self._best is None else score - self._best.score
            self._best = Structure(dag, score)
            self.trace.append(Step(move, gain, score))
