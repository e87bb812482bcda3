"""Options made of the settings that scores, searches and estimators declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

import click

from bestdag.cli.durations import DURATION
from bestdag.registry import Setting, canonical, settings_of

__all__ = [
    "made_of_text",
    "option_of",
    "parse_choice",
    "settings_options",
    "shown_settings",
    "taken_settings",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def option_of(name: str) -> str:
    """Return the option of a setting.

    Examples
    --------
    >>> option_of("max_parents")
    '--max-parents'
    """
    return f"--{name.replace('_', '-')}"


def settings_options(
    listed: Mapping[str, Any], *, but: Sequence[str] = ()
) -> Callable[[_Function], _Function]:
    """Add an option for each setting of the classes of a list, but those named."""
    by_name: dict[str, list[Setting]] = {}
    for entry in listed.values():
        for one in settings_of(entry):
            if one.name not in but:
                by_name.setdefault(one.name, []).append(one)

    def decorate(function: _Function) -> _Function:
        for name, owners in reversed(by_name.items()):
            kind = _click_type(owners[0])
            function = click.option(
                option_of(name),
                name,
                type=kind,
                metavar=_metavar(owners[0], kind),
                help=_help(owners),
            )(function)
        return function

    return decorate


def taken_settings(
    listed: Mapping[str, Any], options: dict[str, Any], chosen: Iterable[str], what: str
) -> dict[str, Any]:
    """Take the settings that were given out of `options`; each must belong to something chosen."""
    known = {one.name for key in chosen if key in listed for one in settings_of(listed[key])}
    given = {}
    for entry in listed.values():
        for one in settings_of(entry):
            value = options.pop(one.name, None)
            if value is not None:
                given[one.name] = value
    for name in given:
        if name not in known and all(key in listed for key in chosen):
            names = ", ".join(chosen)
            text = f"{option_of(name)} does not belong to the {what} {names}"
            raise click.UsageError(f"{text}, but to {_owners(listed, name)}")
    return given


def _owners(listed: Mapping[str, Any], setting: str) -> str:
    """Name those of a list that have a setting."""
    owners = [
        name for name, one in listed.items() if setting in {own.name for own in settings_of(one)}
    ]
    return owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} and {owners[-1]}"


def made_of_text(entry: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that belong to a class, with files loaded."""
    return {
        one.name: given[one.name] if one.load is None else _LOADERS[one.load](given[one.name])
        for one in settings_of(entry)
        if one.name in given
    }


def shown_settings(made: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of what was made that are not None; files by their names."""
    values = {one.name: given.get(one.name, getattr(made, one.name)) for one in settings_of(made)}
    return {name: values[name] for name in sorted(values) if values[name] is not None}


def parse_choice(text: str, listed: Mapping[str, Any], what: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the settings of a text such as "dirichlet,ess=10".

    Examples
    --------
    >>> from bestdag.parameters import ESTIMATORS
    >>> parse_choice("dirichlet,ess=10", ESTIMATORS, "parameters")
    ('dirichlet', {'ess': 10.0})
    """
    name, *rest = (part.strip() for part in text.split(","))
    name = canonical(name, listed)
    options: dict[str, Any] = {}
    for part in rest:
        key, sign, value = part.partition("=")
        if not sign:
            raise click.UsageError(
                f"'{part}' must be a setting and its value, as in dirichlet,ess=10"
            )
        options[canonical(key.strip(), _names(listed))] = value.strip()
    kinds = {one.name: _click_type(one) for entry in listed.values() for one in settings_of(entry)}
    given = {k: kinds[k].convert(v, None, None) if k in kinds else v for k, v in options.items()}
    for key in given:
        if name in listed and key not in {one.name for one in settings_of(listed[name])}:
            raise click.UsageError(f"{key} does not belong to the {what} {name}")
    return name, made_of_text(listed[name], given) if name in listed else given


def _names(listed: Mapping[str, Any]) -> list[str]:
    return [one.name for entry in listed.values() for one in settings_of(entry)]


class _Names(click.ParamType[Any]):
    name = "names"

    def convert(self, value: Any, *_: Any) -> tuple[str, ...]:
        return tuple(part.strip() for part in value.split(","))


def _click_type(one: Setting) -> click.ParamType[Any]:
    kinds = [kind for kind in get_args(one.kind) or (one.kind,) if kind is not NoneType]
    if one.is_duration:
        return DURATION
    if one.load is not None:
        return click.STRING
    if get_origin(one.kind) is Literal:
        return click.Choice(list(get_args(one.kind)))
    if any(get_origin(kind) is Sequence for kind in kinds):
        return _Names()
    kind: click.ParamType[Any] = click.types.convert_type(kinds[0])
    return kind


def _metavar(one: Setting, kind: click.ParamType[Any]) -> str | None:
    if one.load is not None:
        return "START" if one.load == "start" else "FILE"
    return "NAMES" if isinstance(kind, _Names) else None


def _help(owners: Sequence[Setting]) -> str:
    """Say whose setting it is, what it does, and its default."""
    texts: dict[str, list[str]] = {}
    for one in owners:
        has_default = one.default is not None and "[default" not in one.help
        default = f"  [default: {_shown(one.default)}]"
        texts.setdefault(one.help + (default if has_default else ""), []).append(one.owner)
    return "  ".join(f"{', '.join(names)}: {text}" for text, names in texts.items())


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value}"


def _network(path: str) -> Any:
    from bestdag.network.network import Network

    return Network.load(path)


def _tables(path: str) -> Any:
    from bestdag.scores.bd import PseudoCounts

    return PseudoCounts.load(path)


def _start(text: str) -> Any:
    """Return the name of a start of EM, or the network in a file."""
    return text if text in ("available", "uniform", "random") else _network(text)


_LOADERS = {"network": _network, "tables": _tables, "start": _start}
