"""Statements that cannot hold together, found and named."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bestdag.errors import CycleError, GraphError
from bestdag.graph._names import listing
from bestdag.graph._walks import topological_order
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds import Statement
from bestdag.graph.knowledge.kinds.order import Precedence
from bestdag.graph.knowledge.propagation import propagate

__all__ = ["implications", "refuse_contradictions"]


def refuse_contradictions(statements: Sequence[Statement]) -> None:
    """Refuse statements that no graph satisfies, whatever other nodes there are."""
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
    found = propagate(statements, names)
    if isinstance(found, Implications):
        return found
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
