"""Node names: the checks, and how errors write nodes and arcs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from bestdag.errors import CycleError, GraphError, unknown_name

__all__ = [
    "arc_text",
    "as_names",
    "check_nodes",
    "check_pair",
    "listing",
    "require_node",
    "show",
]

# A list of very many is shown by its ends: an error is one line.
_MAX_SHOWN = 12


def show(name: str) -> str:
    """Write a name as it is when that reads well, quoted when it does not."""
    odd = not name.isprintable() or name != name.strip() or "->" in name or " - " in name
    return repr(name) if odd or not name else name


def arc_text(parent: str, child: str) -> str:
    """Write an arc."""
    return f"{show(parent)} -> {show(child)}"


def listing(parts: Iterable[str], joint: str) -> str:
    """Join the parts; of very many the first and the last."""
    shown = list(parts)
    if len(shown) > _MAX_SHOWN:
        hidden = len(shown) - _MAX_SHOWN
        half = _MAX_SHOWN // 2
        shown = [*shown[:half], f"... ({hidden:,} more) ...", *shown[-half:]]
    return joint.join(shown)


def _plain(name: str) -> str:
    """Make ordinary text of a subclass of str, such as NumPy's."""
    return str.__str__(name)


def check_nodes(who: str, nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the names as a tuple, refusing what is not text and what comes twice."""
    if isinstance(nodes, str):
        raise GraphError(f"{who}: nodes must be a list of names, got the text {nodes!r}")
    if not isinstance(nodes, Iterable):
        raise GraphError(f"{who}: nodes must be a list of names, got {nodes!r:.60}")
    names = tuple(nodes)
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise GraphError(f"{who}: a node's name must be text, got {name!r}")
        if name in seen:
            raise GraphError(f"{who}: node {show(name)} is listed twice")
        seen.add(name)
    return tuple(map(_plain, names))


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
    return _plain(first), _plain(second)


def require_node(name: str, known: Collection[str]) -> str:
    """Return the name if it is a node, else raise with the nearest one."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name("node", name, known)
    return name


def as_names(names: str | Iterable[str], known: Collection[str]) -> frozenset[str]:
    """Return one name, or several, as a set of nodes."""
    several = (names,) if isinstance(names, str) else names
    return frozenset(require_node(name, known) for name in several)
