"""Climbing: from a first structure to a local optimum, and on from there to a better one."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Generator, Iterable
from itertools import chain
from typing import Any

import numpy as np

from bestdag import _core
from bestdag.errors import require_count
from bestdag.graph.dag import Dag
from bestdag.search.climbing.walk import ADD, REMOVE, Move, Walk
from bestdag.search.feasible import Parents
from bestdag.search.problem import Problem
from bestdag.search.steps import Event, Steps

__all__ = [
    "STARTS",
    "Draws",
    "Reinsertion",
    "ascend",
    "begun_walk",
    "random_parents",
    "require_limits",
]

STARTS = ("empty", "random", "tree")
# Tries for each arc of a random structure; where arcs are hard to place there are fewer.
_TRIES_PER_ARC = 20
_LARGEST_WEIGHT = 1e300

# With more variables to try once, those with many arcs come first: they gain most, in the time
# there is. With fewer the end is near in any case, and on dense tables it is lower that way.
_MANY_VARIABLES = 200


class Draws:
    """A stream of random moves: a function of the seed and the stream's number alone."""

    def __init__(self, walk: Walk, stream: int) -> None:
        self._climb = walk.climb
        self._seed = walk.problem.seed % 2**64
        self._stream = stream
        self.counter = 0

    def move(self, temperature: float, n_tries: int, *, only_add: bool = False) -> Move | None:
        """Return the first of some random moves that is accepted."""
        move, self.counter = self._climb.propose(
            temperature, n_tries, only_add, self._seed, self._stream, self.counter
        )
        return move

    def scramble(self, n_moves: int, *, only_add: bool = False) -> list[Move]:
        """Make random legal moves, unscored, and return them."""
        moves = []
        for _ in range(n_moves):
            move = self.move(math.inf, _TRIES_PER_ARC, only_add=only_add)
            if move is not None:
                self._climb.apply(*move[:3])
                moves.append(move)
        return moves


def require_limits(who: str, candidates: int | None, max_steps: int | None) -> None:
    """Check settings that several searches have."""
    if candidates is not None:
        require_count(who, "candidates", candidates, minimum=1)
    if max_steps is not None:
        require_count(who, "max_steps", max_steps)


def begun_walk(
    search: Any, problem: Problem, *, start_from: str | Dag = "empty"
) -> Generator[Event, None, Walk]:
    """Make the walk that the settings of a search ask for, and score its first structure."""
    if isinstance(start_from, Dag):
        problem = problem.starting_from(start_from)
    walk = Walk(
        search.name,
        problem,
        problem.nodes,
        n_candidates=search.candidates,
        max_steps=search.max_steps,
        remember=True,
    )
    yield from walk.prepare()
    first = walk.base
    if problem.start is None and start_from == "random":
        first = random_parents(walk, 0)
    elif problem.start is None and start_from == "tree":
        first = _tree_parents(walk)
    yield from walk.begin(first)
    return walk


def random_parents(walk: Walk, stream: int) -> Parents:
    """Draw a structure with about as many arcs as variables, which obeys the knowledge."""
    walk.climb.reset(walk.base)
    Draws(walk, stream).scramble(len(walk.base), only_add=True)
    return walk.climb.parents()


def _tree_parents(walk: Walk) -> Parents:
    """Return a tree of highest score: a maximum spanning tree of the gains of single arcs.

    It is rooted in the first variable. Where knowledge speaks against the direction away from
    the root, the arc is turned round or left out; what the knowledge requires is there first.
    """
    climb, n = walk.climb, len(walk.base)
    climb.reset(walk.base)
    neighbours = _spanning_tree(walk)
    seen = [False] * n
    for root in range(n):
        waiting = [] if seen[root] else [root]
        seen[root] = True
        for node in waiting:  # grows while it is walked
            for other in neighbours[node]:
                if seen[other]:
                    continue
                seen[other] = True
                waiting.append(other)
                for arc in ((node, other), (other, node)):
                    if climb.can(ADD, *arc):
                        climb.apply(ADD, *arc)
                        break
    return climb.parents()


