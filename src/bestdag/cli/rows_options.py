"""Options that say where the rows of a table are, and the reading they ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.options import read_settings

if TYPE_CHECKING:
    from bestdag.data.readers import Rows

__all__ = [
    "ROWS_OPTIONS",
    "rows_options",
    "rows_settings",
    "say_collapsed",
    "settings_of_read",
    "table_settings",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

ROWS_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "rows_in": click.option(
        "--rows-in",
        type=click.Choice(["auto", "memory", "disk"]),
        default="auto",
        show_default=True,
        help="Where to keep the rows: in memory if they fit within the limit, else on disk.",
    ),
    "cache": click.option(
        "--cache",
        metavar="DIR",
        help="Folder for the encoded rows on disk, reused while DATA is unchanged.",
    ),
    "collapse": click.option(
        "--collapse/--no-collapse",
        default=None,
        help="Combine identical rows into one row with a weight.  [default: if a sample suggests "
        "that at most an eighth of the rows remain]",
    ),
}


def rows_options(function: _Function) -> _Function:
    """Add the options that say where rows are."""
    for option in reversed(ROWS_OPTIONS.values()):
        function = option(function)
    return function


def rows_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take them out of a command's options."""
    return {name: options.pop(name) for name in ROWS_OPTIONS if name in options}


def table_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take what was said about reading a table out of a command's options."""
    return {**read_settings(options), **rows_settings(options)}


def say_collapsed(data: str, rows: Rows, *, quiet: bool) -> None:
    """Say how far putting equal rows together went, if that was done."""
    if not quiet:
        for note in rows.notes:
            click.echo(f"{data}: {note}", err=True)


def settings_of_read(
    settings: dict[str, Any], flag: str, does: str = "bins numeric columns in memory, row by row"
) -> dict[str, Any]:
    """Return the settings of `read` alone; numbers are cut in memory, or a flag does otherwise."""
    if settings.get("rows_in") == "disk" or settings.get("cache") or settings.get("collapse"):
        raise click.UsageError(f"{flag} {does}; leave out --rows-in disk, --cache and --collapse")
    return {name: value for name, value in settings.items() if name not in ROWS_OPTIONS}
