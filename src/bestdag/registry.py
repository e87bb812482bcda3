"""Making things from the one list that names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from bestdag.errors import unknown_name

__all__ = ["make"]


def make(
    kind: str,
    name: str,
    listed: Mapping[str, Any],
    aliases: Mapping[str, str],
    settings: Mapping[str, Any],
) -> Any:
    """Make an entry of a list from its name and its settings; unknown ones get a suggestion."""
    key = aliases.get(name, name)
    if key not in listed:
        raise unknown_name(kind, name, [*listed, *aliases])
    known = [field.name for field in fields(listed[key])]
    for setting in settings:
        if setting not in known:
            raise unknown_name("setting", setting, known, who=key)
    return listed[key](**settings)
