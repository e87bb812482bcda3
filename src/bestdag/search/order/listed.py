"""Search over orders among parent sets that are listed, as in a file of local scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import CycleError, GraphError
from bestdag.graph.dag import Dag
from bestdag.machine import thread_count
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.bnc.relaxation import Sets
from bestdag.search.order.families import precedences
from bestdag.search.order.tuning import TUNING
from bestdag.search.problem import Problem
from bestdag.search.steps import POINT, Found, Phase, SearchEnd, Steps
from bestdag.search.ties import is_better, tie_width

__all__ = ["Orders", "chains_among_sets", "search_listed"]


def chains_among_sets(chains: int, n_variables: int) -> int:
    """Say how many chains of a search work among listed sets.

    They do not share what they find in different corners of a large problem: half of them.
    """
    return chains if n_variables <= TUNING.many_for_chains else max(1, chains // 2)


class _ListedSearch:
    """One search: the chains, and the best structure that obeys every statement."""

    def __init__(self, problem: Problem, table: ScoreTable, n_chains: int) -> None:
        self._problem = problem
        self._table = table
        self.n_chains = chains_among_sets(n_chains, len(problem.names))
        threads = thread_count(problem.threads, who="order")
        before = precedences(problem.nodes)
        self.orders = Orders(table, before, problem.seed, self.n_chains, threads)
        self.best: Found | None = None

    def begin(self) -> Steps:
        """Descend from a first order, and send the other chains elsewhere."""
        orders, problem = self.orders, self._problem
        yield from self.consider("first order")
        if self.best is not None:
            numbers = {name: i for i, name in enumerate(problem.names)}
            first = [numbers[v] for v in self.best.structure.topological_order()]
            orders.descend_from(first, problem.seconds_left)
        orders.scatter(problem.seconds_left)
        yield from self.consider("order")

    def consider(self, move: str) -> Steps:
        """Take the structure when it is better and obeys every statement."""
        problem, nodes = self._problem, self._problem.nodes
        dag = problem.dag(self.orders.parents())
        has_paths = nodes.required_edges or nodes.has_ancestral
        score = self.orders.score
        is_new = self.best is None or is_better(score, self.best.score)
        if is_new and (not has_paths or problem.knowledge.allows(dag)):
            self.best = Found(dag, score, move)
            yield self.best

    def climb(self) -> Steps:
        """Take single arc changes until none raises the best: orders may miss those under rules."""
        assert self.best is not None
        climb = _ListedClimb(self._problem, self._table, self.best.structure)
        score = self.best.score
        while (taken := climb.step(score)) is not None:
            move, gain = taken
            score += gain
            yield Found(climb.dag, score, move)


def search_listed(problem: Problem, patience: int, n_chains: int) -> Steps:
    """Search until so many turns bring nothing and no single arc change helps."""
    table = problem.table()
    search = _ListedSearch(problem, table, n_chains)
    rounds_left = TUNING.listed_work // len(problem.names)
    rounds = TUNING.listed_rounds + TUNING.listed_rounds_per_variable * len(problem.names)
    n_idle = 0  # turns without a better structure
    if search.orders.is_feasible:
        yield from search.begin()
        while n_idle < patience and rounds_left > 0:
            yield Phase("search order", f"{n_idle} of {patience} turns without improvement")
            yield POINT
            rounds_left -= rounds * search.n_chains
            if search.orders.improve(rounds, problem.seconds_left):
                n_idle = 0
                yield from search.consider("rounds")
            else:
                n_idle += 1
    if search.best is None:
        what = "no structure among the sets of the score file"
        if search.orders.is_feasible:
            raise GraphError(
                f"order: found {what} that obeys the statements about paths and edges; use the "
                "search 'exact', or learn from the data"
            )
        raise GraphError(f"order: {what} satisfies your constraints; learn from the data")
    yield POINT
    yield from search.climb()
    if rounds_left <= 0:
        raise SearchEnd("step limit")


class Orders:
    """Chains of local search over orders of the variables.

    Parameters
    ----------
    table : ScoreTable
    before : sequence of (int, int)
        Pairs (a, b): a comes before b in every order.
    seed, n_chains, threads : int
    """

    def __init__(
        self,
        table: ScoreTable,
        before: Sequence[tuple[int, int]],
        seed: int,
        n_chains: int,
        threads: int,
    ) -> None:
        self._table = table
        self._threads = threads
        self._sets = sets = Sets(_with_predecessors(table, before))
        self._native = _core.OrderSearch(
            sets.begin, sets.costs, sets.offsets, sets.members, seed, n_chains
        )

    @property
    def is_feasible(self) -> bool:
        """Whether some order has a set for every variable."""
        return self._native.is_feasible

    def descend_from(self, order: list[int], seconds: float) -> bool:
        """Descend from an order in every chain; True when the best improved."""
        return self._native.descend_from(order, seconds)

    def scatter(self, seconds: float) -> bool:
        """Send every chain but the first to a random order; True when the best improved."""
        return self._native.scatter(self._threads, seconds)

    def improve(self, rounds: int, seconds: float) -> bool:
        """Search on in every chain; True when the best improved."""
        return self._native.improve(rounds, self._threads, seconds)

    @property
    def score(self) -> float:
        """Score of the best choice, rounded once."""
        return math.fsum(
            float(self._table.child(v).scores[k]) for v, k in enumerate(self._choice())
        )

    def parents(self) -> list[tuple[int, ...]]:
        """Return the parents of every variable in the best choice."""
        return [self._table.child(v).parents(k) for v, k in enumerate(self._choice())]

    def _choice(self) -> list[int]:
        chosen = np.zeros(self._sets.n, np.int64)
        self._native.best(chosen)
        return [int(k) for k in chosen - self._sets.begin[:-1]]


def _with_predecessors(table: ScoreTable, before: Sequence[tuple[int, int]]) -> ScoreTable:
    """Put into every set of b each a that must come before b; sets keep their places."""
    if not before:
        return table
    children = [table.child(v) for v in range(table.n_variables)]
    for b in {b for _, b in before}:
        more = {a for a, later in before if later == b}
        sets = [sorted({*members, *more}) for _, members in children[b]]
        offsets = np.zeros(len(sets) + 1, np.int64)
        np.cumsum([len(members) for members in sets], out=offsets[1:])
        flat = np.array([p for members in sets for p in members], np.int32)
        children[b] = ParentSets(children[b].scores, offsets, flat)
    return ScoreTable(table.names, children, complete=table.complete)


class _Move(NamedTuple):
    """The families that come with one addition, removal or reversal."""

    gain: float
    text: str
    families: dict[int, frozenset[int]]


class _ListedClimb:
    """Where a climb stands: a structure whose families are all listed.

    Parameters
    ----------
    problem : Problem
    table : ScoreTable
        The sets that the knowledge about arcs allows.
    dag : Dag
        It obeys the knowledge.
    """

    def __init__(self, problem: Problem, table: ScoreTable, dag: Dag) -> None:
        number = {name: i for i, name in enumerate(problem.names)}
        self._problem = problem
        self._table = table
        self._parents = [frozenset(number[p] for p in dag.parents(v)) for v in problem.names]
        self._changes = [self._changes_of(child) for child in range(len(number))]
        self.dag = dag

    def step(self, score: float) -> tuple[str, float] | None:
        """Make the best move that is allowed; None when none gains."""
        moves = [move for move in self._moves() if move.gain > tie_width(score)]
        for move in sorted(moves, key=lambda move: (-move.gain, move.text)):
            self._problem.check_time()
            parents = [move.families.get(v, group) for v, group in enumerate(self._parents)]
            try:
                dag = self._problem.dag([sorted(group) for group in parents])
            except CycleError:
                continue
            if self._problem.knowledge.allows(dag):
                self.dag, self._parents = dag, parents
                for child in move.families:
                    self._changes[child] = self._changes_of(child)
                return move.text, move.gain
        return None

    def _moves(self) -> Iterator[_Move]:
        names = self._problem.names
        for child, group in enumerate(self._parents):
            for other, gain in self._changes[child].items():
                family = {child: group ^ {other}}
                arc = f"{names[other]} -> {names[child]}"
                if other not in group:
                    yield _Move(gain, f"add {arc}", family)
                    continue
                yield _Move(gain, f"remove {arc}", family)
                back = self._changes[other].get(child)
                if back is not None:
                    both = family | {other: self._parents[other] | {child}}
                    yield _Move(gain + back, f"reverse {arc}", both)

    def _changes_of(self, child: int) -> dict[int, float]:
        """Return what it gains to add or remove one parent, where the set after it is listed."""
        sets, group = self._table.child(child), self._parents[child]
        inside = np.zeros(len(self._problem.names), np.int64)
        inside[list(group)] = 1
        sizes, hits = np.diff(sets.offsets), _sums(sets, inside[sets.members])
        (own,) = sets.scores[(sizes == len(group)) & (hits == len(group))]
        is_more = (sizes == len(group) + 1) & (hits == len(group))
        is_less = (sizes == len(group) - 1) & (hits == sizes)
        near = np.flatnonzero(is_more | is_less)
        # The parent that differs: the difference of the sums of numbers.
        other = np.abs(_sums(sets, sets.members)[near] - sum(group))
        return dict(zip(other.tolist(), (sets.scores[near] - own).tolist(), strict=True))


def _sums(sets: ParentSets, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Add up what belongs to each set."""
    until = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    sums: npt.NDArray[np.int64] = until[sets.offsets[1:]] - until[sets.offsets[:-1]]
    return sums
