"""From a Pdag to Dags: a consistent extension, and all members of a class."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import product

from bestdag.errors import GraphError, require_count
from bestdag.graph._walks import reach
from bestdag.graph.dag import Dag
from bestdag.graph.meek import WorkingGraph
from bestdag.graph.pdag import Pdag

__all__ = ["is_cpdag", "members", "to_dag"]


def to_dag(graph: Pdag) -> Dag:
    """Return a Dag with the same skeleton, arcs and v-structures.

    Sinks are taken away one by one: a node without children, each of whose neighbours is
    adjacent to all its other adjacent nodes. Its edges point into it. Among several such
    nodes the last name goes first, so that arcs tend to follow the order of names.

    References
    ----------
    .. [1] Dor and Tarsi (1992). "A simple algorithm to construct a consistent extension of a
       partially oriented graph." UCLA Cognitive Systems Laboratory, R-185.

    Examples
    --------
    >>> to_dag(Pdag(["A", "B", "C"], [], [("A", "B"), ("B", "C")])).arcs
    (('A', 'B'), ('B', 'C'))
    """
    names = sorted(graph.nodes)
    rank = {node: position for position, node in enumerate(names)}
    children = {node: set(graph.children(node)) for node in names}
    neighbours = {node: set(graph.neighbours(node)) for node in names}
    adjacent = {node: set(graph.adjacent(node)) for node in names}
    parents: dict[str, tuple[str, ...]] = {}
    # Only the removal of an adjacent node can make a node a sink: it is looked at again then.
    heap = [-position for position in range(len(names))]
    heapq.heapify(heap)
    queued = set(names)
    while heap:
        x = names[-heapq.heappop(heap)]
        queued.discard(x)
        if children[x] or any(adjacent[x] - adjacent[y] != {y} for y in neighbours[x]):
            continue
        parents[x] = tuple(sorted(adjacent[x]))
        for y in parents[x]:
            adjacent[y].discard(x)
            neighbours[y].discard(x)
            children[y].discard(x)
            if y not in queued:
                queued.add(y)
                heapq.heappush(heap, -rank[y])
    if len(parents) < len(names):
        raise GraphError("to_dag: no Dag has this skeleton, these arcs and no further v-structure")
    return Dag._trusted(graph.nodes, parents)


def is_cpdag(graph: Pdag) -> bool:
    """Whether a graph is the CPDAG of some Dag: of its own extension, then."""
    try:
        return to_dag(graph).cpdag() == graph
    except GraphError:
        return False


def members(graph: Pdag, *, limit: int) -> tuple[Dag, ...]:
    """Return all Dags whose CPDAG is this graph, sorted by their arcs.

    Notes
    -----
    The undirected part of a CPDAG falls into connected pieces that can be directed
    independently of each other and of the arcs, each without v-structures and cycles. In a
    piece an edge is directed both ways in turn, each time followed by Meek's rules, which
    leave no dead ends.

    References
    ----------
    .. [1] Andersson, Madigan and Perlman (1997). "A characterization of Markov equivalence
       classes for acyclic digraphs." Annals of Statistics 25.
    """
    require_count("members", "limit", limit, minimum=1)
    if not graph.is_cpdag():
        raise GraphError(
            "members: the graph is not the CPDAG of an equivalence class; "
            "get one from cpdag(), or one Dag from to_dag()"
        )
    too_many = GraphError(
        f"members: the class has more than {limit:,} members; pass a higher limit= to list them all"
    )
    pieces = list(_undirected_pieces(graph))
    if math.prod(map(_least_orientations, pieces)) > limit:
        raise too_many
    ways: list[list[list[tuple[str, str]]]] = []
    for piece in pieces:
        before = math.prod(map(len, ways))
        ways.append([])
        for way in _orientations(piece):
            ways[-1].append(way)
            if before * len(ways[-1]) > limit:
                raise too_many
    found = []
    for choice in product(*ways):
        parents = {node: list(graph.parents(node)) for node in graph.nodes}
        for way in choice:
            for parent, child in way:
                parents[child].append(parent)
        frozen = {node: tuple(sorted(group)) for node, group in parents.items()}
        found.append(Dag._trusted(graph.nodes, frozen))
    return tuple(sorted(found, key=lambda dag: dag.arcs))


def _undirected_pieces(graph: Pdag) -> Iterator[Pdag]:
    """Split the undirected part into its connected pieces, single nodes left out."""
    seen: set[str] = set()
    for start in sorted(graph.nodes):
        if start not in seen and graph.neighbours(start):
            piece = reach([start], graph.neighbours)
            seen |= piece
            edges = [(x, y) for x in piece for y in graph.neighbours(x) if x < y]
            yield Pdag(sorted(piece), [], edges)


def _least_orientations(piece: Pdag) -> int:
    """Return a number of orientations that is surely there, without listing them.

    Each node can be the only root, and each order of the nodes of a clique occurs. The
    parents of a node of the extension form a clique with it.
    """
    dag = to_dag(piece)
    largest = 1 + max(len(dag.parents(node)) for node in dag.nodes)
    return max(len(piece.nodes), math.factorial(largest))


def _orientations(piece: Pdag) -> Iterator[list[tuple[str, str]]]:
    """All ways to direct a chordal graph without v-structures and cycles."""
    stack = [WorkingGraph.of(piece)]
    while stack:
        work = stack.pop()
        edge = next(((x, min(group)) for x, group in work.neighbours.items() if group), None)
        if edge is None:
            yield [(parent, child) for child, group in work.parents.items() for parent in group]
            continue
        other = work.copy()
        other.direct([(edge[1], edge[0])])
        work.direct([edge])
        stack += [other, work]
