"""Making things from the one list that names them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from typing import Any, NamedTuple, get_type_hints

from bestdag.errors import UnknownNameError, unknown_name
from bestdag.wording import as_option, by_reader

__all__ = ["Setting", "canonical", "listed", "make", "setting", "settings_among", "settings_of"]


def setting(
    default: Any,
    help: str,  # noqa: A002 (as in click)
    *,
    load: str | None = None,
    is_duration: bool = False,
) -> Any:
    """Declare a setting of a score, a search or an estimator: a field with its help text.

    Options of the command line are made of it. `load` names what a file on the command line holds,
    where the value is no number or text: "network", "tables", "structure" (of a network file, or a
    name) or "start" (a network file, or a name).
    A duration is in seconds; on the command line it may have a unit.
    """
    return field(default=default, metadata={"help": help, "load": load, "is_duration": is_duration})


class Setting(NamedTuple):
    """A setting of one class of a list."""

    owner: str
    name: str
    kind: Any
    default: Any
    help: str
    load: str | None
    is_duration: bool


def settings_of(entry: Any) -> Sequence[Setting]:
    """Return the settings that a class declares."""
    return _declared(entry if isinstance(entry, type) else type(entry))


def settings_among(listed: Mapping[str, Any]) -> dict[str, list[Setting]]:
    """Return the settings of the classes of a list by name, each as all that have it declare it."""
    by_name: dict[str, list[Setting]] = {}
    for entry in listed.values():
        for one in _declared(entry):
            by_name.setdefault(one.name, []).append(one)
    return by_name


@functools.cache
def _declared(entry: Any) -> tuple[Setting, ...]:
    kinds = get_type_hints(entry)
    return tuple(
        Setting(
            entry.name,
            one.name,
            kinds[one.name],
            None if one.default is MISSING else one.default,
            one.metadata["help"],
            one.metadata["load"],
            one.metadata["is_duration"],
        )
        for one in fields(entry)
    )


def listed(namespace: Mapping[str, Any], package: str) -> dict[str, Any]:
    """Return the classes with a name that a package imports from its modules, by that name.

    The lines that import them are the list; their order is that of help and docs.
    """
    classes = [value for value in namespace.values() if isinstance(value, type)]
    own = [entry for entry in classes if entry.__module__.startswith(f"{package}.")]
    names = [getattr(entry, "name", None) for entry in own]
    return {name: entry for name, entry in zip(names, own, strict=True) if isinstance(name, str)}


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
            python = str(unknown_name("setting", setting, known, who=key))
            option = f"{as_option(setting)} does not belong to the {kind} {key}"
            raise UnknownNameError(by_reader(python, option))
    return listed[key](**settings)
