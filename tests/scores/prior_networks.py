"""Scores whose settings name variables: prior networks and tables of pseudo-counts at random."""

from itertools import combinations
from math import prod

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.scores.bd import BD
from bestdag.scores.bde import BDe


class Table:
    def __init__(self, parents, values):
        self.parents = parents
        self.values = np.array(values, dtype=float)


class PriorNet:
    """The least a prior network must be: {name: (parents, values)}, states "0", "1", ..."""

    def __init__(self, tables):
        self.given = tables
        arities = {name: np.shape(values)[-1] for name, (_, values) in tables.items()}
        self._variables = {n: Variable(n, tuple(map(str, range(r)))) for n, r in arities.items()}
        self.names = tuple(tables)

    def variable(self, name):
        return self._variables[name]

    def table(self, name):
        parents, values = self.given[name]
        return Table([self._variables[parent] for parent in parents], values)

    def __eq__(self, other):
        return isinstance(other, PriorNet) and repr(self.given) == repr(other.given)

    def __hash__(self):
        return hash(repr(self.given))


def net_over(rng, arities, *, max_parents=2):
    """A network over these variables with tables at random, parents in any order."""
    tables = {}
    for name in rng.permutation(list(arities)).tolist():
        parents = rng.permutation(sorted(tables))[: rng.integers(0, max_parents + 1)].tolist()
        shape = [arities[parent] for parent in parents]
        tables[name] = (parents, rng.dirichlet(np.ones(arities[name]), shape))
    return PriorNet(tables)


def random_net(rng, n, *, max_parents=2, max_arity=3, min_arity=1):
    arities = rng.integers(min_arity, max_arity + 1, n).tolist()
    names = [f"v{i:03}" for i in range(n)]
    return net_over(rng, dict(zip(names, arities, strict=True)), max_parents=max_parents)


def random_data(rng, net, n_rows):
    variables = [net.variable(name) for name in net.names]
    return Dataset(
        variables, [rng.integers(0, v.arity, n_rows).astype(np.uint8) for v in variables]
    )


def bde_for(dataset, *, ess=3.0, max_parents=2):
    """BDe whose prior network has the variables of the data and three more."""
    arities = {**dataset.arities, "a hidden one": 3, "v1 hidden": 2, "z": 2}
    net = net_over(np.random.default_rng(5), arities, max_parents=max_parents)
    return BDe(prior=net, ess=ess)


def bd_for(dataset, max_parents=4):
    """BD with a table for every family."""
    rng = np.random.default_rng(6)
    tables = {}
    for child in dataset.names:
        others = [name for name in dataset.names if name != child]
        for k in range(min(max_parents, len(others)) + 1):
            for parents in combinations(others, k):
                q = prod(dataset.arities[parent] for parent in parents)
                tables[child, parents] = rng.gamma(1.0, size=(q, dataset.arities[child])) + 1e-3
    return BD(tables=tables)


def knotted_net(n):
    """Its last variable depends on every pair of n hidden ones: products of 2^n cells and more."""
    rng = np.random.default_rng(0)
    tables = {f"h{i:02}": ([], [0.4, 0.6]) for i in range(n)}
    before = []
    for k, (i, j) in enumerate(combinations(range(n), 2)):
        parents = [*before, f"h{i:02}", f"h{j:02}"]
        tables[f"x{k:03}"] = (parents, rng.dirichlet([1, 1], [2] * len(parents)))
        before = [f"x{k:03}"]
    return PriorNet(tables), before[0]


BOUND_SCORES = {"bde with a prior network": bde_for, "bd with tables": bd_for}
