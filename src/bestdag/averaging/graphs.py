"""The averaged network: the edges that are probable enough, in their more probable directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag

__all__ = ["averaged_dag", "averaged_pdag"]

_Matrix = npt.NDArray[np.float64]


class _Growing:
    """Arcs one after the other, and whether the next would close a cycle."""

    def __init__(self, n: int) -> None:
        self._reaches = np.eye(n, dtype=np.bool_)

    def closes_cycle(self, parent: int, child: int) -> bool:
        return bool(self._reaches[child, parent])

    def add(self, parent: int, child: int) -> None:
        self._reaches |= np.outer(self._reaches[:, parent], self._reaches[child])


def averaged_dag(names: Sequence[str], matrix: _Matrix, threshold: float) -> Dag:
    """Join the pairs with an edge above the threshold; the surest arcs come first.

    An arc that would close a cycle is turned round.
    """
    arcs, growing = [], _Growing(len(names))
    for parent, child in _probable(matrix, threshold):
        if growing.closes_cycle(parent, child):
            parent, child = child, parent
        growing.add(parent, child)
        arcs.append((names[parent], names[child]))
    return Dag(names, arcs)


def averaged_pdag(
    names: Sequence[str], matrix: _Matrix, threshold: float, direction: float
) -> Pdag:
    """Do the same; an edge is directed where its share of one direction exceeds `direction`.

    An arc that would close a cycle of arcs stays an edge.
    """
    arcs, edges, growing = [], [], _Growing(len(names))
    for parent, child in _probable(matrix, threshold):
        share = matrix[parent, child] / (matrix[parent, child] + matrix[child, parent])
        pair = (names[parent], names[child])
        if share > direction and not growing.closes_cycle(parent, child):
            growing.add(parent, child)
            arcs.append(pair)
        else:
            edges.append(pair)
    return Pdag(names, arcs, edges)


def _probable(matrix: _Matrix, threshold: float) -> Iterator[tuple[int, int]]:
    """List the more probable arc of each edge above the threshold, the surest first."""
    edge = matrix + matrix.T
    ones, others = np.nonzero(np.triu(edge > threshold, 1))
    pairs = [
        (i, j) if matrix[i, j] >= matrix[j, i] else (j, i)
        for i, j in zip(ones.tolist(), others.tolist(), strict=True)
    ]
    pairs.sort(key=lambda pair: (-matrix[pair], pair))
    return iter(pairs)
