"""Score tables made for tests, and slow independent answers to them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from bestdag.graph.enumeration import all_dags
from bestdag.scores.table import ScoreTable

NAMES = tuple("abcdefghijklmnopqrstuvwxyz") + tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def make_table(sets):
    """A table from one {tuple of parent numbers: score} per child."""
    names = NAMES[: len(sets)]
    lists = {
        name: [(score, [names[p] for p in parents]) for parents, score in children.items()]
        for name, children in zip(names, sets, strict=True)
    }
    return ScoreTable.from_lists(names, lists)


def random_table(n, n_sets, seed, *, max_parents=4, scale=100.0, empty=True):
    """Random candidate sets; larger ones tend to score higher, and the empty one worst."""
    rng = np.random.default_rng(seed)
    tables = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        sets = {(): -scale * (1.5 + rng.random())} if empty or not others else {}
        for _ in range(n_sets if others else 0):
            size = rng.integers(1, min(max_parents, len(others)) + 1)
            parents = tuple(sorted(rng.choice(others, size, replace=False).tolist()))
            sets[parents] = -scale * (rng.random() + 0.2 / size)
        tables.append(sets)
    return make_table(tables)


def best_of_all_dags(table):
    """The best total over every DAG on at most five nodes."""
    families = [
        {frozenset(parents): score for score, parents in table.sets(name)} for name in table.names
    ]
    totals = [-math.inf]
    for dag in all_dags(table.names):
        scores = [
            sets.get(frozenset(dag.parents(name)))
            for name, sets in zip(table.names, families, strict=True)
        ]
        if None not in scores:
            totals.append(math.fsum(scores))
    return max(totals)


def best_by_choices(table):
    """The best total over every acyclic choice of one candidate set per child."""
    children = [list(table.child(i)) for i in range(len(table.names))]
    totals = [
        math.fsum(score for score, _ in choice)
        for choice in product(*children)
        if is_acyclic([parents for _, parents in choice])
    ]
    return max(totals, default=-math.inf)


def is_acyclic(parents):
    left = {v: set(group) for v, group in enumerate(parents)}
    while left:
        free = [v for v, group in left.items() if not group & left.keys()]
        if not free:
            return False
        for v in free:
            del left[v]
    return True


def best_by_recursion(table):
    """The best total by the recursion over subsets as it is written, in Python."""
    n = len(table.names)
    children = [
        [(score, sum(1 << p for p in parents)) for score, parents in table.child(i)]
        for i in range(n)
    ]
    best = [0.0] + [-math.inf] * (2**n - 1)
    for subset in range(1, 2**n):
        for v in range(n):
            rest = subset & ~(1 << v)
            if rest == subset:
                continue
            inside = next((s for s, mask in children[v] if not mask & ~rest), -math.inf)
            best[subset] = max(best[subset], best[rest] + inside)
    return best[-1]


def chosen_parents(table, result):
    return [table.child(i).parents(k) for i, k in enumerate(result.chosen)]
