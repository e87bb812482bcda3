"""Climbing to a local optimum, and on from there to a better one."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable
from itertools import chain

from bestdag.search.climbing.walk import ADD, REMOVE, Mark, Move, Walk
from bestdag.search.feasible import Parents
from bestdag.search.steps import Steps

__all__ = ["Reinsertion", "ascend"]

# With more variables to try once, those with many arcs come first: they gain most, in the time
# there is. With fewer the end is near in any case, and on dense tables it is lower that way.
_MANY_VARIABLES = 200


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

    @property
    def home(self) -> Mark:
        """The structure found so far."""
        return self._home

    def go_to(self, parents: Parents) -> Steps:
        """Go on from another local optimum."""
        yield from self._walk.go_to(parents, "go on elsewhere")
        self._settle()

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
                self._settle()
            else:
                yield from walk.return_to(self._home)

    def _settle(self) -> None:
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
