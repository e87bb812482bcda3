"""The gains of all moves of one phase, kept up to date while the class changes."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from bestdag.scores.scorer import Scorer
from bestdag.search.ges.operators import Family, Move, View

__all__ = ["Gains"]

Pair = tuple[str, str]


class Gains:
    """Moves of one kind between classes, by pairs of nodes, with what each would gain.

    A move of the pair (x, y) depends on the sets around x and y. After a step only the pairs that
    saw a change are scored again, all in a few native calls.

    Parameters
    ----------
    scorer : Scorer
    listing : callable
        Lists the moves of a pair.
    allows : callable
        Whether a family may be scored at all: says no to families with too many parents.
    is_late : callable
        Whether time is up. A pair may have very many moves: two to the power of the neighbours
        that form a clique.
    """

    def __init__(
        self,
        scorer: Scorer,
        listing: Callable[[View, str, str], Iterable[Move]],
        allows: Callable[[Family], bool],
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._scorer = scorer
        self._listing = listing
        self._allows = allows
        self._is_late = is_late
        self._view: View | None = None
        self._moves: dict[Pair, list[tuple[float, Move]]] = {}

    def update(self, view: View) -> bool:
        """Bring the gains up to date with a class; False when time is up before they are."""
        pairs = list(self._stale(view))
        for pair in pairs:
            self._moves.pop(pair, None)
        moves = ((pair, move) for pair in pairs for move in self._listing(view, *pair))
        while some := list(itertools.islice(moves, _TOGETHER)):
            if self._is_late():
                return False
            self._add(view, some)
        self._view = view
        return True

    def _add(self, view: View, moves: Iterable[tuple[Pair, Move]]) -> None:
        """Score moves and keep those that gain."""
        wanted = []
        for pair, move in moves:
            before, after = move.families(view)
            if all(map(self._allows, after)):
                wanted.append((pair, move, before, after))
        scores = self._scores(family for _, _, before, after in wanted for family in before + after)
        for pair, move, before, after in wanted:
            gain = sum(scores[family] for family in after) - sum(scores[f] for f in before)
            if gain > 0:
                self._moves.setdefault(pair, []).append((gain, move))

    def best(self, least: float, unit: float) -> Iterator[tuple[float, Move]]:
        """Yield the moves that gain more than `least`, best first.

        Gains that differ by less than about `unit` count as equal, and the first by name wins.
        """
        left = [entry for moves in self._moves.values() for entry in moves if entry[0] > least]
        n_sorted = _FIRST_SORTED  # one of the best is nearly always taken: sort no more than needed
        while left:
            if len(left) > n_sorted:
                gains = np.array([gain for gain, _ in left])
                enough = np.partition(gains, -n_sorted)[-n_sorted] - unit
                first = [entry for entry in left if entry[0] >= enough]
                left = [entry for entry in left if entry[0] < enough]
            else:
                first, left = left, []
            yield from sorted(first, key=lambda e: (-np.rint(e[0] / unit), *_names(e[1])))
            n_sorted *= 8

    def _stale(self, view: View) -> Iterator[Pair]:
        """Pairs whose moves may differ from those in the class before."""
        old, nodes = self._view, view.graph.nodes
        if old is None:
            yield from ((x, y) for y in nodes for x in nodes if x != y)
            return
        joined = {v for v in nodes if old.adjacent[v] != view.adjacent[v]}
        turned = {
            v
            for v in nodes
            if old.parents[v] != view.parents[v] or old.neighbours[v] != view.neighbours[v]
        }
        # Neighbours of y come to form a clique, or cease to, where two of them are joined anew.
        near = {v for v in nodes if len(view.neighbours[v] & joined) > 1}
        for y in nodes:
            for x in nodes if y in turned or y in near else joined | turned:
                if x != y:
                    yield x, y

    def _scores(self, families: Iterable[Family]) -> dict[Family, float]:
        """Score families; those that differ by one parent from a common one share its counts."""
        todo = set(families)
        by_child: dict[str, set[frozenset[str]]] = defaultdict(set)
        for child, parents in todo:
            by_child[child].add(parents)
        scores: dict[Family, float] = {}
        alone: list[Family] = []
        for child in sorted(by_child):
            sets = by_child[child]
            larger: dict[frozenset[str], list[str]] = defaultdict(list)
            for parents in sets:
                below = [parents - {v} for v in sorted(parents) if parents - {v} in sets]
                if below:
                    larger[below[0]] += parents - below[0]
                else:
                    alone.append((child, parents))
            for base in sorted(larger, key=sorted):
                added = sorted(larger[base])
                if len(added) < _WORTH_SHARING:
                    alone += [(child, base | {v}) for v in added]
                    continue
                values = self._scorer.additions(child, base, added)
                for v, value in zip(added, values.tolist(), strict=True):
                    scores[child, base | {v}] = value
        scores.update(zip(alone, self._scorer.families(alone).tolist(), strict=True))
        return scores


_FIRST_SORTED = 16
# Moves scored between two looks at the clock.
_TOGETHER = 1 << 14
# So many families with a common base are cheaper to count together.
_WORTH_SHARING = 4


def _names(move: Move) -> tuple[str, str, tuple[str, ...]]:
    return move.x, move.y, tuple(sorted(move.others))
