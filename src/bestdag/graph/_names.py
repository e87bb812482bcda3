"""Node names, and the words in which errors speak of nodes, arcs and cycles."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence

from bestdag.errors import CycleError, GraphError, unknown_name

__all__ = [
    "arc_text",
    "as_names",
    "check_nodes",
    "check_pair",
    "cycle_error",
    "reach",
    "require_node",
    "show",
]

# A cycle through thousands of nodes is shown by its ends: an error is one line.
_MAX_SHOWN = 12


def show(name: str) -> str:
    """Write a name as it is when that reads well, quoted when it does not."""
    plain = name.isprintable() and name == name.strip() and not set(name) & set("'\",->")
    return name if name and plain else repr(name)


def arc_text(parent: str, child: str) -> str:
    """Write an arc."""
    return f"{show(parent)} -> {show(child)}"


def check_nodes(who: str, nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the names as a tuple, refusing what is not text and what comes twice."""
    if isinstance(nodes, str):
        raise GraphError(f"{who}: nodes must be a list of names, got the text {nodes!r}")
    names = tuple(nodes)
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise GraphError(f"{who}: a node's name must be text, got {name!r}")
        if name in seen:
            raise GraphError(f"{who}: node {show(name)} is listed twice")
        seen.add(name)
    return names


def check_pair(who: str, kind: str, pair: object, known: Collection[str]) -> tuple[str, str]:
    """Return the two ends of an arc or edge, refusing unknown names and self-loops."""
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise GraphError(f"{who}: an {kind} must be a pair of names, got {pair!r}")
    first, second = pair
    link = " -> " if kind == "arc" else " - "
    for name in (first, second):
        if not isinstance(name, str) or name not in known:
            text = link.join(show(x) if isinstance(x, str) else repr(x) for x in pair)
            raise unknown_name("node", name, known, who=f"{kind} {text}")
    if first == second:
        text = f"{kind} {show(first)}{link}{show(first)} is a self-loop"
        raise CycleError(text) if kind == "arc" else GraphError(text)
    return first, second


def require_node(name: str, known: Collection[str]) -> str:
    """Return the name if it is a node, else raise with the nearest one."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name("node", name, known)
    return name


def as_names(names: str | Iterable[str], known: Collection[str]) -> frozenset[str]:
    """Return one name, or several, as a set of nodes."""
    several = (names,) if isinstance(names, str) else names
    return frozenset(require_node(name, known) for name in several)


def reach(starts: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    """Nodes reached from the starts in one step or more (and never by recursion)."""
    seen: set[str] = set()
    stack = list(starts)
    while stack:
        for name in step(stack.pop()):
            if name not in seen:
                seen.add(name)
                stack.append(name)
    return seen


def cycle_error(
    parent: str, child: str, children: Callable[[str], Iterable[str]]
) -> CycleError | None:
    """Build the error for an arc that closes a cycle, or None when it closes none.

    The cycle shown is a shortest one: the path from child to parent comes from a
    breadth-first walk.
    """
    came_from = {child: child}
    queue = deque([child])
    while queue and parent not in came_from:
        node = queue.popleft()
        for name in children(node):
            if name not in came_from:
                came_from[name] = node
                queue.append(name)
    if parent not in came_from:
        return None
    path = [parent]
    while path[-1] != child:
        path.append(came_from[path[-1]])
    shown = [show(name) for name in reversed(path)]
    if len(shown) > _MAX_SHOWN:
        hidden = len(shown) - _MAX_SHOWN
        half = _MAX_SHOWN // 2
        shown = [*shown[:half], f"... ({hidden:,} more) ...", *shown[-half:]]
    cycle = " -> ".join([*shown, show(child)])
    return CycleError(f"arc {arc_text(parent, child)} closes a cycle: {cycle}")
