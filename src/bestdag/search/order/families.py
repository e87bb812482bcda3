"""What families the search over orders may use: limits, and small parent sets that are listed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.table import ParentSets
from bestdag.search.order.tuning import TUNING

__all__ = ["Candidates", "Limits", "narrowed", "precedences", "with_set"]


class Limits(NamedTuple):
    """What single families must keep to, over the variables in name order."""

    allowed: npt.NDArray[np.bool_]  # [parent, child]
    required: npt.NDArray[np.bool_]
    max_parents: npt.NDArray[np.int32]


class Candidates:
    """All sets of at most three of the most promising parents, portion by portion.

    Parameters
    ----------
    scorer : LocalScores
    limits : Limits
    budget : int
        About so many sets are scored in all: as many parents are promising as that allows.
    """

    def __init__(self, scorer: LocalScores, limits: Limits, budget: int) -> None:
        self.names = list(scorer.names)
        self._scorer = scorer
        self._allowed = [np.flatnonzero(c).astype(np.int32) for c in limits.allowed.T]
        self._required = [frozenset(np.flatnonzero(c).tolist()) for c in limits.required.T]
        self._most = limits.max_parents.tolist()
        self._size = min(TUNING.listed_size, max(self._most, default=0))
        factor = TUNING.python_factor if scorer.native is None else 1
        self.n_promising = self._affordable_parents(max(1, budget // factor))
        at_once = TUNING.sets_times_rows / factor / max(TUNING.least_rows, scorer.n_rows)
        self._step = max(1, int(at_once / _n_sets(self.n_promising, self._size)))
        self._next = 0

    @property
    def n_sets(self) -> int:
        """How many sets there are to list, about."""
        return len(self.names) * _n_sets(self.n_promising, self._size)

    @property
    def is_done(self) -> bool:
        """Whether the sets of every variable have been listed."""
        return self._next >= len(self.names)

    def list_next(self, seconds_left: float) -> dict[int, ParentSets]:
        """List the sets of the next variables, by their numbers; fewer when time is short."""
        children = range(self._next, min(self._next + self._step, len(self.names)))
        self._next = children.stop
        promising = self._promising(children)
        required = {v: self._named(r) for v, r in zip(self.names, self._required, strict=True)}
        limits, candidates = {v: len(r) for v, r in required.items()}, dict(required)
        for child in children:
            name = self.names[child]
            limits[name] = min(self._size + len(required[name]), self._most[child])
            candidates[name] = promising[child]
        table = build_score_table(
            self._scorer,
            max_parents=limits,
            candidates=candidates,
            required=required,
            time_limit=None if math.isinf(seconds_left) else max(seconds_left, 1e-3),
        )
        return {child: table.child(child) for child in children}

    def _named(self, numbers: Iterable[int]) -> list[str]:
        return [self.names[p] for p in sorted(map(int, numbers))]

    def _affordable_parents(self, budget: int) -> int:
        """Return among how many parents all sets of this size can be listed for every child."""
        n = len(self.names)
        m = min(self._size, n - 1)
        while m < n - 1 and n * _n_sets(m + 1, self._size) <= budget:
            m += 1
        return m

    def _promising(self, children: Iterable[int]) -> dict[int, list[str]]:
        """For each child the parents that gain most on their own, and the required ones."""
        promising = {}
        roots = [(v, tuple(sorted(self._required[v]))) for v in children]
        allowed = [self._allowed[v] for v, _ in roots]
        for (v, required), scores in zip(
            roots, self._scorer.numbered_changes(roots, allowed), strict=True
        ):
            gain = np.where(np.isin(self._allowed[v], required), -np.inf, scores)
            best = np.argsort(-gain, kind="stable")[: self.n_promising]
            promising[v] = self._named({*self._allowed[v][best].tolist(), *required})
        return promising


def _n_sets(n: int, size: int) -> int:
    return sum(math.comb(n, k) for k in range(size + 1))


def with_set(sets: ParentSets, score: float, parents: Sequence[int]) -> ParentSets:
    """Put in one more set, at its place."""
    if not math.isfinite(score):
        return sets
    place = int(np.searchsorted(-sets.scores, -score, side="right"))
    at = int(sets.offsets[place])
    ends = np.insert(sets.offsets[1:], place, at) + len(parents) * (
        np.arange(len(sets.scores) + 1) >= place
    )
    return ParentSets(
        np.insert(sets.scores, place, score),
        np.concatenate([[0], ends]).astype(np.int64),
        np.insert(sets.members, at, np.array(parents, np.int32)).astype(np.int32),
    )


# Statements about paths and open edges, turned into what single families and orders can keep.


def precedences(nodes: NodeKnowledge) -> tuple[tuple[int, int], ...]:
    """Pairs (first, later) of an order under which statements about ancestors are easier to keep.

    Where a must be an ancestor of b, a comes first. Where a must not be one, b comes first: every
    structure without a path from a to b has such an order, and no such order allows the path.
    Pairs that would close a cycle with those before them are left out.
    """
    after = nodes.required.copy()  # after[x, y]: x comes before y
    pairs = []
    wanted = [*nodes.ancestors, *((b, a) for a, b in nodes.non_ancestors)]
    for first, later in wanted:
        if not _reaches(after, later, first):
            after[first, later] = True
            pairs.append((first, later))
    return tuple(dict.fromkeys(pairs))


def narrowed(limits: Limits, nodes: NodeKnowledge, example: Dag) -> Limits:
    """Narrow limits until every structure within them obeys all statements about paths and edges.

    The example obeys them and stays within the limits. A path to each descendant to be and the
    direction of each open edge are taken from it. Where a must not be an ancestor of b, no arc may
    leave the set of a and its descendants in the example, so that nothing outside, such as b, can
    be reached.
    """
    names = nodes.names
    numbers = {name: i for i, name in enumerate(names)}
    allowed, required = limits.allowed.copy(), limits.required.copy()
    for a, b in nodes.required_edges:
        p, c = (a, b) if example.has_arc(names[a], names[b]) else (b, a)
        required[p, c] = True
        allowed[c, p] = False
    for a, b in nodes.ancestors:
        on_path = [b]
        while on_path[-1] != a:
            here = names[on_path[-1]]
            step = next(
                p
                for p in example.parents(here)
                if p == names[a] or names[a] in example.ancestors(p)
            )
            on_path.append(numbers[step])
        for p, c in zip(on_path[1:], on_path, strict=False):
            required[p, c] = True
            allowed[c, p] = False
    for a, _ in nodes.non_ancestors:
        inside = np.zeros(len(names), bool)
        inside[[a, *(numbers[d] for d in example.descendants(names[a]))]] = True
        allowed[np.ix_(inside, ~inside)] = False
    return Limits(allowed, required, limits.max_parents)


def _reaches(after: npt.NDArray[np.bool_], start: int, end: int) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        if here == end:
            return True
        for there in np.flatnonzero(after[here]).tolist():
            if there not in seen:
                seen.add(there)
                waiting.append(there)
    return False
