"""Markov equivalence of Dags: skeleton, v-structures and the CPDAG of a class."""

from __future__ import annotations

from itertools import combinations
from typing import Protocol

from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag

__all__ = ["cpdag", "is_equivalent", "moral_graph", "skeleton", "v_structures"]


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
    """Triples (x, z, y), x before y, with x -> z <- y and x, y not adjacent; sorted."""
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
