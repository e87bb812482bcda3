"""Layers and the order within them, by the Sugiyama layout of fast-sugiyama."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bestdag.drawing.spacing import spread
from bestdag.errors import import_optional

__all__ = ["BEND_WIDTH", "Component", "components"]

# Room that an arc takes where it crosses a layer, and room between neighbours.
BEND_WIDTH = 12.0
_GAP = 18.0
# Rounds in which each layer moves towards its neighbours above and below.
# Long steps bring far bends home sooner (successive over-relaxation); the last ones settle.
_N_ROUNDS, _N_LAST_ROUNDS = 240, 20
_LONG_STEP = 1.8
# How much a link counts that joins two nodes, a node and a bend, two bends: long arcs are straight
# (Gansner, Koutsofios, North and Vo 1993, "A technique for drawing directed graphs", section 4).
_PULL = (1.0, 2.0, 8.0)


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


def components(links: Sequence[tuple[int, int]], widths: Sequence[float]) -> list[Component]:
    """Put the connected parts of a graph in layers.

    Parameters
    ----------
    links : sequence of (int, int)
        Between nodes 0, 1, ...; every node has one.
    widths : sequence of float
        How wide each node is.

    Returns
    -------
    list of Component
        In the order of their first nodes.
    """
    if not links:
        return []
    library: Any = import_optional("fast_sugiyama", who="plot", extra="draw")
    spacing = sum(widths) / len(widths) + _GAP
    found = library.from_edges(
        list(links), vertex_spacing=spacing, dummy_vertices=True, dummy_size=BEND_WIDTH
    )
    made = [_component(dict(places), list(pieces), widths) for places, _, _, pieces in found]
    return sorted(made, key=lambda one: min(node for layer in one.layers for node in layer))


def _component(
    places: dict[int, tuple[float, float]], pieces: list[tuple[int, int]], widths: Sequence[float]
) -> Component:
    """Take layers and order from the library, and make room for the names."""
    heights = sorted({y for _, y in places.values()}, reverse=True)
    number = {y: k for k, y in enumerate(heights)}
    layers: list[list[int]] = [[] for _ in heights]
    for thing, (_, y) in sorted(places.items(), key=lambda item: (item[1][0], item[0])):
        layers[number[y]].append(thing)
    x = {thing: places[thing][0] for layer in layers for thing in layer}
    level = {thing: k for k, layer in enumerate(layers) for thing in layer}
    downward = [(a, b) if level[a] < level[b] else (b, a) for a, b in pieces]
    _settle(layers, x, downward, widths)
    return Component(layers, x, _chains(sorted(downward), len(widths)))


def _chains(pieces: list[tuple[int, int]], n_nodes: int) -> dict[tuple[int, int], list[int]]:
    """Join the pieces of each link: a bend has one piece above and one below."""
    below = {upper: lower for upper, lower in pieces if upper >= n_nodes}
    chains = {}
    for upper, lower in pieces:
        if upper < n_nodes:
            chain = [upper, lower]
            while chain[-1] >= n_nodes:
                chain.append(below[chain[-1]])
            chains[upper, chain[-1]] = chain
    return chains


def _settle(
    layers: list[list[int]],
    x: dict[int, float],
    pieces: list[tuple[int, int]],
    widths: Sequence[float],
) -> None:
    """Move each layer towards its neighbours in turn, with room for every name."""
    n_nodes = len(widths)
    near: dict[int, list[tuple[int, float]]] = {thing: [] for thing in x}
    for upper, lower in sorted(pieces):
        pull = _PULL[(upper >= n_nodes) + (lower >= n_nodes)]
        near[upper].append((lower, pull))
        near[lower].append((upper, pull))
    room = [[_room(a, b, widths) for a, b in pairwise(layer)] for layer in layers]
    numbers = range(len(layers))
    for number in numbers:
        layer = layers[number]
        x.update(
            zip(layer, spread([x[t] for t in layer], room[number], [1.0] * len(layer)), strict=True)
        )
    for round_ in range(_N_ROUNDS):
        step = _LONG_STEP if round_ < _N_ROUNDS - _N_LAST_ROUNDS else 1.0
        for number in numbers if round_ % 2 == 0 else reversed(numbers):
            layer = layers[number]
            weights = [sum(pull for _, pull in near[thing]) for thing in layer]
            wishes = [
                x[thing]
                + step * (sum(pull * x[other] for other, pull in near[thing]) / weight - x[thing])
                for thing, weight in zip(layer, weights, strict=True)
            ]
            x.update(zip(layer, spread(wishes, room[number], weights), strict=True))


def _room(left: int, right: int, widths: Sequence[float]) -> float:
    """Return the least distance between the middles of two neighbours."""
    n_nodes = len(widths)
    sizes = [widths[thing] if thing < n_nodes else BEND_WIDTH for thing in (left, right)]
    is_bends = left >= n_nodes and right >= n_nodes
    return sum(sizes) / 2 + (0.0 if is_bends else _GAP)
