"""A layered layout: boxes for nodes, and routes for arcs that no box stands in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt

from bestdag.drawing.layers import Component, components
from bestdag.drawing.text import shortened, text_width

__all__ = ["Box", "Layout", "Point", "lay_out"]

Point = tuple[float, float]

_BOX_HEIGHT = 28.0
_BOX_PADDING = 11.0
_LEAST_BOX = 40.0
# Between layers: so much, and more where arcs go far to the side.
_LEAST_GAP, _MOST_GAP, _GAP_PER_SIDE = 38.0, 130.0, 0.14
# Arcs leave and enter a box side by side, at most so far apart, within its corners.
_PORT_DISTANCE, _CORNER = 12.0, 9.0
_BETWEEN_COMPONENTS = 28.0
_MARGIN = 12.0
# Components are put beside each other until the picture is so many times as wide as high.
_ASPECT = 1.6


@dataclass(frozen=True, slots=True)
class Box:
    """A node's place: its middle and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is.

    Attributes
    ----------
    width, height : float
        Of the whole picture; nothing is outside.
    boxes : dict of str to Box
        In name order.
    routes : dict of (str, str) to tuple of Point
        From the first end of each link to the second. A link goes in a curve from the first point
        to the second, straight from there to the third, and so on in turn: curves between
        layers, straight lines through them, where room is kept for it.
    """

    width: float
    height: float
    boxes: dict[str, Box]
    routes: dict[tuple[str, str], tuple[Point, ...]]

    def widened(self, width: float) -> Layout:
        """Put everything in the middle of a picture that is so wide."""
        by = (width - self.width) / 2
        if by <= 0:
            return self
        boxes = {name: replace(box, x=box.x + by) for name, box in self.boxes.items()}
        routes = {link: tuple((x + by, y) for x, y in way) for link, way in self.routes.items()}
        return Layout(width, self.height, boxes, routes)


@dataclass(frozen=True, slots=True)
class _Block:
    """A component in its own coordinates, from (0, 0) on."""

    width: float
    height: float
    boxes: dict[int, Box]
    routes: dict[tuple[int, int], list[Point]]


def lay_out(
    nodes: Collection[str],
    links: Collection[tuple[str, str]],
    free: Collection[tuple[str, str]] = (),
) -> Layout:
    """Put nodes in layers, first ends of links above second ones, with few crossings.

    The order of nodes and links does not matter.

    Parameters
    ----------
    nodes : collection of str
    links : collection of (str, str)
        Where they close a directed cycle, some lead upwards.
    free : collection of (str, str)
        Links of which either end may be above. At most one link is between two nodes.
    """
    linked = sorted({end for link in (*links, *free) for end in link})
    number = {name: k for k, name in enumerate(linked)}
    widths = [_box_width(name) for name in linked]
    directed, undirected = (
        sorted((number[a], number[b]) for a, b in some) for some in (links, free)
    )
    blocks = [_block(one, widths) for one in components(directed, widths, undirected)]
    names = list(linked)
    for name in sorted(set(nodes) - number.keys()):
        width = _box_width(name)
        box = Box(width / 2, _BOX_HEIGHT / 2, width, _BOX_HEIGHT)
        blocks.append(_Block(width, _BOX_HEIGHT, {len(names): box}, {}))
        names.append(name)
    return _packed(blocks, names, [*links, *free])


def _box_width(name: str) -> float:
    return max(_LEAST_BOX, round(text_width(shortened(name)) + 2 * _BOX_PADDING))


def _block(component: Component, widths: Sequence[float]) -> _Block:
    """Give a component its heights, its boxes and the routes of its links."""
    x, layers = component.x, component.layers
    middles = _middles(component)
    y = {t: middles[k] for k, layer in enumerate(layers) for t in layer}
    nodes = sorted(t for layer in layers for t in layer if t < len(widths))
    left = min(
        x[t] - (widths[t] / 2 if t < len(widths) else 0.0) for layer in layers for t in layer
    )
    right = max(
        x[t] + (widths[t] / 2 if t < len(widths) else 0.0) for layer in layers for t in layer
    )
    boxes = {t: Box(x[t] - left, y[t], widths[t], _BOX_HEIGHT) for t in nodes}
    starts = _ports(component, boxes, end=0)
    ends = _ports(component, boxes, end=-1)
    routes = {}
    for link, chain in component.chains.items():
        points = [starts[link]]
        for bend in chain[1:-1]:
            points += [(x[bend] - left, y[bend] + side * _BOX_HEIGHT / 2) for side in (-1, 1)]
        routes[link] = [*points, ends[link]]
    return _Block(right - left, middles[-1] + _BOX_HEIGHT / 2, boxes, routes)


def _middles(component: Component) -> list[float]:
    """Return the heights of the layers' middles, from the top down."""
    level = {t: k for k, layer in enumerate(component.layers) for t in layer}
    aside = [0.0] * len(component.layers)  # how far links go to the side below each layer
    for chain in component.chains.values():
        for upper, lower in pairwise(chain):
            distance = abs(component.x[upper] - component.x[lower])
            aside[level[upper]] = max(aside[level[upper]], distance)
    middles = [_BOX_HEIGHT / 2]
    for distance in aside[:-1]:
        gap = min(_MOST_GAP, max(_LEAST_GAP, _GAP_PER_SIDE * distance))
        middles.append(middles[-1] + _BOX_HEIGHT + gap)
    return middles


