"""Candidate parent sets for a search over orders, found under a budget of scored sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.graph.dag import Dag
from bestdag.scores.build import build_score_table
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["Candidates", "Limits"]

# Sets up to this size are listed for every choice of promising parents.
_LISTED_SIZE = 3
# Best additions that are kept of each set that is looked at.
_MOST_ADDITIONS = 24
# Changes scored in one native call: less than a second or so.
_CHANGES_PER_CALL = 1 << 19
# Without a native twin a score takes so many times longer.
_PYTHON_FACTOR = 100

_Set = tuple[int, ...]


class Limits(NamedTuple):
    """What single families must keep to, over the variables in name order."""

    allowed: npt.NDArray[np.bool_]  # [parent, child]
    required: npt.NDArray[np.bool_]
    max_parents: npt.NDArray[np.int32]


class Candidates:
    """Parent sets of every child with their scores; `around` finds more where a network is.

    Parameters
    ----------
    scorer : Scorer
    limits : Limits
    budget : int
        About so many sets are scored to begin with.
    check_time : callable
        Called between native calls; may raise.
    """

    def __init__(
        self, scorer: Scorer, limits: Limits, budget: int, check_time: Callable[[], None]
    ) -> None:
        self._check_time = check_time
        self.names = [variable.name for variable in scorer.variables]
        self._scorer = scorer
        self._budget = budget if scorer.has_kernel else max(1, budget // _PYTHON_FACTOR)
        self._allowed = [np.flatnonzero(c).astype(np.int32) for c in limits.allowed.T]
        self._required = [frozenset(np.flatnonzero(c).tolist()) for c in limits.required.T]
        self._most = limits.max_parents.tolist()
        self._sets: list[dict[_Set, float]] = []
        self._children: list[ParentSets] = []
        self._looked_at: set[tuple[int, _Set]] = set()

    def list_first(self, time_limit: float | None) -> None:
        """List the sets to begin with: all small ones, of promising parents if need be."""
        n = len(self.names)
        size = min(_LISTED_SIZE, max(self._most, default=0))
        m = self._affordable_parents(size)
        everybody = dict(zip(self.names, map(self._named, self._allowed), strict=True))
        table = build_score_table(
            self._scorer,
            max_parents={v: min(size + len(r), m) for v, r, m in self._per_child()},
            candidates=everybody if m == n - 1 else self._promising(m),
            required={v: self._named(r) for v, r, _ in self._per_child()},
            time_limit=time_limit,
        )
        self._children = [table.child(i) for i in range(n)]
        self._sets = [{members: score for score, members in sets} for sets in self._children]

    def table(self) -> ScoreTable:
        """Everything found so far."""
        return ScoreTable(self.names, self._children, complete=False)

    def grow_best(self) -> None:
        """Look around the best set of each child, and of the new best, until none is better."""
        open_children = list(range(len(self.names)))
        while open_children:
            best = {v: self._children[v].parents(0) for v in open_children}
            self._look_around(list(best.items()))
            open_children = [v for v in open_children if self._children[v].parents(0) != best[v]]

    def around(self, parents: Sequence[_Set]) -> bool:
        """Look around the families of a network; True when new sets were found.

        Each family is looked at as it is, and with each parent left out.
        """
        families = []
        for v, given in enumerate(parents):
            families.append((v, given))
            for u in given:
                if u not in self._required[v]:
                    families.append((v, tuple(p for p in given if p != u)))
        return self._look_around(families)

    def add(self, dag: Dag) -> None:
        """Add the families of a structure."""
        numbers = {name: i for i, name in enumerate(self.names)}
        scores = self._scorer.by_child(dag)
        changed = set()
        for name, v in numbers.items():
            parents = tuple(sorted(numbers[p] for p in dag.parents(name)))
            if self._may_have(v, parents) and self._keep(v, parents, scores[name]):
                changed.add(v)
        self._renew(changed)

    def _may_have(self, v: int, parents: _Set) -> bool:
        inside = np.isin(parents, self._allowed[v]).all()
        return bool(inside) and self._required[v] <= set(parents) and len(parents) <= self._most[v]

    def _per_child(self) -> list[tuple[str, frozenset[int], int]]:
        return list(zip(self.names, self._required, self._most, strict=True))

    def _named(self, numbers: Iterable[int]) -> list[str]:
        return [self.names[p] for p in sorted(map(int, numbers))]

    def _affordable_parents(self, size: int) -> int:
        """Return among how many parents all sets of this size can be listed for every child."""
        n = len(self.names)
        m = min(size, n - 1)
        while m < n - 1 and n * _n_sets(m + 1, size) <= self._budget:
            m += 1
        return m

    def _promising(self, m: int) -> dict[str, list[str]]:
        """For each child the m parents that gain most on their own, and the required ones."""
        found = {}
        roots = [(v, tuple(sorted(r))) for v, r in enumerate(self._required)]
        for (v, given), scores in self._changes(roots):
            others = self._allowed[v]
            gain = np.where(np.isin(others, given), -np.inf, scores)
            best = others[np.argsort(-gain, kind="stable")[:m]].tolist()
            found[self.names[v]] = self._named({*best, *given})
        return found

    def _changes(
        self, families: Sequence[tuple[int, _Set]]
    ) -> list[tuple[tuple[int, _Set], npt.NDArray[np.float64]]]:
        """Score each family after adding or dropping each allowed parent."""
        found = []
        step = max(1, _CHANGES_PER_CALL // len(self.names))
        for first in range(0, len(families), step):
            self._check_time()
            some = families[first : first + step]
            scores = self._scorer.numbered_changes(some, [self._allowed[v] for v, _ in some])
            found += list(zip(some, scores, strict=True))
        return found

    def _look_around(self, families: Sequence[tuple[int, _Set]]) -> bool:
        new = [family for family in dict.fromkeys(families) if family not in self._looked_at]
        self._looked_at.update(new)
        changed = set()
        for (v, given), scores in self._changes(new):
            if self._keep_changes(v, given, scores):
                changed.add(v)
        self._renew(changed)
        return bool(changed)

    def _keep_changes(self, v: int, given: _Set, scores: npt.NDArray[np.float64]) -> bool:
        others = self._allowed[v]
        here = self._sets[v].get(given)
        if here is None:
            here = self._scorer.family(self.names[v], self._named(given))
            self._keep(v, given, here)
        kept = False
        inside = np.isin(others, given)
        for k in np.flatnonzero(inside).tolist():
            u = int(others[k])
            if u not in self._required[v]:
                smaller = tuple(p for p in given if p != u)
                kept = self._keep(v, smaller, float(scores[k])) or kept
        if len(given) < self._most[v]:
            better = np.flatnonzero(~inside & (scores > here))
            best = better[np.argsort(-scores[better], kind="stable")[:_MOST_ADDITIONS]]
            for k in best.tolist():
                larger = tuple(sorted((*given, int(others[k]))))
                kept = self._keep(v, larger, float(scores[k])) or kept
        return kept

    def _keep(self, v: int, parents: _Set, score: float) -> bool:
        if parents in self._sets[v] or not math.isfinite(score):
            return False
        self._sets[v][parents] = score
        return True

    def _renew(self, children: set[int]) -> None:
        for v in children:
            sets = self._sets[v]
            self._children[v] = ParentSets.of(list(sets.values()), list(sets))


def _n_sets(n: int, size: int) -> int:
    return sum(math.comb(n, k) for k in range(size + 1))
