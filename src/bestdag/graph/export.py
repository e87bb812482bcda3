"""Graphs for other programs: networkx and Graphviz."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bestdag.errors import GraphError, import_optional
from bestdag.graph._names import arc_text, show
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.wording import count_of

if TYPE_CHECKING:
    import networkx

__all__ = [
    "dag_from_model_string",
    "dag_from_networkx",
    "dag_to_networkx",
    "pdag_from_networkx",
    "pdag_to_networkx",
    "to_dot",
    "to_model_string",
    "to_text",
]

# Lines of to_text beyond this number are counted, not shown.
_MAX_LINES = 30


def dag_to_networkx(dag: Dag) -> networkx.DiGraph[str]:
    """Return a DiGraph with the same nodes, in order, and the same arcs."""
    return _digraph(dag.nodes, dag.arcs)


def pdag_to_networkx(graph: Pdag) -> networkx.DiGraph[str]:
    """Return a DiGraph in which an undirected edge is a pair of opposite arcs.

    No information is lost: a Pdag has no directed cycle, so opposite arcs can mean
    nothing else.
    """
    back = [(other, one) for one, other in graph.edges]
    return _digraph(graph.nodes, [*graph.arcs, *graph.edges, *back])


def dag_from_networkx(graph: networkx.Graph[Any]) -> Dag:
    """Build a Dag from a DiGraph; attributes of nodes and arcs are not read."""
    nodes, pairs = _content("Dag.from_networkx", graph)
    if not graph.is_directed():
        raise GraphError(
            "Dag.from_networkx: needs a directed graph, got an undirected one; "
            "Pdag.from_networkx reads it"
        )
    return Dag(nodes, pairs)


def pdag_from_networkx(graph: networkx.Graph[Any]) -> Pdag:
    """Build a Pdag from a DiGraph with opposite arcs for edges, or from a Graph."""
    nodes, pairs = _content("Pdag.from_networkx", graph)
    if not graph.is_directed():
        return Pdag(nodes, [], pairs)
    there = set(pairs)
    arcs, edges = [], []
    for one, other in pairs:
        if one == other or (other, one) not in there:
            arcs.append((one, other))
        elif one < other:
            edges.append((one, other))
    return Pdag(nodes, arcs, edges)


def to_dot(
    nodes: Iterable[str],
    arcs: Iterable[tuple[str, str]],
    edges: Iterable[tuple[str, str]] = (),
) -> str:
    r"""Write a graph in Graphviz's DOT language, every name quoted.

    Examples
    --------
    >>> print(to_dot(["A", 'the "B"'], [("A", 'the "B"')]))
    digraph {
      "A";
      "the \"B\"";
      "A" -> "the \"B\"";
    }
    """
    lines = [f"  {_dot_node(name)};" for name in nodes]
    lines += [f"  {_quoted(parent)} -> {_quoted(child)};" for parent, child in arcs]
    lines += [f"  {_quoted(one)} -> {_quoted(other)} [dir=none];" for one, other in edges]
    return "\n".join(["digraph {", *lines, "}"])


def to_text(
    kind: str,
    nodes: Iterable[str],
    arcs: Iterable[tuple[str, str]],
    edges: Iterable[tuple[str, str]] = (),
) -> str:
    """Write a graph for people: its size, then one line for each arc, edge and isolated node.

    Examples
    --------
    >>> print(to_text("Dag", ["A", "B", "C"], [("A", "B")]))
    Dag: 3 nodes, 1 arc
      A -> B
      C
    """
    arcs, edges = list(arcs), list(edges)
    joined = {name for pair in (*arcs, *edges) for name in pair}
    names = list(nodes)
    lines = [f"  {arc_text(*arc)}" for arc in arcs]
    lines += [f"  {show(one)} - {show(other)}" for one, other in edges]
    lines += [f"  {show(name)}" for name in sorted(names) if name not in joined]
    if len(lines) > _MAX_LINES:
        lines[_MAX_LINES:] = [f"  ... ({len(lines) - _MAX_LINES:,} more)"]
    sizes = [count_of(len(names), "node"), count_of(len(arcs), "arc")]
    sizes += [count_of(len(edges), "edge")] if edges else []
    return "\n".join([f"{kind}: {', '.join(sizes)}", *lines])


def _dot_node(name: str) -> str:
    # Graphviz reads HTML entities such as &lt; in labels (not in names): show them as they are.
    label = f" [label={_quoted(name.replace('&', '&amp;'))}]" if "&" in name else ""
    return _quoted(name) + label


def _quoted(name: str) -> str:
    if "\0" in name:
        raise GraphError(f"to_dot: DOT has no way to write the NUL character in node {name!r}")
    # Both characters need a backslash: a name may end in one.
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _digraph(nodes: Iterable[str], arcs: Iterable[tuple[str, str]]) -> networkx.DiGraph[str]:
    graph: networkx.DiGraph[str] = import_optional("networkx", who="to_networkx").DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(arcs)
    return graph


def _content(who: str, graph: networkx.Graph[Any]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return nodes and pairs of a networkx graph (known by its methods, without importing it)."""
    if not all(hasattr(graph, method) for method in ("is_directed", "nodes", "edges")):
        raise GraphError(f"{who}: needs a networkx graph, got {type(graph).__name__}")
    nodes = list(graph.nodes())
    for node in nodes:
        if not isinstance(node, str):
            raise GraphError(
                f"{who}: a node's name must be text, got {node!r}; "
                "networkx.relabel_nodes(graph, str) makes text of all"
            )
    return nodes, [(one, other) for one, other in graph.edges()]


