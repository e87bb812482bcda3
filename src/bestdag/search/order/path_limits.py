"""Statements about paths and open edges, turned into what single families and orders can keep."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.search.order.candidates import Limits

__all__ = ["narrowed", "precedences"]


def precedences(nodes: NodeKnowledge) -> tuple[tuple[int, int], ...]:
    """Pairs (first, later) of an order under which statements about ancestors are easier to keep.

    Where a must be an ancestor of b, a comes first. Where a must not be one, b comes first: every
    structure without a path from a to b has such an order, and no such order allows the path.
    Pairs that would close a cycle with those before them are left out.
    """
    after = nodes.required.copy()  # after[x, y]: x comes before y
    kept = []
    wanted = [*nodes.ancestors, *((b, a) for a, b in nodes.non_ancestors)]
    for first, later in wanted:
        if not _reaches(after, later, first):
            after[first, later] = True
            kept.append((first, later))
    return tuple(dict.fromkeys(kept))


def narrowed(limits: Limits, nodes: NodeKnowledge, example: Dag) -> Limits:
    """Narrow limits until every structure within them obeys all statements about paths and edges.

    The example obeys them and stays within the limits. A path to each descendant to be and the
    direction of each open edge are taken from it. Where a must not be an ancestor of b, no arc may
    leave the set of a and its descendants in the example, so that nothing outside, such as b, can
    be reached.
    """
    names = nodes.names
    numbers = {name: i for i, name in enumerate(names)}
    allowed, required = limits.allowed.copy(), limits.required.copy()
    for a, b in nodes.required_edges:
        p, c = (a, b) if example.has_arc(names[a], names[b]) else (b, a)
        required[p, c] = True
        allowed[c, p] = False
    for a, b in nodes.ancestors:
        on_path = [b]
        while on_path[-1] != a:
            here = names[on_path[-1]]
            step = next(
                p
                for p in example.parents(here)
                if p == names[a] or names[a] in example.ancestors(p)
            )
            on_path.append(numbers[step])
        for p, c in zip(on_path[1:], on_path, strict=False):
            required[p, c] = True
            allowed[c, p] = False
    for a, _ in nodes.non_ancestors:
        inside = np.zeros(len(names), bool)
        inside[[a, *(numbers[d] for d in example.descendants(names[a]))]] = True
        allowed[np.ix_(inside, ~inside)] = False
    return Limits(allowed, required, limits.max_parents)


def _reaches(after: npt.NDArray[np.bool_], start: int, end: int) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        if here == end:
            return True
        for there in np.flatnonzero(after[here]).tolist():
            if there not in seen:
                seen.add(there)
                waiting.append(there)
    return False
