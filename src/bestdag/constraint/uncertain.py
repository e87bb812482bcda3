"""Uncertain regions: links whose removal depends on links that were removed as well.

A set X separates A and B for a reason only when its members lie on paths between the two. Where the
other removals cut these paths, the answers contradict each other (Figure 7.9).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.constraint.result import Conflict
from bestdag.constraint.skeleton import Skeleton
from bestdag.graph._names import show

__all__ = ["resolve_uncertain_regions"]

_Bytes = npt.NDArray[np.uint8]


class _Removal(NamedTuple):
    one: int
    other: int
    separating: list[int]
    log_p: float


class _Paths:
    """Which nodes lie on paths between two others: the tree of blocks and cut nodes."""

    def __init__(self, adjacency: _Bytes) -> None:
        n = len(adjacency)
        self._blocks: list[set[int]] = [set() for _ in range(n)]  # of each node
        links: Any = _core.link_blocks(np.ascontiguousarray(adjacency))
        for one, other, block in links.tolist():
            self._blocks[one].add(block)
            self._blocks[other].add(block)
        members: dict[int, list[int]] = {}
        for node, blocks in enumerate(self._blocks):
            for block in blocks:
                members.setdefault(block, []).append(node)
        # A forest in which nodes and blocks (as -1 - block) alternate.
        self._above: dict[int, int | None] = {}
        self._depth: dict[int, int] = {}
        for start in range(n):
            if start in self._above:
                continue
            self._above[start], self._depth[start] = None, 0
            waiting = [start]
            while waiting:
                at = waiting.pop()
                near = [-1 - b for b in self._blocks[at]] if at >= 0 else members[-1 - at]
                for other in near:
                    if other not in self._above:
                        self._above[other], self._depth[other] = at, self._depth[at] + 1
                        waiting.append(other)

    def all_between(self, one: int, other: int, nodes: Iterable[int]) -> bool:
        """Whether each of the nodes lies on a path between the two."""
        return not self.not_between(one, other, nodes)

    def not_between(self, one: int, other: int, nodes: Iterable[int]) -> list[int]:
        """Return the nodes that are on no path between the two."""
        passed = self._passed(one, other)
        return [node for node in nodes if not self._blocks[node] & passed]

    def _passed(self, one: int, other: int) -> set[int]:
        """Return the blocks that every path between the two passes."""
        passed: set[int] = set()
        a: int | None = one
        b: int | None = other
        while a != b:
            if a is None or b is None:
                return set()  # in different parts of the graph
            if self._depth[a] >= self._depth[b]:
                passed |= {-1 - a} if a < 0 else set()
                a = self._above[a]
            else:
                passed |= {-1 - b} if b < 0 else set()
                b = self._above[b]
        if a is not None and a < 0:
            passed.add(-1 - a)
        return passed


def resolve_uncertain_regions(skeleton: Skeleton, *, repair: bool) -> list[Conflict]:
    """Report uncertain regions; with `repair` put links back, in place, until none is left.

    The removals that depend on one another are all taken back, and then made again, the most
    independent pair first (ties by name), each only if the members of its set still lie on
    paths between the two.
    """
    removals = [
        _Removal(*separation)
        for separation in skeleton.separations()
        if separation[2] and not skeleton.adjacency[separation[0], separation[1]]
    ]
    if not removals:
        return []
    paths = _Paths(skeleton.adjacency)
    uncertain = {}
    for removal in removals:
        off = paths.not_between(removal.one, removal.other, removal.separating)
        if off:
            uncertain[(removal.one, removal.other)] = (removal, off)
    regions = _regions(uncertain)
    return [_resolve_region(skeleton, region, repair=repair) for region in regions]


def _regions(
    uncertain: dict[tuple[int, int], tuple[_Removal, list[int]]],
) -> list[list[_Removal]]:
    """Group removals by the removed links that they depend on."""
    group = {pair: pair for pair in uncertain}

    def root(pair: tuple[int, int]) -> tuple[int, int]:
        while group[pair] != pair:
            pair = group[pair]
        return pair

    for pair, (removal, off) in uncertain.items():
        for node in off:
            for end in (removal.one, removal.other):
                needed = (min(node, end), max(node, end))
                if needed in group:
                    first, second = sorted((root(pair), root(needed)))
                    group[second] = first
    regions: dict[tuple[int, int], list[_Removal]] = {}
    for pair, (removal, _) in uncertain.items():
        regions.setdefault(root(pair), []).append(removal)
    return [regions[key] for key in sorted(regions)]


def _resolve_region(skeleton: Skeleton, region: list[_Removal], *, repair: bool) -> Conflict:
    names = skeleton.names
    numbers = sorted({i for removal in region for i in (*removal[:2], *removal.separating)})
    nodes = tuple(names[i] for i in numbers)
    shown = "; ".join(
        f"{show(names[r.one])} - {show(names[r.other])} given "
        f"{', '.join(show(names[i]) for i in r.separating)}"
        for r in region
    )
    text = f"removing a link depends on links that were removed as well: {shown}"
    restored = _restored(skeleton, region)
    links = ", ".join(f"{show(names[i])} - {show(names[j])}" for i, j in restored)
    if not repair:
        return Conflict(
            "uncertain region", nodes, text, f"the links stay removed; a repair would keep {links}"
        )
    for one, other in restored:
        skeleton.adjacency[one, other] = skeleton.adjacency[other, one] = 1
    return Conflict("uncertain region", nodes, text, f"kept {links}")


def _restored(skeleton: Skeleton, region: list[_Removal]) -> list[tuple[int, int]]:
    """Return the links of a region that a repair keeps."""
    if len(region) == 1:  # its paths are cut by links that were removed for good
        return [(region[0].one, region[0].other)]
    adjacency = skeleton.adjacency.copy()
    for removal in region:
        adjacency[removal.one, removal.other] = adjacency[removal.other, removal.one] = 1
    restored = []
    for removal in sorted(region, key=lambda r: (-r.log_p, r.one, r.other)):
        pair = (removal.one, removal.other)
        adjacency[pair] = adjacency[pair[::-1]] = 0
        if not _Paths(adjacency).all_between(*pair, removal.separating):
            adjacency[pair] = adjacency[pair[::-1]] = 1
            restored.append(pair)
    return sorted(restored)
