"""Hill climbing by single arcs among the parent sets of a score file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.errors import CycleError
from bestdag.graph.dag import Dag
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.problem import Problem
from bestdag.search.ties import tie_width

__all__ = ["ListedClimb"]


class _Move(NamedTuple):
    """The families that come with one addition, removal or reversal."""

    gain: float
    text: str
    families: dict[int, frozenset[int]]


class ListedClimb:
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