def _spanning_tree(walk: Walk) -> list[list[int]]:
    """Return the neighbours of each variable in a forest of arcs that gain."""
    n = len(walk.base)
    gains = np.zeros((n, n))
    for rows in walk.rows.score([(child, [], None) for child in range(n)]):
        walk.check_time()
        walk.set_tie(np.array([score for _, (score, _) in rows]))
        for child, (score, changed) in rows:
            gains[walk.rows.candidates[child], child] = changed - score
    weights = np.rint(np.maximum(gains, gains.T) / walk.tie)  # equal but for rounding: equal
    weights[weights <= 1] = -np.inf
    for child, group in enumerate(walk.base):  # these are there already
        weights[group, child] = weights[child, group] = _LARGEST_WEIGHT
    parents = np.full(n, -1, np.int32)
    _core.maximum_spanning_tree(weights, 0, parents)
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for child, parent in enumerate(parents.tolist()):
        if parent >= 0:
            neighbours[parent].append(child)
            neighbours[child].append(parent)
    return [sorted(group) for group in neighbours]


def ascend(walk: Walk) -> Steps:
    """Take the best move until none gains."""
    while True:
        move = walk.climb.best(walk.tie)
        if move is None or not move[3] > walk.tie:
            return
        yield from walk.make([_better_direction(walk, move)])


def _better_direction(walk: Walk, move: Move) -> Move:
    """Choose between a new arc and its reverse where both gain the same.

    The first arcs of a structure nearly always gain the same in both directions. The better one
    lets the move after it gain more.
    """
    kind, parent, child, gain = move
    climb = walk.climb
    if kind != ADD or not climb.can(ADD, child, parent):
        return move
    other = (ADD, child, parent, climb.gain(ADD, child, parent))
    if not other[3] >= gain - walk.tie:
        return move
    walk.foresee([(child, parent), (parent, child)])
    return other if _next_gain(walk, other) > _next_gain(walk, move) + walk.tie else move


def _next_gain(walk: Walk, move: Move) -> float:
    """Return what the best move after this addition gains; the structure stays as it is."""
    climb = walk.climb
    _, parent, child, _ = move
    before = climb.score(child), climb.row(child)
    climb.apply(ADD, parent, child)
    walk.score_family(child)
    after = climb.best(walk.tie)
    climb.apply(REMOVE, parent, child)
    climb.set_row(child, *before)
    return -math.inf if after is None else after[3]


class Reinsertion:
    """Cut variables loose from their parents and children, climb again, keep what is better.

    It begins at the current structure of a walk, a local optimum, and ends at the one found. Of
    many variables the one with most arcs comes next, which gains most. A variable is tried again
    when an arc of its own has changed since; when none is left to try, no single move and no such
    cut gains.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._home = walk.mark()
        self._waiting = deque(_busiest_first(self._home.parents, range(len(walk.base))))

    def go_to(self, parents: Parents) -> Steps:
        """Go on from another local optimum."""
        yield from self._walk.go_to(parents, "go on elsewhere")
        self._make_home()

    def run(self, n_cuts: float = math.inf) -> Steps:
        """Make so many cuts, or all."""
        walk = self._walk
        while self._waiting and n_cuts > 0:
            node = self._waiting.popleft()
            moves = _cut(walk, self._home.parents, node)
            if not moves:
                continue
            n_cuts -= 1
            yield from walk.jump(moves, f"cut {walk.nodes.names[node]} loose")
            yield from ascend(walk)
            if walk.score > self._home.score + walk.tie:
                self._make_home()
            else:
                yield from walk.return_to(self._home)

    def _make_home(self) -> None:
        left, self._home = self._home.parents, self._walk.mark()
        touched = _touched(left, self._home.parents)
        if len(left) > _MANY_VARIABLES:
            self._waiting = deque(_busiest_first(self._home.parents, touched.union(self._waiting)))
        else:
            self._waiting.extend(sorted(touched.difference(self._waiting)))


def _cut(walk: Walk, parents: Parents, node: int) -> list[Move]:
    """Remove the arcs of one variable that may go, unscored."""
    arcs = [(parent, node) for parent in parents[node]]
    arcs += [(node, child) for child in walk.climb.children_of(node)]
    moves: list[Move] = []
    for arc in arcs:
        if walk.climb.can(REMOVE, *arc):
            walk.climb.apply(REMOVE, *arc)
            moves.append((REMOVE, *arc, math.nan))
    return moves


def _busiest_first(parents: Parents, variables: Iterable[int]) -> list[int]:
    """Sort variables by their number of arcs, falling, where there are many; else by number."""
    if len(parents) <= _MANY_VARIABLES:
        return sorted(variables)
    n_children = Counter(chain.from_iterable(parents))
    return sorted(variables, key=lambda v: (-len(parents[v]) - n_children[v], v))


def _touched(before: Parents, after: Parents) -> set[int]:
    """Return the variables at the ends of arcs that differ."""
    touched: set[int] = set()
    for child, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            touched.update(set(old).symmetric_difference(new), [child])
    return touched
