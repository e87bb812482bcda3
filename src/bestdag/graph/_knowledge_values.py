"""All fields of a Knowledge together: as plain values, as single statements, joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestdag.errors import GraphError
from bestdag.graph._statements import OPERATORS, Statement

__all__ = ["joined", "plain", "split"]


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that say something, as lists, texts and numbers."""
    found: dict[str, Any] = {}
    for field, value in values.items():
        if value == () or value is None or value is True:
            continue
        if field == "max_parents_of":
            found[field] = dict(value)
        elif isinstance(value, tuple):
            found[field] = [list(item) if isinstance(item, tuple) else item for item in value]
        else:
            found[field] = value
    return found


def split(values: Mapping[str, Any]) -> tuple[Statement, ...]:
    """Return the statements one by one; tiers, and a total order, are one each."""
    found = []
    for field, value in values.items():
        if field in OPERATORS or field == "max_parents_of":
            found += [Statement(field, item) for item in value]
        elif field in ("roots", "leaves"):
            found += [Statement(field, (name,)) for name in value]
        elif field == "tiers" and value:
            found.append(Statement(field, (value, values["within_tiers"])))
        elif (field == "total_order" and value) or (field == "max_parents" and value is not None):
            found.append(Statement(field, value))
    return tuple(found)


def joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Join the plain values of two; a limit on parents is the smaller one."""
    values = dict(one)
    for field, value in other.items():
        if field not in values or values[field] == value:
            values[field] = value
        elif field in ("tiers", "total_order"):
            raise GraphError(f"Knowledge: two different {field} cannot be joined; give one")
        elif field == "max_parents":
            values[field] = min(value, values[field])
        elif field == "max_parents_of":
            limits = values[field]
            values[field] = limits | {k: min(n, limits.get(k, n)) for k, n in value.items()}
        else:
            values[field] = values[field] + value
    return values
