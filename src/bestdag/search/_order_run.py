"""One search over orders among the parent sets of a score file."""

from __future__ import annotations

from bestdag.errors import GraphError
from bestdag.graph.dag import Dag
from bestdag.machine import thread_count
from bestdag.search._orders import Orders
from bestdag.search._path_limits import precedences
from bestdag.search.base import Problem, Status, Step
from bestdag.search.improve import Structure

__all__ = ["TableRun"]

_ROUNDS, _ROUNDS_PER_VARIABLE = 1000, 5
# Rounds in all, times variables: a round takes longer the more variables there are.
_MOST_WORK = 150_000_000
_MANY_VARIABLES = 100
# Gains below this share of the score are rounding noise between equivalent structures.
_MIN_RELATIVE_GAIN = 1e-12


class _OutOfTime(Exception):  # noqa: N818 (not an error)
    """The time limit is reached."""


class TableRun:
    """State of one search: `best` and `trace` can be read whenever it ends."""

    def __init__(self, problem: Problem, patience: int) -> None:
        self._problem = problem
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
            self._search_table()
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
            if self._best is not None:
                numbers = {name: i for i, name in enumerate(problem.names)}
                first = [numbers[v] for v in self._best.dag.topological_order()]
                orders.descend_from(first, problem.seconds_left)
            orders.scatter(problem.seconds_left)
            self._consider(orders, "order")
            self._check_time()
            self._improve(orders)
        if self._best is None:
            raise GraphError(
                "order: no structure among the sets of the score file obeys the knowledge; learn "
                "from the data"
            )

    def _improve(self, orders: Orders) -> None:
        problem, patience = self._problem, self._patience
        rounds = _ROUNDS + _ROUNDS_PER_VARIABLE * len(problem.names)
        idle = 0
        while idle < patience and self._rounds_left > 0:
            self._rounds_left -= rounds * self._chains
            improved = orders.improve(rounds, problem.seconds_left)
            idle = 0 if improved else idle + 1
            if improved:
                self._consider(orders, "rounds")
            self._check_time()
            # Whatever was found may break a statement, and then there is none yet.
            score = "" if self._best is None else f"score {self._best.score:.4f}, "
            problem.progress(f"{score}{idle} of {patience} idle spells")

    def _consider(self, orders: Orders, move: str) -> None:
        """Keep the structure when it is better and obeys every statement."""
        names, nodes = self._problem.names, self._problem.nodes
        dag = Dag.from_parents(
            {v: [names[p] for p in g] for v, g in zip(names, orders.parents(), strict=True)}
        )
        if (nodes.required_edges or nodes.has_ancestral) and not self._problem.knowledge.allows(
            dag
        ):
            return
        score = orders.score
        if self._best is None or score > self._best.score + _MIN_RELATIVE_GAIN * abs(score):
            gain = 0.0 if self._best is None else score - self._best.score
            self._best = Structure(dag, score)
            self.trace.append(Step(move, gain, score))

    def _check_time(self) -> None:
        if self._problem.out_of_time():
            raise _OutOfTime
