"""A structure that obeys what the user knows, to begin with."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bestdag.errors import BestdagError, GraphError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.search.base import Problem

__all__ = ["feasible_dag"]


def feasible_dag(problem: Problem) -> Dag:
    """Return the start of the problem, or else a structure with little more than required arcs.

    Open edges and ancestors are settled one by one, each time with everything that follows from it.

    Raises
    ------
    GraphError
        When a statement cannot be settled after those before it.
    """
    if problem.start is not None:
        return problem.start
    known = problem.knowledge
    while True:
        nodes = known.for_nodes(problem.names)
        names = nodes.names
        arcs = [(p, c) for c in range(len(names)) for p in nodes.required_parents(c).tolist()]
        if nodes.required_edges:
            a, b = nodes.required_edges[0]
            ways = [[(a, b)], [(b, a)]]
        elif nodes.ancestors:
            a, b = nodes.ancestors[0]
            ways = _paths(nodes.allowed, a, b)
        else:
            break
        known = _settled(problem, known, [[(names[p], names[c]) for p, c in way] for way in ways])
    return Dag(names, [(names[p], names[c]) for p, c in arcs])


def _settled(problem: Problem, known: Knowledge, ways: list[list[tuple[str, str]]]) -> Knowledge:
    """Add the first way that contradicts nothing."""
    for arcs in ways:
        more = known | Knowledge(required_arcs=arcs)
        try:
            nodes = more.for_nodes(problem.names)
        except BestdagError:
            continue
        limit = len(problem.names) if problem.max_parents is None else problem.max_parents
        if (nodes.required.sum(axis=0) <= limit).all():
            return more
    raise GraphError(
        "search: no structure that obeys all statements was found; give one to begin with (start)"
    )


def _paths(allowed: npt.NDArray[np.bool_], a: int, b: int) -> list[list[tuple[int, int]]]:
    """List paths of allowed arcs from a to b, short ones first, each with another first step."""
    found: list[list[tuple[int, int]]] = []
    for first in [b, *range(len(allowed))]:
        if not allowed[a, first] or (first == b and found):
            continue
        before = {first: first}
        queue = deque([first])
        while queue and b not in before:
            u = queue.popleft()
            for w in np.flatnonzero(allowed[u]).tolist():
                if w not in before and w != a:
                    before[w] = u
                    queue.append(w)
        if b in before:
            nodes = [b]
            while nodes[-1] != first:
                nodes.append(before[nodes[-1]])
            nodes = [a, *reversed(nodes)]
            found.append(list(pairwise(nodes)))
    return sorted(found, key=len)
