"""Random DAGs, each with the same probability."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.errors import InvalidParameterError
from bestdag.wording import arg

__all__ = ["UniformDags"]

_MAX_NODES = 1_000
# Up to so many nodes the numbers of DAGs are whole numbers, beyond it their logarithms.
_MAX_EXACT = 40
# More nodes without parents than this have a probability below 2^-400.
_MOST_ROOTS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformDags:
    r"""All DAGs over the nodes, connected or not, with the same probability.

    Notes
    -----
    A DAG is drawn layer by layer: first the nodes without parents, then the nodes that have none
    when these are gone, and so on. With :math:`a_{n,k}` the number of DAGs over n nodes of which k
    have no parents,

    .. math::

        a_{n,k} = \binom{n}{k} \sum_{s=1}^{n-k} (2^k - 1)^s 2^{k(n-k-s)} a_{n-k,s}, \qquad
        a_{n,n} = 1.

    The numbers are exact up to 40 nodes; beyond, their logarithms are right to a relative error
    of 1e-9. Such a DAG has about n^2 / 4 arcs.

    References
    ----------
    .. [1] Kuipers and Moffa (2015). "Uniform random generation of large acyclic digraphs."
       Statistics and Computing 25.

    Examples
    --------
    >>> UniformDags().arcs(3, seed=1).tolist()
    [[2, 1], [2, 0]]
    """

    name: ClassVar[str] = "uniform"

    def arcs(self, n: int, seed: int) -> npt.NDArray[np.int64]:
        """Draw a DAG over the nodes 0 to n - 1."""
        if n > _MAX_NODES:
            raise InvalidParameterError(
                f"{self.name}: {arg('n')}: at most {_MAX_NODES:,} nodes, which have 250,000 arcs, "
                f"got {n:,}; use {arg('generator', 'order')}"
            )
        rng = random.Random(seed)
        sizes = layer_sizes(n, rng, exact=n <= _MAX_EXACT)
        nodes = list(range(n))
        rng.shuffle(nodes)
        arcs, first, before = [], 0, 0  # numbers of the first node of this layer, of the last one
        for size in sizes:
            for place in range(first, first + size):
                bits = rng.getrandbits(before) if before else 0
                if first:
                    n_last = first - before
                    bits |= rng.randrange(1, 1 << n_last) << before
                arcs += [
                    (nodes[k], nodes[place]) for k in range(place) if k < first and bits >> k & 1
                ]
            before, first = first, first + size
        return np.array(arcs, np.int64).reshape(-1, 2)


def layer_sizes(n: int, rng: random.Random, *, exact: bool) -> list[int]:
    """Draw how many nodes each layer of a uniform DAG has."""
    sizes: list[int] = []
    left, last = n, 0
    while left:
        weights = (_exact_weights if exact else _rounded_weights)(left, last)
        total = sum(weights)
        drawn = rng.randrange(int(total)) if exact else rng.random() * total
        size = 0
        while drawn >= 0 and size < len(weights):
            drawn -= weights[size]
            size += 1
        sizes.append(size)
        left, last = left - size, size
    return sizes


def _exact_weights(left: int, last: int) -> list[int]:
    """Weigh 1, 2, ... nodes in a layer, with `last` nodes in the layer before it."""
    counts = _counts(left)
    if last == 0:
        return list(counts[1:])
    return [((1 << last) - 1) ** s * (1 << last * (left - s)) * counts[s] for s in _sizes(left)]


@cache
def _counts(n: int) -> tuple[int, ...]:
    """Count the DAGs over n nodes of which 0, 1, ... n have no parents."""
    counts = [0]
    for k in _sizes(n):
        rest = sum(_exact_weights(n - k, k)) if k < n else 1
        counts.append(math.comb(n, k) * rest)
    return tuple(counts)


def _sizes(n: int) -> range:
    return range(1, n + 1)


def _rounded_weights(left: int, last: int) -> list[float]:
    logs = _log_counts(left)
    if last:
        logs = logs + np.arange(1, len(logs) + 1) * math.log1p(-(0.5**last))
    weights: list[float] = np.exp(logs - logs.max()).tolist()
    return weights


# Rows of logarithms for 0, 1, ... nodes; replaced as a whole, so threads may share it.
_known_logs: tuple[npt.NDArray[np.float64], ...] = (np.zeros(0),)


def _log_counts(n: int) -> npt.NDArray[np.float64]:
    """Take the logarithms of a_{n,1}, a_{n,2}, ..., without the smallest."""
    global _known_logs
    rows = list(_known_logs)
    for m in range(len(rows), n + 1):
        row = np.empty(min(m, _MOST_ROOTS))
        for k in range(1, len(row) + 1):
            log_comb = math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1)
            rest = 0.0
            if k < m:
                logs = rows[m - k]
                logs = logs + np.arange(1, len(logs) + 1) * math.log1p(-(0.5**k))
                rest = k * (m - k) * math.log(2) + float(np.logaddexp.reduce(logs))
            row[k - 1] = log_comb + rest
        rows.append(row)
    if len(rows) > len(_known_logs):
        _known_logs = tuple(rows)
    return rows[n]
