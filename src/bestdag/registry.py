"""Making things from the one list that names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from bestdag.errors import as_option, unknown_name

__all__ = ["canonical", "make"]


def canonical(name: str, known: Iterable[str]) -> str:
    """Return the known name that this one means, whatever its case and dashes; else itself.

    Examples
    --------
    >>> known = ["bic", "min_bdeu"]
    >>> canonical("BIC", known), canonical("Min-BDeu", known), canonical("MinBDeu", known)
    ('bic', 'min_bdeu', 'min_bdeu')
    >>> canonical("Bdu", known)
    'Bdu'
    """
    return {_folded(one): one for one in known}.get(_folded(str(name)), name)


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def make(
    kind: str,
    name: str,
    listed: Mapping[str, Any],
    aliases: Mapping[str, str],
    settings: Mapping[str, Any],
) -> Any:
    """Make an entry of a list from its name and its settings; unknown ones get a suggestion.

    Upper and lower case, dashes and underscores in the name do not matter.
    """
    key = canonical(name, [*listed, *aliases])
    key = aliases.get(key, key)
    if key not in listed:
        raise unknown_name(kind, name, [*listed, *aliases])
    known = [field.name for field in fields(listed[key])]
    for setting in settings:
        if setting not in known:
            raise unknown_name("setting", setting, known, who=key).with_option(
                f"{as_option(setting)} does not belong to the {kind} {key}"
            )
    return listed[key](**settings)
