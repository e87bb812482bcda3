"""What the knowledge allows: a structure to begin with, and the listed sets that may be chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from bestdag.errors import GraphError, InvalidParameterError
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.wording import arg

__all__ = [
    "Parents",
    "allowed_sets",
    "feasible_parents",
    "require_sums",
    "required_families",
    "smallest_sets",
]

Parents = list[list[int]]

# Partial structures looked at before giving up; a few per statement are usual.
_MAX_TRIED = 20_000
# Edges of one node that may run either way: with more, only one of them at a time is sure to count.
_MANY_EDGES = 8
# Sums of scores up to here are computed with.
_LARGEST_SUM = 1e300


@dataclass(frozen=True, slots=True)
class _Partial:
    """Arcs so far; `ancestors[v]` has bit a set when a is an ancestor of v."""

    parents: tuple[tuple[int, ...], ...]
    ancestors: tuple[int, ...]

    def with_arc(self, arc: tuple[int, int]) -> _Partial:
        """Return these arcs and one more."""
        parent, child = arc
        parents, ancestors = list(self.parents), list(self.ancestors)
        parents[child] = tuple(sorted((*parents[child], parent)))
        above = ancestors[parent] | 1 << parent
        for node in range(len(parents)):
            if node == child or ancestors[node] >> child & 1:
                ancestors[node] |= above
        return _Partial(tuple(parents), tuple(ancestors))


def required_families(nodes: NodeKnowledge) -> Iterator[tuple[str, frozenset[str]]]:
    """List families that a structure which obeys the knowledge may need, even without support.

    Families of required parents alone; with each end of an edge that may run either way, or
    several; and families of one structure that obeys the ancestor statements too, with the families
    that they grow from.
    """
    n = len(nodes.names)
    extra: list[set[int]] = [set() for _ in range(n)]
    for one, other in nodes.required_edges:
        extra[one].add(other)
        extra[other].add(one)
    if nodes.ancestors:
        for child, group in enumerate(feasible_parents(nodes, who="search")):
            extra[child] |= set(group)
    for child in range(n):
        must = set(nodes.required_parents(child).tolist())
        more = sorted(extra[child] - must)
        sizes = range(len(more) + 1 if len(more) <= _MANY_EDGES else 2)
        for chosen in chain.from_iterable(combinations(more, size) for size in sizes):
            if must or chosen:
                yield nodes.names[child], frozenset(nodes.names[p] for p in {*must, *chosen})


def feasible_parents(nodes: NodeKnowledge, *, who: str) -> Parents:
    """Return the parents of every node in a structure with few arcs that obeys the knowledge.

    The required arcs are there, then the open edges get a direction and the ancestor statements
    a path, by trying one after the other and going back where that fails.

    Raises
    ------
    GraphError
        There is no such structure, or none was found in a reasonable number of tries.
    """
    n = len(nodes.names)
    required: list[tuple[int, ...]] = [()] * n
    for child in np.flatnonzero(nodes.required.any(axis=0)).tolist():
        required[child] = tuple(nodes.required_parents(child).tolist())
    for child, group in enumerate(required):
        limit = int(nodes.max_parents[child])
        if len(group) > limit:
            raise GraphError(
                f"{who}: {nodes.names[child]!r} has {len(group)} required parents, and at most "
                f"{limit} are allowed"
            )
    if not nodes.required_edges and not nodes.ancestors:
        return [list(group) for group in required]
    first = _Partial((((),) * n), (0,) * n)
    for child, group in enumerate(required):
        for parent in group:
            first = first.with_arc((parent, child))
    return [list(group) for group in _completed(first, nodes, who).parents]


def _completed(first: _Partial, nodes: NodeKnowledge, who: str) -> _Partial:
    stack: list[Iterator[_Partial]] = [iter([first])]
    for _ in range(_MAX_TRIED):
        partial = next(stack[-1], None)
        while partial is None and len(stack) > 1:
            stack.pop()
            partial = next(stack[-1], None)
        if partial is None:
            raise GraphError(
                f"{who}: no structure obeys the required edges and ancestor statements together "
                "with the other statements; leave one of them out"
            )
        options = _next_arcs(partial, nodes)
        if options is None:
            return partial
        stack.append(map(partial.with_arc, options))
    raise GraphError(
        f"{who}: no structure was found that obeys the required edges and ancestor statements "
        "together with the other statements; state arcs instead, or give a network to start from"
    )


def _next_arcs(partial: _Partial, nodes: NodeKnowledge) -> Iterator[tuple[int, int]] | None:
    """Return the arcs, one of which the first unmet statement needs; None when all are met."""
    for one, other in nodes.required_edges:
        if one not in partial.parents[other] and other not in partial.parents[one]:
            arcs = ((one, other), (other, one))
            return (arc for arc in arcs if _can_add(partial, nodes, *arc))
    for above, below in nodes.ancestors:
        if not partial.ancestors[below] >> above & 1:
            return _arcs_towards(partial, nodes, above, below)
    return None


def _arcs_towards(
    partial: _Partial, nodes: NodeKnowledge, above: int, below: int
) -> Iterator[tuple[int, int]]:
    """List arcs out of the descendants of one node; arcs that reach the other come first."""
    n = len(nodes.names)
    sources = [above, *(v for v in range(n) if partial.ancestors[v] >> above & 1)]
    outside = [v for v in range(n) if v not in sources]
    targets = [below, *(v for v in outside if partial.ancestors[below] >> v & 1)]
    for group in (targets, [v for v in outside if v not in targets]):
        for target in group:
            for source in sources:
                if _can_add(partial, nodes, source, target):
                    yield source, target


def _can_add(partial: _Partial, nodes: NodeKnowledge, parent: int, child: int) -> bool:
    ancestors = partial.ancestors
    if not nodes.allowed[parent, child] or ancestors[parent] >> child & 1:
        return False
    if len(partial.parents[child]) >= nodes.max_parents[child]:
        return False
    return not any(
        (a == parent or ancestors[parent] >> a & 1) and (b == child or ancestors[b] >> child & 1)
        for a, b in nodes.non_ancestors
    )


# The sets of a table of local scores.


def require_sums(table: ScoreTable) -> None:
    """Refuse scores whose sums, or those of their differences, a double may not hold."""
    largest = [float(np.abs(table.child(i).scores).max()) for i in range(table.n_variables)]
    if sum(largest) > _LARGEST_SUM:
        name = table.names[int(np.argmax(largest))]
        raise InvalidParameterError(
            f"search: scores that add up to more than {_LARGEST_SUM:g} are too large to compute "
            f"with, got {max(largest):g} for {name!r}"
        )


def allowed_sets(table: ScoreTable, nodes: NodeKnowledge) -> ScoreTable:
    """Leave out the sets of a table that the user's knowledge forbids."""
    children = []
    for i, child in enumerate(table.names):
        allowed = set(map(int, nodes.allowed_parents(i)))
        required = set(map(int, nodes.required_parents(i)))
        limit = int(nodes.max_parents[i])
        sets = table.child(i)
        left = [
            (score, parents)
            for score, parents in sets
            if len(parents) <= limit and required <= set(parents) <= allowed
        ]
        if not left:
            raise InvalidParameterError(
                f"search: the score file has no parent set of {child!r} that the knowledge "
                "allows; make the file with that knowledge or from data"
            )
        if required and not _lists_every_set(sets, table.n_variables - 1, limit):
            raise InvalidParameterError(
                f"search: {child!r} has required parents, and the score file may lack the sets "
                "they need (files leave out sets that a subset beats); learn from the data, or "
                f"give {arg('max_parents')} if the file lists every set up to that size"
            )
        children.append(ParentSets.of([score for score, _ in left], [p for _, p in left]))
    return ScoreTable(table.names, children, complete=table.complete)


def _lists_every_set(sets: ParentSets, n_others: int, limit: int) -> bool:
    """Whether every set of at most `limit` of the others is there."""
    listed = sum(len(parents) <= limit for _, parents in sets)
    return listed == sum(math.comb(n_others, k) for k in range(min(limit, n_others) + 1))


def smallest_sets(scorer: LocalScores, nodes: NodeKnowledge) -> ScoreTable:
    """List the required parents of every variable alone."""
    names = nodes.names
    sets = [nodes.required_parents(child) for child in range(len(names))]
    scores = scorer.families(
        [(name, [names[p] for p in group]) for name, group in zip(names, sets, strict=True)]
    )
    places = np.arange(len(names) + 1)
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in sets])])
    members = np.concatenate(sets).astype(np.int32)
    return ScoreTable.from_arrays(names, places, scores, offsets, members, complete=False)