def _ports(
    component: Component, boxes: dict[int, Box], *, end: int
) -> dict[tuple[int, int], Point]:
    """Say where links leave their upper boxes (end 0) or enter their lower ones (end -1).

    Those of one box are side by side, in the order of where they lead.
    """
    groups: dict[int, list[tuple[float, tuple[int, int]]]] = {}
    for link, chain in component.chains.items():
        towards = chain[1] if end == 0 else chain[-2]
        groups.setdefault(chain[end], []).append((component.x[towards], link))
    ports = {}
    for node, group in groups.items():
        box = boxes[node]
        y = box.y + (box.height / 2 if end == 0 else -box.height / 2)
        step = min(_PORT_DISTANCE, (box.width - 2 * _CORNER) / max(1, len(group) - 1))
        for k, (_, link) in enumerate(sorted(group)):
            ports[link] = (box.x + step * (k - (len(group) - 1) / 2), y)
    return ports


def _packed(
    blocks: list[_Block], names: Sequence[str], links: Collection[tuple[str, str]]
) -> Layout:
    """Put components in rows, large ones first."""
    order = sorted(range(len(blocks)), key=lambda k: (-blocks[k].height, k))
    between = _BETWEEN_COMPONENTS
    area = sum((one.width + between) * (one.height + between) for one in blocks)
    most = max([sqrt(_ASPECT * area), *(one.width for one in blocks)], default=0.0)
    boxes: dict[str, Box] = {}
    points: dict[tuple[str, str], tuple[Point, ...]] = {}
    left, top, row_height, right = 0.0, 0.0, 0.0, 0.0
    for k in order:
        block = blocks[k]
        if left > 0 and left + block.width > most:
            left, top, row_height = 0.0, top + row_height + between, 0.0
        dx, dy = _MARGIN + left, _MARGIN + top
        for node, box in block.boxes.items():
            boxes[names[node]] = Box(box.x + dx, box.y + dy, box.width, box.height)
        for (upper, lower), route in block.routes.items():
            moved = tuple((x + dx, y + dy) for x, y in route)
            points[names[upper], names[lower]] = moved
            points[names[lower], names[upper]] = moved[::-1]
        right = max(right, left + block.width)
        left += block.width + between
        row_height = max(row_height, block.height)
    return Layout(
        right + 2 * _MARGIN,
        top + row_height + 2 * _MARGIN,
        {name: boxes[name] for name in sorted(boxes)},
        {link: points[link] for link in sorted(links)},
    )
