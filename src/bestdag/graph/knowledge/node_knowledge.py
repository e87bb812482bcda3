"""Knowledge resolved to arrays over a fixed order of nodes: what a search works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.errors import CycleError, GraphError, unknown_name
from bestdag.graph._names import check_nodes, listing
from bestdag.graph._walks import topological_order
from bestdag.graph.knowledge.implications import Implications, pairs_of
from bestdag.graph.knowledge.kinds import KINDS, Ancestors, NonAncestors, RequiredEdges, Statement
from bestdag.graph.knowledge.kinds.order import Precedence

__all__ = [
    "NodeKnowledge",
    "implications",
    "propagate",
    "refuse_contradictions",
    "require_names",
    "resolve",
]


@dataclass(frozen=True, slots=True, eq=False)
class NodeKnowledge:
    """Knowledge over a fixed order of nodes, by index, with everything derived that follows.

    A graph satisfies the knowledge exactly when all its arcs are `allowed`, all `required` arcs
    are there, no node has more than `max_parents`, one arc joins each pair of `required_edges`,
    and `ancestors` and `non_ancestors` hold. The arrays cannot be written to.

    Attributes
    ----------
    names : tuple of str
        The nodes; an index is a place in here.
    allowed : array of bool, n x n
        ``allowed[p, c]``: the arc p -> c may be there. Arcs that would break a statement in
        every graph are not allowed: the reverse of a required arc, say.
    required : array of bool, n x n
        ``required[p, c]``: the arc p -> c must be there. A required edge with one direction
        left is here.
    max_parents : array of int32, n
        At most n - 1, which is no limit.
    required_edges : tuple of (int, int)
        Required edges that may still run either way.
    ancestors : tuple of (int, int)
        Pairs (a, b) with a to be an ancestor of b, where the required arcs do not see to it.
    non_ancestors : tuple of (int, int)
        Pairs (a, b) with a not to be an ancestor of b, where the allowed arcs would let it be.
    """

    names: tuple[str, ...]
    allowed: npt.NDArray[np.bool_]
    required: npt.NDArray[np.bool_]
    max_parents: npt.NDArray[np.int32]
    required_edges: tuple[tuple[int, int], ...] = ()
    ancestors: tuple[tuple[int, int], ...] = ()
    non_ancestors: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for array in (self.allowed, self.required, self.max_parents):
            array.setflags(write=False)

    @property
    def has_ancestral(self) -> bool:
        """Whether a statement about paths is left, which single families cannot decide."""
        return bool(self.ancestors or self.non_ancestors)

    def allowed_parents(self, child: int) -> npt.NDArray[np.intp]:
        """Return the possible parents of a child, required ones included: indices, ascending."""
        return np.flatnonzero(self.allowed[:, child])

    def required_parents(self, child: int) -> npt.NDArray[np.intp]:
        """Return the required parents of a child: indices, ascending."""
        return np.flatnonzero(self.required[:, child])

    def __reduce__(self) -> tuple[type[NodeKnowledge], tuple[Any, ...]]:
        # Through the constructor, so that the arrays stay read-only.
        return NodeKnowledge, tuple(getattr(self, field.name) for field in fields(self))


def resolve(statements: Sequence[Statement], names: Iterable[str]) -> NodeKnowledge:
    """Resolve the statements over these nodes, which are all there are."""
    nodes = check_nodes("for_nodes", names)
    return _resolved(statements, nodes) if statements else _nothing_known(nodes)


@lru_cache(maxsize=1)
def _nothing_known(nodes: tuple[str, ...]) -> NodeKnowledge:
    """Resolve no statements, once for all searches over the same nodes: a value never changes."""
    n = len(nodes)
    most = np.full(n, max(0, n - 1), np.int32)
    return NodeKnowledge(nodes, ~np.eye(n, dtype=bool), np.zeros((n, n), bool), most)


def _resolved(statements: Sequence[Statement], nodes: tuple[str, ...]) -> NodeKnowledge:
    require_names(statements, nodes)
    known = implications(statements, nodes)
    return NodeKnowledge(
        nodes,
        known.allowed,
        known.required,
        known.limit,
        RequiredEdges.left_open(known),
        Ancestors.left_open(known),
        NonAncestors.left_open(known),
    )


def require_names(statements: Sequence[Statement], nodes: tuple[str, ...]) -> None:
    """Refuse statements about names that are not nodes, and nodes that a statement excludes."""
    known = set(nodes)
    for statement in statements:
        for name in statement.names():
            if name not in known:
                who = f"Knowledge: '{statement.text({name})}'"
                raise unknown_name("node", name, nodes, who=who)
    for statement in statements:
        statement.check_nodes(known)


def refuse_contradictions(statements: Sequence[Statement]) -> None:
    """Refuse statements that no graph satisfies, over any further nodes."""
    for statement in statements:
        statement.check_with(statements)
    _refuse_cycle(statements)
    if any(statement.is_positive for statement in statements):
        implications(statements, None)


def implications(statements: Sequence[Statement], names: Sequence[str] | None) -> Implications:
    """Derive what follows over all nodes there are; without `names`, these are not known.

    The error names the fewest statements that clash, in the sense that each is needed: without
    it the others can hold.
    """
    result = propagate(statements, names)
    if isinstance(result, Implications):
        return result
    core = _shrink(list(statements), lambda some: isinstance(propagate(some, names), str))
    place = "" if names is None else f" over these {len(names):,} nodes"
    shown = listing((_text_in(statement, core) for statement in core), "; ")
    raise GraphError(f"Knowledge: {propagate(core, names)}{place}; what clashes: {shown}")


def _shrink(
    statements: list[Statement], clashes: Callable[[list[Statement]], bool]
) -> list[Statement]:
    """Leave out halves, quarters ... and at last single statements while the rest clashes."""
    core, chunk = statements, max(len(statements) // 2, 1)
    while True:
        start = 0
        while start < len(core):
            rest = core[:start] + core[start + chunk :]
            if clashes(rest):
                core = rest
            else:
                start += chunk
        if chunk == 1:
            return core
        chunk //= 2


def _text_in(statement: Statement, core: Sequence[Statement]) -> str:
    """Write a statement; of tiers and a total order only the nodes that the others name."""
    others = {name for other in core if other is not statement for name in other.names()}
    shared = others & {*statement.names()}
    return statement.text(shared if shared else None)


def _refuse_cycle(statements: Sequence[Statement]) -> None:
    """Refuse required arcs, orders and ancestor statements that lead round in a circle."""
    said = Precedence(statements)
    after = {end: () for ends in said.steps.values() for end in ends} | said.steps
    for name in sorted(after.keys() - topological_order(after)):
        path = said.path(name, name)
        if path is not None:  # the others come after those on a cycle
            only_arcs = {sign for sign, _ in path} == {"->"}
            what = "required arcs" if only_arcs else "these statements"
            raise CycleError(f"Knowledge: {what} close a cycle: {said.text(name, path)}")


def propagate(statements: Sequence[Statement], names: Sequence[str] | None) -> Implications | str:
    """Derive what follows from the statements until nothing more does.

    Every step is a consequence of the statements, so no graph that satisfies them all is lost.
    `names` are all nodes there are; without them there may be more than the statements name.
    Returns what contradicts what where it is seen that there is no such graph.
    """
    is_open = names is None and not any(said.names_every_node for said in statements)
    if names is None:
        names = sorted({name for statement in statements for name in statement.names()})
    known = Implications(names, is_open=is_open)
    index = {name: i for i, name in enumerate(names)}
    for statement in statements:
        statement.imply(known, [index[name] for name in statement.names()])
    order = known.reached((*known.paths, *known.before))
    if order is None:
        return "the statements close a cycle"
    _forbid_back(known, order)
    extent: tuple[int, ...] = ()
    while extent != (extent := _extent(known)):
        clash = _step(known)
        if clash is not None:
            return clash
    clashes = (kind.contradiction(known) for kind in KINDS)
    return next((clash for clash in clashes if clash is not None), known)


def _step(known: Implications) -> str | None:
    ancestors = known.reached(known.paths)
    if ancestors is None:
        return "the directions that remain for the required edges close a cycle"
    known.is_ancestor = ancestors
    _forbid_back(known, ancestors)
    # Open edges come last: they are directed by what all the others leave.
    for derive in (_keep_to_limits, *(kind.propagate for kind in reversed(KINDS))):
        clash = derive(known)
        if clash is not None:
            return clash
    for parent, child in pairs_of(known.required & ~known.allowed)[:1]:
        return f"arc {known.show(parent, '->', child)} is required and cannot be there"
    return None


def _forbid_back(known: Implications, reached: np.ndarray) -> None:
    for node in np.flatnonzero(reached.any(axis=1)):
        known.allowed[reached[node], node] = False


def _keep_to_limits(known: Implications) -> str | None:
    """Forbid more parents of a node that has as many as it may."""
    n_required = np.count_nonzero(known.required, axis=0)
    for child in np.flatnonzero(n_required > known.limit)[:1].tolist():
        counts = f"needs {n_required[child]:,} parents, its limit is {known.limit[child]:,}"
        return f"node {known.show(child)} {counts}"
    is_full = n_required == known.limit
    known.allowed[:, is_full] &= known.required[:, is_full]
    return None


def _extent(known: Implications) -> tuple[int, ...]:
    """Measure what is implied; it is the same again only when nothing was added."""
    arcs = (int(np.count_nonzero(matrix)) for matrix in (known.allowed, known.required))
    pairs = map(len, (known.edges, known.paths, known.no_paths))
    return (*arcs, *pairs, int(known.limit.sum(dtype=np.int64)))
