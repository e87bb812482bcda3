"""The native search over orders, for one table of candidate parent sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bestdag import _core
from bestdag.graph.dag import Dag
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.bnc.relaxation import Sets

__all__ = ["Orders", "chains_among_sets"]

_MANY_VARIABLES = 100


def chains_among_sets(chains: int, n_variables: int) -> int:
    """Say how many chains of a search work among listed sets.

    They do not share what they find in different corners of a large problem: half of them.
    """
    return chains if n_variables <= _MANY_VARIABLES else max(1, chains // 2)


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

    def places(self) -> list[Any]:
        """Return where each chain is, for `restore`."""
        return self._native.places()

    def restore(self, places: list[Any]) -> None:
        """Go on from there."""
        self._native.restore([tuple(place) for place in places])

    @property
    def score(self) -> float:
        """Score of the best choice, rounded once."""
        return math.fsum(
            float(self._table.child(v).scores[k]) for v, k in enumerate(self._choice())
        )

    def parents(self) -> list[tuple[int, ...]]:
        """Return the parents of every variable in the best choice."""
        return [self._table.child(v).parents(k) for v, k in enumerate(self._choice())]

    def order(self) -> list[int]:
        """Return an order that the best choice fits."""
        names = self._table.names
        sets, begin = self._sets, self._sets.begin
        dag = Dag(
            names,
            [
                (names[p], names[v])
                for v, k in enumerate(self._choice())
                for p in sets.parents(int(begin[v]) + k)
            ],
        )
        numbers = {name: i for i, name in enumerate(names)}
        return [numbers[name] for name in dag.topological_order()]

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
