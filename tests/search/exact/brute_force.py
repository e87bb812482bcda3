"""Random score tables, and their optima found by slow code that shares nothing with the engines."""

from __future__ import annotations

import itertools
import random
from math import fsum

from bestdag.scores.table import ScoreTable

__all__ = ["best_by_dp", "best_by_enumeration", "random_table"]


def random_table(
    rng: random.Random, n: int, *, keep: float = 0.7, scale: float = 10.0, ties: bool = False
) -> ScoreTable:
    """A table in which every child has its empty set and some others, at random scores."""
    names = [f"v{i}" for i in range(n)]
    lists = {}
    for child in range(n):
        others = [names[i] for i in range(n) if i != child]
        rows = []
        for size in range(n):
            for members in itertools.combinations(others, size):
                if size and rng.random() > keep:
                    continue
                score = rng.uniform(-scale, scale)
                rows.append((float(rng.randint(-3, 3)) if ties else score, list(members)))
        lists[names[child]] = rows
    return ScoreTable.from_lists(names, lists)


def _sets(table: ScoreTable) -> list[list[tuple[float, frozenset[int]]]]:
    return [
        [(score, frozenset(members)) for score, members in table.child(v)]
        for v in range(len(table.names))
    ]


def best_by_enumeration(table: ScoreTable) -> float | None:
    """Best score over all choices of one set per child without a cycle; None when there is none."""
    best = None
    for choice in itertools.product(*_sets(table)):
        if is_acyclic([parents for _, parents in choice]):
            score = fsum(s for s, _ in choice)
            best = score if best is None else max(best, score)
    return best


def is_acyclic(parents: list[frozenset[int]]) -> bool:
    left = set(range(len(parents)))
    while left:
        ready = {v for v in left if not parents[v] & left}
        if not ready:
            return False
        left -= ready
    return True


def best_by_dp(table: ScoreTable) -> float | None:
    """Best score by the recursion over the last variable of each subset (Silander, Myllymaki)."""
    sets = _sets(table)
    n = len(sets)
    best: dict[frozenset[int], float] = {frozenset(): 0.0}
    for size in range(1, n + 1):
        for members in itertools.combinations(range(n), size):
            subset = frozenset(members)
            options = []
            for last in members:
                rest = subset - {last}
                fits = [score for score, parents in sets[last] if parents <= rest]
                if rest in best and fits:
                    options.append(best[rest] + max(fits))
            if options:
                best[subset] = max(options)
    return best.get(frozenset(range(n)))