_SIGNS = "[]|:"
_NODE = re.compile(r"\s*\[([^\[\]]*)\]\s*")


def dag_from_model_string(text: str) -> Dag:
    """Read a structure; its nodes are in the order of the text."""
    who = "Dag.from_model_string"
    if not isinstance(text, str):
        raise GraphError(f"{who}: needs a text such as '[A][C][B|A:C]', got {text!r:.60}")
    if not text.strip():
        raise GraphError(f"{who}: needs a text such as '[A][C][B|A:C]', got an empty one")
    parents: dict[str, list[str]] = {}
    place = 0
    while place < len(text):
        match = _NODE.match(text, place)
        if match is None:
            raise GraphError(
                f"{who}: character {place + 1:,} must begin a node such as '[B|A:C]', got "
                f"{text[place : place + 20]!r}"
            )
        child, own_parents = _names(who, match.group(0).strip(), match.group(1))
        if child in parents:
            raise GraphError(f"{who}: node {show(child)} is listed twice")
        parents[child] = own_parents
        place = match.end()
    for child, own_parents in parents.items():
        absent = next((parent for parent in own_parents if parent not in parents), None)
        if absent is not None:
            raise GraphError(
                f"{who}: {show(absent)}, a parent of {show(child)}, is not listed as a node; "
                f"add '[{absent}]'"
            )
    return Dag(
        parents,
        [(parent, child) for child, own_parents in parents.items() for parent in own_parents],
    )


def to_model_string(dag: Dag) -> str:
    """Write a structure, each node after its parents; ties go to the first name."""
    for name in dag.nodes:
        reason = _reason(name)
        if reason:
            raise GraphError(
                f"to_model_string: node {name!r} {reason}, which a model string cannot hold; "
                "rename it"
            )
    parts = []
    for name in dag.topological_order():
        parents = ":".join(dag.parents(name))
        parts.append(f"[{name}|{parents}]" if parents else f"[{name}]")
    return "".join(parts)


def _names(who: str, part: str, inside: str) -> tuple[str, list[str]]:
    """Return the child and its parents, without the spaces around them."""
    child, bar, rest = inside.partition("|")
    listed = [name.strip() for name in rest.split(":")] if bar else []
    names = [child.strip(), *listed]
    if "|" in rest or ":" in child or "" in names:
        raise GraphError(
            f"{who}: {part!r:.60} must be a node, or a node, '|' and its parents with ':' between"
        )
    return names[0], listed


def _reason(name: str) -> str | None:
    """Say what in a name a model string cannot hold."""
    if not name:
        return "has an empty name"
    sign = next((sign for sign in _SIGNS if sign in name), None)
    if sign is not None:
        return f"has {sign!r} in its name"
    return "has spaces around its name" if name != name.strip() else None
