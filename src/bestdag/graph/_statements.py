"""Single statements of knowledge: their fields, their checks, how they are written."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from bestdag.errors import CycleError, GraphError, InvalidParameterError, require_count

__all__ = ["CHECKS", "OPERATORS", "Statement", "bare_name", "brief", "in_quotes", "listing"]

# The fields that hold pairs of names, and the sign each is written with.
OPERATORS = {
    "required_arcs": "->",
    "forbidden_arcs": "!>",
    "required_edges": "--",
    "forbidden_edges": "!-",
    "order": "<",
    "ancestors": "~>",
    "non_ancestors": "!~>",
}

# A name that needs no quotes: no space, none of the signs of the grammar.
bare_name = re.compile(r"""(?:(?!->|--)[^\s,|:;"'<>!~])+""")

_MAX_SHOWN = 12
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 100


def in_quotes(name: str) -> str:
    """Write a name for the text form: as it is, or as a JSON string where it must be quoted."""
    if bare_name.fullmatch(name) and name.isprintable() and not name.startswith("-"):
        return name
    return json.dumps(name, ensure_ascii=not name.isprintable())


def listing(parts: Iterable[str], joint: str) -> str:
    """Join the parts; of very many the first and the last, so that an error stays one line."""
    shown = list(parts)
    if len(shown) > _MAX_SHOWN:
        hidden = len(shown) - _MAX_SHOWN
        half = _MAX_SHOWN // 2
        shown = [*shown[:half], f"... ({hidden:,} more) ...", *shown[-half:]]
    return joint.join(shown)


def brief(value: object) -> str:
    """Write a value that was given, in one line of bounded length."""
    return " ".join(_short.repr(value).split())


class Statement(NamedTuple):
    """One thing the user said: a field of Knowledge and one item of it."""

    field: str
    value: Any

    def names(self) -> tuple[str, ...]:
        """Nodes the statement speaks of."""
        if self.field == "max_parents":
            return ()
        if self.field == "max_parents_of":
            return (self.value[0],)
        if self.field == "tiers":
            return tuple(name for tier in self.value[0] for name in tier)
        return tuple(self.value)

    def text(self, only: Collection[str] | None = None) -> str:
        """Write the statement as `Knowledge.parse` reads it; long lists for some names only."""
        if self.field in OPERATORS:
            return f" {OPERATORS[self.field]} ".join(map(in_quotes, self.value))
        if self.field == "max_parents":
            return f"max_parents: {self.value}"
        if self.field == "max_parents_of":
            return f"max_parents {in_quotes(self.value[0])}: {self.value[1]}"
        if self.field == "tiers":
            tiers = [
                [in_quotes(name) for name in tier if _kept(name, only)] for tier in self.value[0]
            ]
            flag = "" if self.value[1] else " (no arcs within a tier)" if only is not None else ""
            return "tiers: " + " | ".join(" ".join(tier) for tier in tiers if tier) + flag
        shown = ", ".join(in_quotes(name) for name in self.value if _kept(name, only))
        return f"{self.field}: {shown}"


def _kept(name: str, only: Collection[str] | None) -> bool:
    return only is None or name in only


def _check_name(field: str, name: object) -> str:
    if not isinstance(name, str):
        raise GraphError(f"Knowledge: {field}: a node's name must be text, got {brief(name)}")
    return str.__str__(name)  # ordinary text, also of NumPy's strings


def _as_items(field: str, value: object, needed: str) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise GraphError(f"Knowledge: {field} must be a list of {needed}, got {brief(value)}")
    return list(value)


def _check_pairs(field: str, value: object) -> tuple[tuple[str, str], ...]:
    """Return the pairs without repetition, sorted; those of edges with the first name first."""
    found: set[tuple[str, str]] = set()
    for item in _as_items(field, value, "pairs of names"):
        pair = item if isinstance(item, (tuple, list)) else ()
        if len(pair) != 2:
            raise GraphError(
                f"Knowledge: {field} must be a list of pairs of names, got {brief(item)}"
            )
        first, second = (_check_name(field, name) for name in pair)
        if first == second:
            text = Statement(field, (first, second)).text()
            error = CycleError if field in ("required_arcs", "order", "ancestors") else GraphError
            raise error(f"Knowledge: {field}: {text} joins a node with itself")
        turn = "edges" in field and second < first
        found.add((second, first) if turn else (first, second))
    return tuple(sorted(found))


def _check_names(field: str, value: object) -> tuple[str, ...]:
    names = (_check_name(field, name) for name in _as_items(field, value, "names"))
    return tuple(sorted(set(names)))


def _check_order(field: str, value: object) -> tuple[str, ...]:
    names = [_check_name(field, name) for name in _as_items(field, value, "names")]
    _refuse_twice(field, names)
    return tuple(names)


def _check_tiers(field: str, value: object) -> tuple[tuple[str, ...], ...]:
    tiers = []
    for number, tier in enumerate(_as_items(field, value, "lists of names"), start=1):
        place = f"{field}: tier {number:,}"
        names = [_check_name(place, name) for name in _as_items(place, tier, "names")]
        if not names:
            raise GraphError(f"Knowledge: {place} is empty; leave it out")
        tiers.append(names)
    _refuse_twice(field, [name for tier in tiers for name in tier])
    return tuple(tuple(sorted(tier)) for tier in tiers)


def _refuse_twice(field: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise GraphError(f"Knowledge: {field} lists node {in_quotes(name)} twice")
        seen.add(name)


def _check_limit(field: str, value: Any) -> int | None:
    return None if value is None else require_count("Knowledge", field, value)


def _check_limits(field: str, value: Any) -> tuple[tuple[str, int], ...]:
    """Return the limits of single nodes, from a mapping or from pairs."""
    items = value.items() if isinstance(value, Mapping) else value
    limits: dict[str, int] = {}
    for item in _as_items(field, items, "pairs (node, number), or a mapping"):
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise GraphError(f"Knowledge: {field} must give a number per node, got {brief(item)}")
        name = _check_name(field, item[0])
        if name in limits:
            raise GraphError(f"Knowledge: {field} lists node {in_quotes(name)} twice")
        limits[name] = require_count("Knowledge", f"{field} of {in_quotes(name)}", item[1])
    return tuple(sorted(limits.items()))


def _check_flag(field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameterError(f"Knowledge: {field} must be true or false, got {brief(value)}")
    return value


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "required_arcs": _check_pairs,
    "forbidden_arcs": _check_pairs,
    "required_edges": _check_pairs,
    "forbidden_edges": _check_pairs,
    "tiers": _check_tiers,
    "within_tiers": _check_flag,
    "order": _check_pairs,
    "total_order": _check_order,
    "ancestors": _check_pairs,
    "non_ancestors": _check_pairs,
    "roots": _check_names,
    "leaves": _check_names,
    "max_parents": _check_limit,
    "max_parents_of": _check_limits,
}
