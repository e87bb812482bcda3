"""Posterior probabilities by listing every DAG, and its linear extensions."""

from __future__ import annotations

import functools
import math

import numpy as np

from bestdag.graph.enumeration import all_dags

__all__ = ["Enumerated", "enumerated", "n_linear_extensions"]


def n_linear_extensions(dag):
    """Count the orders of the nodes that a DAG follows: each ends with a node without children."""
    number = {node: k for k, node in enumerate(dag.nodes)}
    children = [sum(1 << number[c] for c in dag.children(node)) for node in dag.nodes]

    @functools.cache
    def count(left):
        if not left:
            return 1
        last = [k for k in range(len(children)) if left >> k & 1 and not left & children[k]]
        return sum(count(left & ~(1 << k)) for k in last)

    return count((1 << len(children)) - 1)


@functools.cache
def _listed(names):
    """List all DAGs once, with their arcs and the logarithms of their numbers of orders."""
    dags = list(all_dags(names))
    arcs = np.array([[[a in d.parents(b) for b in names] for a in names] for d in dags])
    return dags, arcs, np.log([n_linear_extensions(dag) for dag in dags])


class Enumerated:
    """Every DAG with its posterior probability."""

    def __init__(self, names, dags, arcs, logs):
        self.names, self.dags, self._arcs = names, dags, arcs
        largest = logs.max()
        weights = np.exp(logs - largest)
        self.log_total = largest + math.log(weights.sum())
        self.probabilities = weights / weights.sum()

    def arcs(self):
        return np.tensordot(self.probabilities, self._arcs.astype(float), axes=1)

    def ancestors(self):
        longer = paths = self._arcs.astype(int)
        for _ in self.names:  # one arc more each time
            longer = longer @ self._arcs
            paths = paths + longer
        return np.tensordot(self.probabilities, (paths > 0).astype(float), axes=1)

    def parent_set(self, child, parents):
        wanted = np.array([name in parents for name in self.names])
        same = (self._arcs[:, :, self.names.index(child)] == wanted).all(axis=1)
        return self.probabilities[same].sum()


def enumerated(names, local, prior):
    """List all DAGs; `local(child, parents)` is a logarithm, minus infinity for what is refused."""
    names = tuple(sorted(names))
    dags, arcs, log_orders = _listed(names)
    logs = log_orders.copy() if prior == "order" else np.zeros(len(dags))
    for j, child in enumerate(names):
        masks = arcs[:, :, j] @ (1 << np.arange(len(names)))
        for mask in np.unique(masks).tolist():
            parents = frozenset(name for k, name in enumerate(names) if mask >> k & 1)
            logs[masks == mask] += local(child, parents)
    return Enumerated(names, dags, arcs, logs)
