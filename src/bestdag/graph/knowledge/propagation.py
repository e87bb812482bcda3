"""Constraint propagation: what statements imply together, or what contradicts what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestdag.graph.knowledge.implications import Implications, pairs_of
from bestdag.graph.knowledge.kinds import KINDS, Statement

__all__ = ["propagate"]


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
    """Measure what is known; it is the same again only when nothing was added."""
    arcs = (int(np.count_nonzero(matrix)) for matrix in (known.allowed, known.required))
    pairs = map(len, (known.edges, known.paths, known.no_paths))
    return (*arcs, *pairs, int(known.limit.sum(dtype=np.int64)))
