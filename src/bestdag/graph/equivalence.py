"""Markov equivalence of Dags: skeleton, v-structures and the CPDAG of a class."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Protocol

from bestdag.errors import GraphError, require_count
from bestdag.graph._names import show
from bestdag.graph._walks import reach, topological_order
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag

__all__ = [
    "WorkingGraph",
    "apply_meek_rules",
    "cpdag",
    "is_cpdag",
    "is_equivalent",
    "members",
    "moral_graph",
    "skeleton",
    "to_dag",
    "v_structures",
]


class _HasParents(Protocol):
    @property
    def nodes(self) -> tuple[str, ...]: ...
    def parents(self, node: str, /) -> tuple[str, ...]: ...
    def adjacent(self, node: str, /) -> tuple[str, ...]: ...


def skeleton(dag: Dag) -> Pdag:
    """Return the undirected graph of the arcs."""
    return Pdag._trusted(dag.nodes, (), dag.arcs)


def moral_graph(dag: Dag) -> Pdag:
    """Return the undirected graph of the arcs and of the pairs of parents with a common child."""
    pairs = {(min(arc), max(arc)) for arc in dag.arcs}
    for node in dag.nodes:
        pairs.update(combinations(dag.parents(node), 2))
    return Pdag._trusted(dag.nodes, (), pairs)


def v_structures(graph: _HasParents) -> tuple[tuple[str, str, str], ...]:
    """Return the triples (x, z, y), x before y, with x -> z <- y and x, y not adjacent; sorted."""
    adjacent = {node: frozenset(graph.adjacent(node)) for node in graph.nodes}
    return tuple(
        sorted(
            (x, z, y)
            for z in graph.nodes
            for x, y in combinations(graph.parents(z), 2)
            if y not in adjacent[x]
        )
    )


def is_equivalent(one: Dag, other: Dag) -> bool:
    """Whether two Dags imply the same independences.

    They do when they have the same nodes, skeleton and v-structures.

    References
    ----------
    .. [1] Verma and Pearl (1990). "Equivalence and synthesis of causal models." UAI.
    """
    return skeleton(one) == skeleton(other) and v_structures(one) == v_structures(other)


def cpdag(dag: Dag) -> Pdag:
    """Return the CPDAG: compelled arcs stay directed, reversible ones become edges.

    Notes
    -----
    Nodes are visited in topological order. Among the parents of y, the last one, x, decides
    (the others are then labelled in the same step), so time is linear in the number of arcs
    plus that of the parents' parents looked at.

    References
    ----------
    .. [1] Chickering (1995). "A transformational characterization of equivalent Bayesian
       network structures." UAI, procedures Order-Edges and Label-Edges.

    Examples
    --------
    >>> dag = Dag.from_parents({"Z": ["X", "Y"], "W": ["Z"], "U": ["Y"]})
    >>> cpdag(dag).arcs, cpdag(dag).edges
    ((('X', 'Z'), ('Y', 'Z'), ('Z', 'W')), (('U', 'Y'),))
    """
    parents = {node: frozenset(dag.parents(node)) for node in dag.nodes}
    order = dag.topological_order()
    rank = {node: position for position, node in enumerate(order)}
    compelled: dict[str, frozenset[str]] = {}  # child -> its compelled parents
    for y in order:
        family = parents[y]
        x = max(family, key=rank.__getitem__, default=None)
        if (
            x is None
            or not compelled[x] <= family  # w -> x is compelled and w no parent of y
            or not family - {x} <= parents[x]  # z -> y, and z no parent of x
        ):
            compelled[y] = family
        else:  # w -> y is compelled for each compelled w -> x, the others are reversible
            compelled[y] = compelled[x]
    arcs = [(parent, child) for parent, child in dag.arcs if parent in compelled[child]]
    edges = [(parent, child) for parent, child in dag.arcs if parent not in compelled[child]]
    return Pdag._trusted(dag.nodes, arcs, edges)


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
    dags = []
    for choice in product(*ways):
        parents = {node: list(graph.parents(node)) for node in graph.nodes}
        for way in choice:
            for parent, child in way:
                parents[child].append(parent)
        frozen = {node: tuple(sorted(group)) for node, group in parents.items()}
        dags.append(Dag._trusted(graph.nodes, frozen))
    return tuple(sorted(dags, key=lambda dag: dag.arcs))


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
    """Go through all ways to direct a chordal graph without v-structures and cycles."""
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


class WorkingGraph:
    """A Pdag that changes while edges are directed; its skeleton stays as it is."""

    __slots__ = ("adjacent", "children", "neighbours", "parents")

    def __init__(
        self,
        parents: dict[str, set[str]],
        children: dict[str, set[str]],
        neighbours: dict[str, set[str]],
        adjacent: dict[str, frozenset[str]],
    ) -> None:
        self.parents = parents
        self.children = children
        self.neighbours = neighbours
        self.adjacent = adjacent

    @classmethod
    def of(cls, graph: Pdag) -> WorkingGraph:
        """Start from a Pdag."""
        return cls(
            {node: set(graph.parents(node)) for node in graph.nodes},
            {node: set(graph.children(node)) for node in graph.nodes},
            {node: set(graph.neighbours(node)) for node in graph.nodes},
            {node: frozenset(graph.adjacent(node)) for node in graph.nodes},
        )

    def copy(self) -> WorkingGraph:
        """Return a copy that changes independently."""
        return WorkingGraph(
            _copy(self.parents), _copy(self.children), _copy(self.neighbours), self.adjacent
        )

    def direct(self, arcs: Iterable[tuple[str, str]]) -> None:
        """Direct edges along some arcs, and all others that follow by the rules.

        Arcs already there are looked at again for what follows from them.
        """
        waiting = list(arcs)
        for arc in waiting:
            self._direct_one(*arc)
        while waiting:
            a, b = waiting.pop()
            follow = {*self._rule_1(a, b), *self._rule_2(a, b)}
            follow |= {*self._rule_3(a, b), *self._rule_4(a, b)}
            for arc in sorted(follow):  # sorted: errors, too, are the same in every run
                if self._direct_one(*arc):
                    waiting.append(arc)

    def _direct_one(self, parent: str, child: str) -> bool:
        if child not in self.neighbours[parent]:
            return False
        self.neighbours[parent].discard(child)
        self.neighbours[child].discard(parent)
        self.children[parent].add(child)
        self.parents[child].add(parent)
        return True

    # Each rule yields what follows from a -> b together with the rest of the graph. Edges never
    # appear, so the last arc of a premise to be looked at finds the case. Where an edge of the
    # premise of rule 3 or 4 has been directed before that, rules 1 and 2 give the same arc.

    def _rule_1(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 1: a -> b - c, a and c not adjacent: b -> c, else there is a new v-structure."""
        for c in self.neighbours[b] - self.adjacent[a]:
            yield b, c

    def _rule_2(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 2: x -> y -> z and x - z: x -> z, else there is a cycle."""
        for z in self.children[b] & self.neighbours[a]:
            yield a, z
        for x in self.parents[a] & self.neighbours[b]:
            yield x, b

    def _rule_3(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 3: x - a -> b, x - c -> b, x - b, a and c not adjacent: x -> b."""
        for x in self.neighbours[a] & self.neighbours[b]:
            if (self.parents[b] & self.neighbours[x]) - self.adjacent[a] - {a}:
                yield x, b

    def _rule_4(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 4: c -> d -> y, x - c, x - y, x and d adjacent, c and y not: x -> y."""
        for y in self.children[b] - self.adjacent[a]:  # a -> b is c -> d
            for x in self.neighbours[a] & self.neighbours[y] & self.adjacent[b]:
                yield x, y
        for c in self.parents[a] - self.adjacent[b]:  # a -> b is d -> y
            for x in self.neighbours[c] & self.neighbours[b] & self.adjacent[a]:
                yield x, b


def _copy(groups: dict[str, set[str]]) -> dict[str, set[str]]:
    return {node: set(group) for node, group in groups.items()}


def apply_meek_rules(graph: Pdag) -> Pdag:
    """Return the closure under Meek's four rules.

    Notes
    -----
    Where the rules demand both directions of an edge, whichever is taken ends in a cycle or
    in a v-structure that was not there; then the graph has no consistent extension, the
    closure would depend on the order of the rules, and an error is raised instead.

    References
    ----------
    .. [1] Meek (1995). "Causal inference and causal explanation with background knowledge."
       UAI, section 2.1.2.
    """
    work = WorkingGraph.of(graph)
    work.direct(graph.arcs)
    arcs = [(parent, child) for parent, group in work.children.items() for child in group]
    edges = [(x, y) for x, group in work.neighbours.items() for y in group if x < y]
    result = Pdag._trusted(graph.nodes, arcs, edges)
    new = sorted(set(result.v_structures()).difference(graph.v_structures()))
    if new:
        x, z, y = map(show, new[0])
        raise GraphError(f"apply_meek_rules: the arcs force a new v-structure {x} -> {z} <- {y}")
    if len(topological_order(work.children)) < len(graph.nodes):
        raise GraphError("apply_meek_rules: the arcs force a directed cycle")
    return result
