"""Which statements a graph breaks, in words: the definition of each kind of statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bestdag.graph._contradictions import path_text, precedence_path, precedence_steps
from bestdag.graph._names import arc_text
from bestdag.graph._statements import Statement, in_quotes, listing
from bestdag.graph.dag import Dag

__all__ = ["violations"]

# Statements of which the field says enough.
_LONG = ("tiers", "total_order", "roots", "leaves")


def violations(statements: Sequence[Statement], dag: Dag) -> Iterator[str]:
    """Go through the statements and say of each broken one what breaks it."""
    for statement in statements:
        field, value = statement
        if field == "tiers":
            broken = _in_tiers(value, dag)
        elif field == "total_order":
            broken = _in_total_order(value, dag)
        elif field == "max_parents":
            broken = (_too_many(name, value, dag) for name in dag.nodes)
        elif field == "max_parents_of":
            broken = iter([_too_many(value[0], value[1], dag)])
        elif field in ("roots", "leaves"):
            broken = (_not_alone(field, name, dag) for name in value)
        else:
            broken = iter([_in_pair(field, value[0], value[1], dag)])
        yield from (f"{_head(statement)}: {text}" for text in broken if text)
    if any(statement.field == "order" for statement in statements):
        yield from _against_order(statements, dag)


def _head(statement: Statement) -> str:
    return statement.field if statement.field in _LONG else statement.text()


def _in_pair(field: str, one: str, other: str, dag: Dag) -> str:
    forward, backward = dag.has_arc(one, other), dag.has_arc(other, one)
    if field == "required_arcs":
        return "" if forward else "the arc is missing"
    if field == "forbidden_arcs":
        return "the arc is there" if forward else ""
    if field == "required_edges":
        return "" if forward or backward else "neither arc is there"
    if field == "forbidden_edges":
        found = (one, other) if forward else (other, one)
        return f"arc {arc_text(*found)} is there" if forward or backward else ""
    if field == "ancestors":
        return "" if one in dag.ancestors(other) else "no path leads there"
    if field == "non_ancestors":
        return "a path leads there" if one in dag.ancestors(other) else ""
    return ""  # order: seen by all its pairs together


def _in_tiers(value: tuple[tuple[tuple[str, ...], ...], bool], dag: Dag) -> Iterator[str]:
    tiers, within = value
    tier_of = {name: number for number, tier in enumerate(tiers, start=1) for name in tier}
    for parent, child in dag.arcs:
        if parent in tier_of and child in tier_of:
            start, end = tier_of[parent], tier_of[child]
            if start > end:
                yield f"arc {arc_text(parent, child)} leads up, from tier {start} to tier {end}"
            elif start == end and not within:
                yield f"arc {arc_text(parent, child)} stays within tier {start}"


def _in_total_order(order: Sequence[str], dag: Dag) -> Iterator[str]:
    place = {name: i for i, name in enumerate(order)}
    for parent, child in dag.arcs:
        if place[parent] > place[child]:
            yield f"arc {arc_text(parent, child)} leads back"


def _too_many(name: str, limit: int, dag: Dag) -> str:
    n_parents = len(dag.parents(name))
    text = f"node {in_quotes(name)} has {n_parents:,} parents"
    return text if n_parents > limit else ""


def _not_alone(field: str, name: str, dag: Dag) -> str:
    group = dag.parents(name) if field == "roots" else dag.children(name)
    kind = "parents" if field == "roots" else "children"
    shown = listing(map(in_quotes, group), ", ")
    return f"node {in_quotes(name)} has {kind}: {shown}" if group else ""


def _against_order(statements: Sequence[Statement], dag: Dag) -> Iterator[str]:
    steps = precedence_steps(statements)
    for parent, child in dag.arcs:
        path = precedence_path(steps, child, parent)
        # A way of arcs and paths alone would say that one of those statements is broken.
        if path is not None and any(sign == "<" for sign, _ in path):
            yield f"order: arc {arc_text(parent, child)} leads back: {path_text(child, path)}"
