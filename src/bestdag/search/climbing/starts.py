"""Where a walk begins: at a structure that is given, empty, random, or a tree."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np

from bestdag import _core
from bestdag.errors import require_count
from bestdag.search.climbing.walk import ADD, Move, Walk
from bestdag.search.feasible import Parents
from bestdag.search.problem import Problem
from bestdag.search.steps import Event

__all__ = ["STARTS", "Draws", "begun_walk", "random_parents", "require_limits"]

STARTS = ("empty", "random", "tree")

# Tries for each arc of a random structure; where arcs are hard to place there are fewer.
_TRIES_PER_ARC = 20
_LARGEST_WEIGHT = 1e300


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


def require_limits(who: str, candidates: int | None, max_steps: int | None) -> None:
    """Check settings that several searches have."""
    if candidates is not None:
        require_count(who, "candidates", candidates, minimum=1)
    if max_steps is not None:
        require_count(who, "max_steps", max_steps)


def begun_walk(
    search: Any, problem: Problem, *, start_from: str = "empty"
) -> Generator[Event, None, Walk]:
    """Make the walk that the settings of a search ask for, and score its first structure."""
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
        first = tree_parents(walk)
    yield from walk.begin(first)
    return walk


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
