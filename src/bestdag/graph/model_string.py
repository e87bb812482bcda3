"""Model strings, as R's bnlearn writes structures: ``[A][C][B|A:C]``."""

from __future__ import annotations

import re

from bestdag.errors import GraphError
from bestdag.graph._names import show
from bestdag.graph.dag import Dag

__all__ = ["dag_from_model_string", "to_model_string"]

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
        found = _NODE.match(text, place)
        if found is None:
            raise GraphError(
                f"{who}: character {place + 1:,} must begin a node such as '[B|A:C]', got "
                f"{text[place : place + 20]!r}"
            )
        child, given = _names(who, found.group(0).strip(), found.group(1))
        if child in parents:
            raise GraphError(f"{who}: node {show(child)} is listed twice")
        parents[child] = given
        place = found.end()
    for child, given in parents.items():
        absent = next((parent for parent in given if parent not in parents), None)
        if absent is not None:
            raise GraphError(
                f"{who}: {show(absent)}, a parent of {show(child)}, is not listed as a node; "
                f"add '[{absent}]'"
            )
    return Dag(parents, [(parent, child) for child, given in parents.items() for parent in given])


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
