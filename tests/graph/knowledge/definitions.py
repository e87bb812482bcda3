"""What each kind of statement means, literally, over sets of arcs."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product

from hypothesis import strategies as st

from bestdag.graph.enumeration import all_dags

PAIR_FIELDS = (
    "required_arcs", "forbidden_arcs", "required_edges", "forbidden_edges",
    "order", "ancestors", "non_ancestors",
)  # fmt: skip


def closed(pairs):
    """The transitive closure of a relation, by joining pairs until nothing is new."""
    found = set(pairs)
    while True:
        fresh = {(a, d) for (a, b), (c, d) in product(found, found) if b == c} - found
        if not fresh:
            return frozenset(found)
        found |= fresh


@cache
def graphs(n_nodes):
    """All DAGs over A, B, ..., each with its arcs and its (ancestor, descendant) pairs."""
    dags = all_dags(list("ABCDE"[:n_nodes]))
    return tuple((dag, frozenset(dag.arcs), closed(dag.arcs)) for dag in dags)


def satisfies(said, nodes, arcs, paths):
    """Whether a graph satisfies keyword arguments of Knowledge."""
    tier_of = {name: i for i, tier in enumerate(said.get("tiers", ())) for name in tier}
    within = said.get("within_tiers", True)
    place = {name: i for i, name in enumerate(said.get("total_order", ()))}
    n_parents = {name: sum(child == name for _, child in arcs) for name in nodes}
    limit = said.get("max_parents")
    steps = [*said.get("order", ()), *said.get("required_arcs", ()), *said.get("ancestors", ())]
    steps += pairwise(said.get("total_order", ()))
    before = closed(steps) if said.get("order") else ()
    return (
        all(arc in arcs for arc in said.get("required_arcs", ()))
        and all(arc not in arcs for arc in said.get("forbidden_arcs", ()))
        and all((a, b) in arcs or (b, a) in arcs for a, b in said.get("required_edges", ()))
        and not any((a, b) in arcs or (b, a) in arcs for a, b in said.get("forbidden_edges", ()))
        and all({a, b} in map(set, said.get("skeleton", [arc])) for arc in arcs for a, b in [arc])
        and all(
            tier_of[a] < tier_of[b] or (tier_of[a] == tier_of[b] and within)
            for a, b in arcs
            if a in tier_of and b in tier_of
        )
        and not any(a == b or (b, a) in arcs for a, b in before)
        and all(place[a] < place[b] for a, b in arcs if place)
        and all(pair in paths for pair in said.get("ancestors", ()))
        and all(pair not in paths for pair in said.get("non_ancestors", ()))
        and all(n_parents[name] == 0 for name in said.get("roots", ()))
        and all(a not in said.get("leaves", ()) for a, _ in arcs)
        and all(limit is None or n <= limit for n in n_parents.values())
        and all(n_parents[name] <= n for name, n in said.get("max_parents_of", {}).items())
    )


def fulfils(known, nodes, arcs, paths):
    """Whether a graph satisfies a NodeKnowledge, by the definition of its fields."""
    name = known.names.__getitem__
    index = {node: i for i, node in enumerate(known.names)}
    pairs = {(index[a], index[b]) for a, b in arcs}
    return (
        all(known.allowed[pair] for pair in pairs)
        and all((name(a), name(b)) in arcs for a, b in zip(*known.required.nonzero(), strict=True))
        and all(
            sum(child == i for _, child in pairs) <= known.max_parents[i] for i in range(len(nodes))
        )
        and all((a, b) in pairs or (b, a) in pairs for a, b in known.required_edges)
        and all((name(a), name(b)) in paths for a, b in known.ancestors)
        and all((name(a), name(b)) not in paths for a, b in known.non_ancestors)
    )


@st.composite
def statements(draw, nodes):
    """Keyword arguments of Knowledge: a few statements of a few kinds."""
    name = st.sampled_from(nodes)
    pair = st.tuples(name, name).filter(lambda ends: ends[0] != ends[1])
    said = {}
    for field in draw(st.lists(st.sampled_from(PAIR_FIELDS), max_size=4)):
        said[field] = draw(st.lists(pair, min_size=1, max_size=2))
    rest = ("tiers", "total_order", "roots", "leaves", "max_parents", "max_parents_of")
    for field in draw(st.lists(st.sampled_from(rest), max_size=2, unique=True)):
        if field == "tiers":
            numbers = {node: draw(st.integers(-1, 2)) for node in nodes}
            tiers = [[node for node in nodes if numbers[node] == i] for i in range(3)]
            said[field] = [tier for tier in tiers if tier]
            if said[field]:
                said["within_tiers"] = draw(st.booleans())
        elif field == "total_order":
            said[field] = draw(st.permutations(nodes))
        elif field == "max_parents":
            said[field] = draw(st.integers(0, 3))
        elif field == "max_parents_of":
            said[field] = draw(st.dictionaries(name, st.integers(0, 2), max_size=2))
        else:
            said[field] = draw(st.lists(name, max_size=2))
    return said
