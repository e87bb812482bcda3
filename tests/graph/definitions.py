"""What the graph tests compare with: the definitions themselves, slow and literal."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import chain, combinations, pairwise, product

import networkx
from hypothesis import settings
from hypothesis import strategies as st

from bestdag.errors import CycleError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.pdag import Pdag

# The same examples in every run, and no clock: a busy machine is no failure.
steady = settings(derandomize=True, deadline=None)


def subsets(names):
    names = list(names)
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def links(graph):
    """The skeleton as a set of pairs."""
    return frozenset(frozenset(pair) for pair in (*graph.arcs, *getattr(graph, "edges", ())))


def colliders(graph):
    """The v-structures, by looking at every triple of nodes."""
    arcs, joined = set(graph.arcs), links(graph)
    return frozenset(
        (frozenset((x, y)), z)
        for x, y in combinations(graph.nodes, 2)
        for z in graph.nodes
        if {(x, z), (y, z)} <= arcs and frozenset((x, y)) not in joined
    )


@cache
def groups(n_nodes):
    """All DAGs grouped by skeleton and v-structures (Theorem 2.13 of Carvalho 2009)."""
    found = defaultdict(set)
    for dag in all_dags("ABCDE"[i] for i in range(n_nodes)):
        found[links(dag), colliders(dag)].add(dag)
    return {key: frozenset(group) for key, group in found.items()}


def classes(n_nodes):
    """The equivalence classes, each a set of DAGs."""
    return tuple(groups(n_nodes).values())


def agreed(dags):
    """The Pdag with the arcs on which all DAGs of one skeleton agree, and edges elsewhere."""
    dags = list(dags)
    common = set.intersection(*(set(dag.arcs) for dag in dags))
    rest = links(dags[0]) - {frozenset(arc) for arc in common}
    return Pdag(dags[0].nodes, common, [tuple(pair) for pair in rest])


@cache
def all_pdags(n_nodes):
    """Every graph of arcs and edges over a few nodes without a directed cycle."""
    nodes = list("ABCDE"[:n_nodes])
    pairs = list(combinations(nodes, 2))
    found = []
    for kinds in product(range(4), repeat=len(pairs)):
        arcs = [p for p, kind in zip(pairs, kinds, strict=True) if kind == 1]
        arcs += [p[::-1] for p, kind in zip(pairs, kinds, strict=True) if kind == 2]
        edges = [p for p, kind in zip(pairs, kinds, strict=True) if kind == 3]
        try:
            found.append(Pdag(nodes, arcs, edges))
        except CycleError:
            continue
    return tuple(found)


def consistent_extensions(pdag):
    """All DAGs with the skeleton, the arcs and the v-structures of a Pdag."""
    group = groups(len(pdag.nodes)).get((links(pdag), colliders(pdag)), frozenset())
    return frozenset(dag for dag in group if set(pdag.arcs) <= set(dag.arcs))


def blocks_every_trail(dag, x, y, given):
    """d-separation of two nodes by its definition: look at every simple trail."""
    trails = networkx.all_simple_paths(dag.to_networkx().to_undirected(), x, y)
    return not any(_is_active(dag, trail, set(given)) for trail in trails)


def _is_active(dag, trail, given):
    for (before, node), (_, after) in pairwise(pairwise(trail)):
        if dag.has_arc(before, node) and dag.has_arc(after, node):
            if not given & {node, *dag.descendants(node)}:
                return False
        elif node in given:
            return False
    return True


def separated_in_moral_graph(dag, x, y, given):
    """d-separation by the moral graph of the ancestors, with `given` cut out."""
    named = {*x, *y, *given}
    keep = named.union(*(dag.ancestors(node) for node in named))
    moral = networkx.Graph(dag.subgraph(keep).moral_graph().edges)
    moral.add_nodes_from(keep)
    moral.remove_nodes_from(given)
    return not any(networkx.has_path(moral, one, other) for one in x for other in y)


@st.composite
def dags(draw, max_nodes=7):
    """Any Dag over up to `max_nodes` nodes, in any order of names and arcs."""
    size = draw(st.integers(0, max_nodes))
    nodes = draw(st.permutations("GBDACFE"[:size]))
    pairs = list(combinations(nodes, 2))
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Dag(draw(st.permutations(nodes)), arcs)
