"""Posterior probabilities by listing every DAG, and its linear extensions."""

from __future__ import annotations

import math

import numpy as np

from bestdag.graph.enumeration import all_dags

__all__ = ["Enumerated", "enumerated", "n_linear_extensions"]


def n_linear_extensions(dag):
    """Count the orders of the nodes that a DAG follows: each ends with a node without children."""
    number = {node: k for k, node in enumerate(dag.nodes)}
    children = [sum(1 << number[c] for c in dag.children(node)) for node in dag.nodes]

    def count(left):
        if not left:
            return 1
        last = [k for k in range(len(children)) if left >> k & 1 and not left & children[k]]
        return sum(count(left & ~(1 << k)) for k in last)

    return count((1 << len(children)) - 1)


class Enumerated:
    """Every DAG with its posterior probability."""

    def __init__(self, names, dags, logs):
        self.names = tuple(names)
        self.dags = dags
        largest = max(logs)
        weights = np.exp(np.array(logs) - largest)
        self.log_total = largest + math.log(weights.sum())
        self.probabilities = weights / weights.sum()

    def matrix(self, holds):
        n = len(self.names)
        out = np.zeros((n, n))
        for dag, probability in zip(self.dags, self.probabilities, strict=True):
            for i, one in enumerate(self.names):
                for j, other in enumerate(self.names):
                    if i != j and holds(dag, one, other):
                        out[i, j] += probability
        return out

    def arcs(self):
        return self.matrix(lambda dag, a, b: a in dag.parents(b))

    def ancestors(self):
        return self.matrix(lambda dag, a, b: a in dag.ancestors(b))

    def parent_set(self, child, parents):
        return sum(
            probability
            for dag, probability in zip(self.dags, self.probabilities, strict=True)
            if set(dag.parents(child)) == set(parents)
        )


_EXTENSIONS = {}


def enumerated(names, local, prior):
    """List all DAGs; `local(child, parents)` is a logarithm, minus infinity for what is refused."""
    kept, logs = [], []
    for dag in all_dags(names):
        log = math.fsum(local(node, frozenset(dag.parents(node))) for node in dag.nodes)
        if log == -math.inf:
            continue
        if prior == "order":
            key = (tuple(sorted(names)), dag.arcs)
            if key not in _EXTENSIONS:
                _EXTENSIONS[key] = n_linear_extensions(dag)
            log += math.log(_EXTENSIONS[key])
        kept.append(dag)
        logs.append(log)
    return Enumerated(sorted(names), kept, logs)
