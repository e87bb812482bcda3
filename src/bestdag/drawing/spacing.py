"""Places along a line, as near as may be to where things would like to be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["spread"]


def spread(
    wishes: Sequence[float], distances: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """Place things in a given order, each at least a distance after the one before it.

    The places minimise the weighted sum of squared differences from the wishes. With the
    distances taken out this is isotonic regression, solved by pooling adjacent violators.

    Parameters
    ----------
    wishes : sequence of float
        Where each thing would like to be.
    distances : sequence of float
        Between each thing and the next: one fewer than there are things.
    weights : sequence of float
        How much each wish counts, above zero.

    Examples
    --------
    >>> spread([0.0, 10.0], [2.0], [1.0, 1.0])
    [0.0, 10.0]
    >>> spread([0.0, 0.0, 0.0], [2.0, 2.0], [1.0, 1.0, 1.0])
    [-2.0, 0.0, 2.0]
    """
    if all(b - a >= gap for (a, b), gap in zip(pairwise(wishes), distances, strict=True)):
        return list(wishes)
    offsets = [0.0]
    for distance in distances:
        offsets.append(offsets[-1] + distance)
    pools: list[tuple[float, float, int]] = []  # mean, weight, number of things
    for wish, offset, weight in zip(wishes, offsets, weights, strict=True):
        mean, total, size = wish - offset, weight, 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_size = pools.pop()
            mean = (mean * total + other * other_weight) / (total + other_weight)
            total, size = total + other_weight, size + other_size
        pools.append((mean, total, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
