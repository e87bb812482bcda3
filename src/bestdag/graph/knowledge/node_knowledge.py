"""Knowledge resolved to arrays over a fixed order of nodes: what a search works with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.errors import unknown_name
from bestdag.graph._names import check_nodes
from bestdag.graph.knowledge.contradictions import implications
from bestdag.graph.knowledge.kinds import Ancestors, NonAncestors, RequiredEdges, Statement

__all__ = ["NodeKnowledge", "require_names", "resolve"]


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
        """Return who may be a parent, required ones included: indices, ascending."""
        return np.flatnonzero(self.allowed[:, child])

    def required_parents(self, child: int) -> npt.NDArray[np.intp]:
        """Return who must be a parent: indices, ascending."""
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
