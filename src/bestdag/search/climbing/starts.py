"""Structures to start from: empty, random, or a tree."""

from __future__ import annotations

import math

import numpy as np

from bestdag.search.climbing.feasible import Parents
from bestdag.search.climbing.walk import ADD, Move, Walk

__all__ = ["Draws", "random_parents", "tree_parents"]

# Tries for each arc of a random structure; where arcs are hard to place there are fewer.
_TRIES_PER_ARC = 20


class Draws:
    """A stream of random moves: a function of the seed and the stream's number alone."""

    def __init__(self, walk: Walk, stream: int) -> None:
        self._climb = walk.climb
        self._seed = walk.problem.seed % 2**64
        self._stream = stream
        self.counter = 0

    def move(self, temperature: float, n_tries: int, *, only_add: bool = False) -> Move | None:
        """Return the first of some random moves that is accepted."""
        found, self.counter = self._climb.propose(
            temperature, n_tries, only_add, self._seed, self._stream, self.counter
        )
        return found

    def scramble(self, n_moves: int, *, only_add: bool = False) -> list[Move]:
        """Make random legal moves, unscored, and return them."""
        moves = []
        for _ in range(n_moves):
            move = self.move(math.inf, _TRIES_PER_ARC, only_add=only_add)
            if move is not None:
                self._climb.apply(*move[:3])
                moves.append(move)
        return moves


def random_parents(walk: Walk, stream: int) -> Parents:
    """Draw a structure with about as many arcs as variables, which obeys the knowledge."""
    walk.climb.reset(walk.base)
    Draws(walk, stream).scramble(len(walk.base), only_add=True)
    return walk.climb.parents()


def tree_parents(walk: Walk) -> Parents:
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
    """Return the neighbours of each variable in a forest of arcs that gain (Kruskal)."""
    n = len(walk.base)
    gains: dict[tuple[int, int], float] = {}
    for rows in walk.rows.score([(child, [], None) for child in range(n)]):
        walk.check_time()
        walk.set_tie(np.array([score for _, (score, _) in rows]))
        for child, (score, changed) in rows:
            for parent, gain in zip(
                walk.rows.candidates[child].tolist(), (changed - score).tolist(), strict=True
            ):
                pair = (min(parent, child), max(parent, child))
                gains[pair] = max(gain, gains.get(pair, 0.0))
    part = list(range(n))

    def find(node: int) -> int:
        while part[node] != node:
            part[node] = part[part[node]]
            node = part[node]
        return node

    for child, group in enumerate(walk.base):
        for parent in group:
            part[find(parent)] = find(child)
    neighbours: list[list[int]] = [[] for _ in range(n)]
    # Equal gains, up to rounding: the first pair.
    ranked = sorted(gains, key=lambda pair: (-round(gains[pair] / walk.tie), pair))
    for one, other in ranked:
        if gains[one, other] > walk.tie and find(one) != find(other):
            part[find(one)] = find(other)
            neighbours[one].append(other)
            neighbours[other].append(one)
    return [sorted(group) for group in neighbours]
