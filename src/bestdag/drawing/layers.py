"""The connected parts of a graph in layers: which layer, which order, and where along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bestdag.drawing.ordering import ordered
from bestdag.drawing.ranks import Link, directed, ranks

__all__ = ["BEND_WIDTH", "Component", "components", "spread"]

# Room that an arc takes where it crosses a layer, and room between neighbours.
BEND_WIDTH = 12.0
_GAP = 18.0
# Rounds in which each layer moves towards its neighbours above and below.
# Long steps bring far bends home sooner (successive over-relaxation); the last ones settle.
_N_ROUNDS, _N_LAST_ROUNDS = 240, 20
# So many pieces pull at most, in all rounds but the last ones.
_MOVES = 400_000
_LONG_STEP = 1.8
# Every so many rounds it is looked whether anything still moves; pictures show a tenth of a point.
_LOOK_EVERY, _STILL = 7, 0.05
# How much a link counts that joins two nodes, a node and a bend, two bends: long arcs are straight
# (Gansner, Koutsofios, North and Vo 1993, "A technique for drawing directed graphs", section 4).
_PULL = (1.0, 2.0, 8.0)
# Where all links together would need more bends, the longest do without: they are drawn as one
# curve over the nodes in between. No reader can follow them in such a picture anyway.
_MOST_BENDS = 8_000


@dataclass(frozen=True, slots=True)
class Component:
    """A connected part of a graph in layers; bends are where arcs cross a layer.

    Attributes
    ----------
    layers : list of list of int
        Nodes and bends from the top down, each layer from the left; bends are numbered after
        the nodes.
    x : dict of int to float
        Where the middle of each node and bend is.
    chains : dict of (int, int) to list of int
        For each link, upper end first: what it passes, both ends included.
    """

    layers: list[list[int]]
    x: dict[int, float]
    chains: dict[tuple[int, int], list[int]]


def components(
    links: Sequence[Link], widths: Sequence[float], free: Sequence[Link] = ()
) -> list[Component]:
    """Put the connected parts of a graph in layers.

    Parameters
    ----------
    links : sequence of (int, int)
        Between nodes 0, 1, ...; first ends are above second ones unless links close a cycle.
    widths : sequence of float
        How wide each node is.
    free : sequence of (int, int)
        More links, of which either end may be above.

    Returns
    -------
    list of Component
        Of the nodes that have a link, in the order of their first nodes.
    """
    downward = sorted(directed(len(widths), links, free))
    near: dict[int, list[int]] = {}
    for upper, lower in downward:
        near.setdefault(upper, []).append(lower)
        near.setdefault(lower, []).append(upper)
    part: dict[int, int] = {}
    parts: list[list[int]] = []
    for root in sorted(near):
        if root in part:
            continue
        part[root] = len(parts)
        met = [root]
        for node in met:
            new = {other for other in near[node] if other not in part}
            part.update(dict.fromkeys(new, len(parts)))
            met += new
        parts.append(sorted(met))
    own: list[list[Link]] = [[] for _ in parts]
    for link in downward:
        own[part[link[0]]].append(link)
    return [_component(*one, widths) for one in zip(parts, own, strict=True)]


def _component(nodes: list[int], links: list[Link], widths: Sequence[float]) -> Component:
    """Put connected nodes in layers, with a bend where a link passes a layer."""
    number = {node: k for k, node in enumerate(nodes)}
    inner = [(number[a], number[b]) for a, b in links]
    rank = ranks(len(nodes), inner, [widths[node] for node in nodes])
    layers: list[list[int]] = [[] for _ in range(max(rank) + 1)]
    for k, level in enumerate(rank):
        layers[level].append(k)
    longest = _longest_with_bends([rank[b] - rank[a] for a, b in inner])
    pieces: list[Link] = []
    chains: list[list[int]] = []
    n = len(nodes)
    for a, b in inner:
        chain = [a]
        if rank[b] - rank[a] <= longest:
            for level in range(rank[a] + 1, rank[b]):
                layers[level].append(n)
                chain.append(n)
                n += 1
            pieces += pairwise([*chain, b])
        chains.append([*chain, b])
    # Numbers of bends come after those of all nodes, of this part and of others.
    outer = [*nodes, *range(len(widths), len(widths) + n - len(nodes))]
    layers = [[outer[thing] for thing in layer] for layer in ordered(layers, pieces)]
    whole = [[outer[thing] for thing in chain] for chain in chains]
    x = _positions(layers, [piece for chain in whole for piece in pairwise(chain)], widths)
    return Component(layers, x, dict(zip(links, whole, strict=True)))


def _longest_with_bends(spans: Sequence[int]) -> int:
    """Return how long links may be that get bends, such that there are not too many of them."""
    n_bends = 0
    for span in sorted(spans):
        n_bends += span - 1
        if n_bends > _MOST_BENDS:
            return max(1, span - 1)
    return max(spans)


def _positions(
    layers: list[list[int]], pieces: Sequence[Link], widths: Sequence[float]
) -> dict[int, float]:
    """Place all things: each layer moves towards its neighbours in turn, with room for names."""
    n_nodes = len(widths)
    near: dict[int, list[tuple[int, float]]] = {thing: [] for layer in layers for thing in layer}
    for upper, lower in sorted(pieces):
        pull = _PULL[(upper >= n_nodes) + (lower >= n_nodes)]
        near[upper].append((lower, pull))
        near[lower].append((upper, pull))
    weights = [[sum(pull for _, pull in near[thing]) for thing in layer] for layer in layers]
    room = [[_room(a, b, widths) for a, b in pairwise(layer)] for layer in layers]
    x: dict[int, float] = {}
    for layer, distances, weight in zip(layers, room, weights, strict=True):
        x.update(zip(layer, spread([0.0] * len(layer), distances, weight), strict=True))
    n_rounds = max(_N_LAST_ROUNDS, min(_N_ROUNDS, _MOVES // len(pieces)))
    for step, n in ((_LONG_STEP, n_rounds - _N_LAST_ROUNDS), (1.0, _N_LAST_ROUNDS)):
        for round_ in range(n):
            is_looked_at = round_ % _LOOK_EVERY == 0
            before = dict(x) if is_looked_at else {}
            numbers = range(len(layers))
            for number in numbers if round_ % 2 == 0 else reversed(numbers):
                layer, weight = layers[number], weights[number]
                wishes = [
                    (1 - step) * x[thing]
                    + step * sum([pull * x[other] for other, pull in near[thing]]) / w
                    for thing, w in zip(layer, weight, strict=True)
                ]
                x.update(zip(layer, spread(wishes, room[number], weight), strict=True))
            if is_looked_at and all(abs(x[thing] - at) < _STILL for thing, at in before.items()):
                break
    return x


def _room(left: int, right: int, widths: Sequence[float]) -> float:
    """Return the least distance between the middles of two neighbours."""
    n_nodes = len(widths)
    sizes = [widths[thing] if thing < n_nodes else BEND_WIDTH for thing in (left, right)]
    is_bends = left >= n_nodes and right >= n_nodes
    return sum(sizes) / 2 + (0.0 if is_bends else _GAP)


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
