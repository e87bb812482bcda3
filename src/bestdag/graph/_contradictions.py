"""Statements that cannot hold together, found and named."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence

from bestdag.errors import CycleError, GraphError
from bestdag.graph._propagation import Board
from bestdag.graph._statements import OPERATORS, Statement, in_quotes, listing

__all__ = [
    "contradiction",
    "path_text",
    "precedence_path",
    "precedence_steps",
    "refuse_contradictions",
    "settled",
]

# Statements that want something to be there; without any, the empty graph satisfies all.
_POSITIVE = frozenset(("required_arcs", "required_edges", "ancestors"))
# Statements that put one node before another.
_PRECEDING = frozenset(("required_arcs", "order", "ancestors"))


def refuse_contradictions(statements: Sequence[Statement]) -> None:
    """Refuse statements that no graph satisfies, whatever other nodes there are."""
    _refuse_outside_total_order(statements)
    _refuse_cycle(statements)
    if any(statement.field in _POSITIVE for statement in statements):
        error = contradiction(statements, None)
        if error is not None:
            raise error


def settled(statements: Sequence[Statement], names: Sequence[str]) -> Board:
    """Settle the statements over all nodes there are."""
    board = Board(names, statements, is_open=False)
    if board.settle() is not None:
        error = contradiction(statements, names)
        assert error is not None
        raise error
    return board


def contradiction(
    statements: Sequence[Statement], names: Sequence[str] | None
) -> GraphError | None:
    """Build the error that names the fewest statements that clash, or None when none do.

    Fewest in the sense that each is needed: without it the others can hold.
    """

    def clash(some: Sequence[Statement]) -> str | None:
        return _clash(some, names)

    if clash(statements) is None:
        return None
    core = _shrink(list(statements), lambda some: clash(some) is not None)
    place = "" if names is None else f" over these {len(names):,} nodes"
    shown = listing((_text_in(statement, core) for statement in core), "; ")
    return GraphError(f"Knowledge: {clash(core)}{place}; what clashes: {shown}")


def _clash(statements: Sequence[Statement], names: Sequence[str] | None) -> str | None:
    if names is not None:
        return Board(names, statements, is_open=False).settle()
    named = sorted({name for statement in statements for name in statement.names()})
    is_open = not any(statement.field == "total_order" for statement in statements)
    return Board(named, statements, is_open=is_open).settle()


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


def _refuse_outside_total_order(statements: Sequence[Statement]) -> None:
    for total in statements:
        if total.field != "total_order":
            continue
        place = {name: i for i, name in enumerate(total.value)}
        for statement in statements:
            for name in statement.names():
                if name not in place:
                    raise GraphError(
                        f"Knowledge: total_order must list every node, and {in_quotes(name)} "
                        f"of '{statement.text({name})}' is not in it; "
                        "for some nodes use order (A < B)"
                    )
            if statement.field in _PRECEDING:
                first, second = statement.value
                if place[first] > place[second]:
                    raise CycleError(
                        f"Knowledge: {statement.text()} runs against "
                        f"'{total.text({first, second})}'"
                    )


def _refuse_cycle(statements: Sequence[Statement]) -> None:
    """Refuse required arcs, orders and ancestor statements that lead round in a circle."""
    steps = precedence_steps(statements)
    for name in sorted(_on_cycles({start: {*ends} for start, ends in steps.items()})):
        path = precedence_path(steps, name, name)
        if path is not None:
            only_arcs = {sign for sign, _ in path} == {"->"}
            what = "required arcs" if only_arcs else "these statements"
            raise CycleError(f"Knowledge: {what} close a cycle: {path_text(name, path)}")


def precedence_steps(statements: Sequence[Statement]) -> dict[str, dict[str, str]]:
    """Map each node to those said to come after it, each with the sign that says so."""
    steps: dict[str, dict[str, str]] = {}
    for statement in statements:
        if statement.field in _PRECEDING:
            first, second = statement.value
            steps.setdefault(first, {}).setdefault(second, OPERATORS[statement.field])
    return steps


def _on_cycles(children: dict[str, set[str]]) -> Collection[str]:
    """Return the nodes left when those without children, then theirs, are taken away."""
    n_left = {name: len(group) for name, group in children.items()}
    parents: dict[str, list[str]] = {}
    for parent, group in children.items():
        for child in group:
            parents.setdefault(child, []).append(parent)
    ends = [name for name in parents if name not in children]
    while ends:
        for parent in parents.get(ends.pop(), ()):
            n_left[parent] -= 1
            if n_left[parent] == 0:
                ends.append(parent)
    return [name for name, n in n_left.items() if n > 0]


def precedence_path(
    steps: dict[str, dict[str, str]], start: str, end: str
) -> list[tuple[str, str]] | None:
    """Return a shortest way along what is said to come after, as (sign, name) pairs."""
    came: dict[str, tuple[str, str]] = {}
    queue = deque([start])
    while queue and end not in came:
        node = queue.popleft()
        for name, sign in steps.get(node, {}).items():
            if name not in came:
                came[name] = (node, sign)
                queue.append(name)
    if end not in came:
        return None
    path: list[tuple[str, str]] = []
    node = end
    while not path or node != start:
        before, sign = came[node]
        path.append((sign, node))
        node = before
    return path[::-1]


def path_text(start: str, path: Sequence[tuple[str, str]]) -> str:
    """Write a way along statements, such as ``A -> B < C``."""
    pieces = [in_quotes(start), *(f"{sign} {in_quotes(name)}" for sign, name in path)]
    return listing(pieces, " ")
