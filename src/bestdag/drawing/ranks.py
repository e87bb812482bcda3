"""Directions and layers: which end of each link is above, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

__all__ = ["Link", "directed", "ranks"]

Link = tuple[int, int]

# Pivots of the network simplex: degenerate ones could go round in circles, and each takes as long
# as a walk over all nodes. Where they end early, some links are longer than they need be.
_PIVOTS_PER_NODE, _STEPS = 4, 3_000_000
_FAR = 1 << 60


def directed(n_nodes: int, links: Sequence[Link], free: Sequence[Link] = ()) -> list[Link]:
    """Say which end of each link is above, so that no directed cycle is left.

    Nodes are taken in turn, of those with nothing above them that is not yet taken the one with
    most neighbours taken; where a cycle leaves none, the one with most left below it (Eades, Lin
    and Smyth 1993, "A fast and effective heuristic for the feedback arc set problem").

    Parameters
    ----------
    n_nodes : int
    links : sequence of (int, int)
        The first end is above the second, unless links close a cycle.
    free : sequence of (int, int)
        Either end may be above.

    Returns
    -------
    list of (int, int)
        Upper end first, in the order of `links` and then `free`.

    Examples
    --------
    >>> directed(3, [(0, 1), (1, 2), (2, 0)])
    [(0, 1), (1, 2), (0, 2)]
    """
    below: list[list[int]] = [[] for _ in range(n_nodes)]
    near: list[list[int]] = [[] for _ in range(n_nodes)]
    n_above, n_below, n_taken = [0] * n_nodes, [0] * n_nodes, [0] * n_nodes
    for upper, lower in links:
        below[upper].append(lower)
        n_above[lower] += 1
        n_below[upper] += 1
    above: list[list[int]] = [[] for _ in range(n_nodes)]
    for upper, lower in links:
        above[lower].append(upper)
    for one, other in (*links, *free):
        near[one].append(other)
        near[other].append(one)
    place = [-1] * n_nodes
    waiting = set(range(n_nodes))
    # With entries that are out of date, which are passed over.
    ready = [(0, node) for node in range(n_nodes) if not n_above[node]]
    for number in range(n_nodes):
        while ready and (ready[0][1] not in waiting or -ready[0][0] != n_taken[ready[0][1]]):
            heappop(ready)
        if ready:
            _, node = heappop(ready)
        else:
            node = min(waiting, key=lambda k: (n_above[k] - n_below[k], k))
        place[node] = number
        waiting.discard(node)
        for other in below[node]:
            n_above[other] -= 1
        for other in above[node]:
            n_below[other] -= 1
        for other in near[node]:
            n_taken[other] += 1
            if not n_above[other] and other in waiting:
                heappush(ready, (-n_taken[other], other))
    return [(a, b) if place[a] < place[b] else (b, a) for a, b in (*links, *free)]


def ranks(n_nodes: int, links: Sequence[Link], widths: Sequence[float]) -> list[int]:
    """Put the nodes of a connected graph in layers, links together as short as can be.

    By the network simplex method (Gansner, Koutsofios, North and Vo 1993, "A technique for drawing
    directed graphs", section 2); nodes that may be in several layers at the same cost are then
    where the layer is narrowest.

    Parameters
    ----------
    n_nodes : int
    links : sequence of (int, int)
        Upper end first, without directed cycles.
    widths : sequence of float
        How wide each node is.

    Returns
    -------
    list of int
        Of each node, from 0 at the top.

    Examples
    --------
    >>> ranks(4, [(0, 1), (1, 2), (3, 2)], [1.0] * 4)
    [0, 1, 2, 1]
    """
    if not links:
        return [0] * n_nodes
    tree = _Tree(n_nodes, links)
    for _ in range(min(_PIVOTS_PER_NODE * n_nodes, _STEPS // n_nodes)):
        if not tree.improve():
            break
    layers: list[int] = (tree.rank - tree.rank.min()).tolist()
    _balance(layers, links, widths)
    return layers


class _Tree:
    """A spanning tree of links of length one, which fixes the ranks of all nodes."""

    def __init__(self, n_nodes: int, links: Sequence[Link]) -> None:
        self.upper = np.array([upper for upper, _ in links])
        self.lower = np.array([lower for _, lower in links])
        self.rank = np.array(_longest_paths(n_nodes, links))
        # How much longer all links get when a node goes down by one.
        self.cost = np.bincount(self.lower, minlength=n_nodes) - np.bincount(
            self.upper, minlength=n_nodes
        )
        self.links: list[set[int]] = [set() for _ in range(n_nodes)]  # of the tree, by node
        self._span(n_nodes)

    def _slack(self, is_chosen: np.ndarray) -> np.ndarray:
        """Return how much longer than needed the chosen links are; others have `_FAR`."""
        slack: np.ndarray = self.rank[self.lower] - self.rank[self.upper] - 1
        return np.where(is_chosen, slack, _FAR)

    def _span(self, n_nodes: int) -> None:
        """Grow the tree from the first node; where no tight link leads on, move it to the next."""
        is_in = np.zeros(n_nodes, dtype=bool)
        is_in[0] = True
        for _ in range(n_nodes - 1):
            slack = self._slack(is_in[self.upper] != is_in[self.lower])
            link = int(slack.argmin())
            upper, lower = int(self.upper[link]), int(self.lower[link])
            by = slack[link] if is_in[upper] else -slack[link]
            self.rank[is_in] += by
            self._join(link)
            is_in[upper] = is_in[lower] = True

    def _join(self, link: int) -> None:
        self.links[self.upper[link]].add(link)
        self.links[self.lower[link]].add(link)

    def _part(self, link: int) -> None:
        self.links[self.upper[link]].remove(link)
        self.links[self.lower[link]].remove(link)

    def improve(self) -> bool:
        """Exchange one link of the tree for a better one; False where none is."""
        order, size, via = self._preorder()
        sums = np.concatenate([[0], np.cumsum(self.cost[order])])
        places = np.arange(len(order))
        costs = sums[places + size] - sums[places]  # of moving the part below each link down
        is_down = self.lower[via] == order  # the link leads down into the part
        gains = np.where(is_down, -costs, costs)
        gains[0] = 0
        best = int(gains.argmax())
        if gains[best] <= 0:
            return False
        part = np.zeros(len(order), dtype=bool)
        part[order[best : best + size[best]]] = True
        ahead = part[self.upper] & ~part[self.lower]
        if not is_down[best]:
            ahead = part[self.lower] & ~part[self.upper]
        slack = self._slack(ahead)
        link = int(slack.argmin())
        self.rank[part] += slack[link] if is_down[best] else -slack[link]
        self._part(int(via[best]))
        self._join(link)
        return True

    def _preorder(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return nodes from the root outwards, sizes of their parts, links that lead to them."""
        upper, lower = self.upper.tolist(), self.lower.tolist()
        order: list[int] = []
        via: list[int] = []
        parent: list[int] = []  # place in the order
        stack = [(0, 0, -1)]
        while stack:
            node, link, place = stack.pop()
            here = len(order)
            order.append(node)
            via.append(link)
            parent.append(place)
            for other in self.links[node]:
                if place < 0 or other != link:
                    stack.append((upper[other] + lower[other] - node, other, here))
        size = [1] * len(order)
        for here in range(len(order) - 1, 0, -1):
            size[parent[here]] += size[here]
        return np.array(order), np.array(size), np.array(via)


def _longest_paths(n_nodes: int, links: Sequence[Link]) -> list[int]:
    """Return the length of the longest path that leads to each node."""
    below: list[list[int]] = [[] for _ in range(n_nodes)]
    n_above = [0] * n_nodes
    for upper, lower in links:
        below[upper].append(lower)
        n_above[lower] += 1
    rank = [0] * n_nodes
    ready = [node for node in range(n_nodes) if not n_above[node]]
    while ready:
        node = ready.pop()
        for other in below[node]:
            rank[other] = max(rank[other], rank[node] + 1)
            n_above[other] -= 1
            if not n_above[other]:
                ready.append(other)
    return rank


def _balance(rank: list[int], links: Sequence[Link], widths: Sequence[float]) -> None:
    """Move nodes with as many links above as below to the narrowest layer that they may be in."""
    above: list[list[int]] = [[] for _ in rank]
    below: list[list[int]] = [[] for _ in rank]
    for upper, lower in links:
        below[upper].append(lower)
        above[lower].append(upper)
    taken = [0.0] * (max(rank) + 1)
    for node, width in enumerate(widths):
        taken[rank[node]] += width
    for node, width in enumerate(widths):
        if not above[node] or len(above[node]) != len(below[node]):
            continue
        first = max(rank[other] for other in above[node]) + 1
        last = min(rank[other] for other in below[node])
        taken[rank[node]] -= width
        rank[node] = min(range(first, last), key=lambda k: (taken[k], k))
        taken[rank[node]] += width
