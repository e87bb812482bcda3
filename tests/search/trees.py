"""Small data and all trees over them, for tests of the searches for trees."""

import itertools

import numpy as np

from tests.conftest import make_dataset


def random_data(seed, n, n_rows=60):
    """Columns of two to four states that depend on the one before; names not in column order."""
    rng = np.random.default_rng(seed)
    columns, before = {}, np.zeros(n_rows, int)
    for k, name in enumerate("fedcba"[-n:]):
        arity = 2 + (k + seed) % 3
        noise = rng.integers(0, arity, n_rows)
        before = np.where(rng.random(n_rows) < 0.5, before % arity, noise)
        columns[name] = before.tolist()
    return make_dataset(
        columns, arities={name: 2 + (k + seed) % 3 for k, name in enumerate(columns)}
    )


def spanning_trees(n):
    """Edges of all n^(n - 2) trees over 0 ... n - 1, from their Prüfer sequences."""
    if n == 1:
        yield ()
        return
    for sequence in itertools.product(range(n), repeat=n - 2):
        degree = [1 + sequence.count(node) for node in range(n)]
        edges = []
        for node in sequence:
            leaf = degree.index(1)
            edges.append((leaf, node))
            degree[leaf] -= 1
            degree[node] -= 1
        edges.append(tuple(node for node in range(n) if degree[node] == 1))
        yield tuple(edges)


def directed(n, edges, root):
    """Parents when all edges lead away from the root, -1 for the root."""
    parents, reached = [-1] * n, [root]
    for node in reached:
        for edge in edges:
            if node in edge:
                other = edge[0] if edge[1] == node else edge[1]
                if other != root and parents[other] == -1:
                    parents[other] = node
                    reached.append(other)
    return tuple(parents)


def arborescences(n):
    """All n^(n - 1) directed trees, as parents."""
    return [directed(n, edges, root) for edges in spanning_trees(n) for root in range(n)]


def forests(n):
    """All (n + 1)^(n - 1) structures with at most one parent each: trees from one more node."""
    for edges in spanning_trees(n + 1):
        parents = directed(n + 1, edges, n)
        yield tuple(-1 if p == n else p for p in parents[:n])
