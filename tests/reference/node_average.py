"""Node-average likelihood by another route: the mean over rows of the log of each row's share."""

from __future__ import annotations

from math import inf, log

__all__ = ["node_average"]


def node_average(rows, weights, child, parents, arities, rate):
    """Score one family; `rows` are tuples with None where a value is missing."""
    family = [*parents, child]
    shown = [
        (row, weight)
        for row, weight in zip(rows, weights, strict=True)
        if weight > 0 and all(row[i] is not None for i in family)
    ]
    if not shown:
        return -inf
    total = sum(weight for _, weight in shown)
    mean = 0.0
    for row, weight in shown:
        alike = [(r, w) for r, w in shown if all(r[p] == row[p] for p in parents)]
        same = sum(w for r, w in alike if r[child] == row[child])
        mean += weight / total * log(same / sum(w for _, w in alike))
    n_parameters = arities[child] - 1
    for parent in parents:
        n_parameters *= arities[parent]
    return mean - rate * n_parameters
