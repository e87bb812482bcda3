"""Walks along arcs: reachability, topological order, cycles. None of them recurses."""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from bestdag.errors import CycleError
from bestdag.graph._names import arc_text, listing, show

__all__ = ["cycle_error", "first_cycle", "reach", "topological_order"]


def reach(starts: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the nodes reached from the starts in one step or more."""
    seen: set[str] = set()
    stack = list(starts)
    while stack:
        for name in step(stack.pop()):
            if name not in seen:
                seen.add(name)
                stack.append(name)
    return seen


def cycle_error(
    parent: str, child: str, children: Callable[[str], Iterable[str]]
) -> CycleError | None:
    """Build the error for an arc that closes a cycle, or None when it closes none.

    The cycle shown is a shortest one: the path from child to parent comes from a
    breadth-first walk.
    """
    came_from = {child: child}
    queue = deque([child])
    while queue and parent not in came_from:
        node = queue.popleft()
        for name in children(node):
            if name not in came_from:
                came_from[name] = node
                queue.append(name)
    if parent not in came_from:
        return None
    path = [parent]
    while path[-1] != child:
        path.append(came_from[path[-1]])
    cycle = listing(map(show, reversed(path)), " -> ")
    return CycleError(f"arc {arc_text(parent, child)} closes a cycle: {cycle} -> {show(child)}")


def first_cycle(nodes: tuple[str, ...], arcs: list[tuple[str, str]]) -> CycleError:
    """Build the error for the first listed arc that closes a cycle with those before it."""

    def children(n_arcs: int) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {name: [] for name in nodes}
        for parent, child in arcs[:n_arcs]:
            groups[parent].append(child)
        return groups

    def has_cycle(n_arcs: int) -> bool:
        return len(topological_order(children(n_arcs))) < len(nodes)

    first = bisect.bisect_left(range(len(arcs)), True, key=has_cycle)
    error = cycle_error(*arcs[first - 1], children(first - 1).__getitem__)
    assert error is not None
    return error


def topological_order(children: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Order the nodes after their parents, ties by name; nodes below a cycle are left out."""
    waiting = dict.fromkeys(children, 0)
    for group in children.values():
        for child in group:
            waiting[child] += 1
    ready = [name for name, n_parents in waiting.items() if n_parents == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        order.append(heapq.heappop(ready))
        for child in children[order[-1]]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, child)
    return tuple(order)
