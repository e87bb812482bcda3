"""Climbing to a local optimum, and on from there to a better one."""

from __future__ import annotations

import math
from collections import deque

from bestdag.search.climbing.walk import ADD, REMOVE, Move, Walk
from bestdag.search.feasible import Parents

__all__ = ["ascend", "reinsert"]


def ascend(walk: Walk) -> None:
    """Take the best move until none gains."""
    while True:
        walk.check_time()
        move = walk.climb.best(walk.tie)
        if move is None or not move[3] > walk.tie:
            return
        walk.make([_better_direction(walk, move)])


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


def reinsert(walk: Walk) -> None:
    """Cut each variable loose from its parents and children, climb again, keep what is better.

    It begins at the current structure, a local optimum, and ends at the one found. A variable is
    tried again when an arc of its own has changed since; in the end no single move and no such
    cut gains.
    """
    waiting = deque(range(len(walk.base)))
    home = walk.mark()
    while waiting:
        node = waiting.popleft()
        walk.check_time()
        moves = _cut(walk, home.parents, node)
        if not moves:
            continue
        walk.jump(moves, f"cut {walk.nodes.names[node]} loose")
        ascend(walk)
        if walk.score > home.score + walk.tie:
            left, home = home.parents, walk.mark()
            waiting.extend(v for v in _touched(left, home.parents) if v not in waiting)
        else:
            walk.return_to(home)


def _cut(walk: Walk, parents: Parents, node: int) -> list[Move]:
    """Remove the arcs of one variable that may go, unscored."""
    arcs = [(parent, node) for parent in parents[node]]
    arcs += [(node, child) for child, group in enumerate(parents) if node in group]
    moves: list[Move] = []
    for arc in arcs:
        if walk.climb.can(REMOVE, *arc):
            walk.climb.apply(REMOVE, *arc)
            moves.append((REMOVE, *arc, math.nan))
    return moves


def _touched(before: Parents, after: Parents) -> list[int]:
    """List the variables at the ends of arcs that differ, ascending."""
    touched: set[int] = set()
    for child, (old, new) in enumerate(zip(before, after, strict=True)):
        changed = set(old).symmetric_difference(new)
        if changed:
            touched.update(changed, [child])
    return sorted(touched)
