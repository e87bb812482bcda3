"""The option that writes a network, shared by commands, and what is checked before the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bestdag.cli.output import require_new_file

__all__ = ["network_output", "require_network_output"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def network_output(*, required: bool) -> Callable[[_Function], _Function]:
    """Add -o and --force."""

    def decorate(function: _Function) -> _Function:
        function = click.option("--force", is_flag=True, help="Replace an existing file.")(function)
        return click.option(
            "-o",
            "--output",
            required=required,
            metavar="FILE",
            help="Network file to write, with fitted parameters (.bif or .json; also .gz).",
        )(function)

    return decorate


def require_network_output(path: str, *, force: bool) -> None:
    """Refuse, before any work, a file that could not be written at its end."""
    from pathlib import Path

    from bestdag.errors import unknown_name
    from bestdag.files import format_suffix, shown_path
    from bestdag.network.formats import FORMATS

    require_new_file(path, force=force)
    if path == "-":
        raise click.UsageError("-o needs a file whose name says its format: .bif or .json")
    if format_suffix(path) not in FORMATS:
        raise unknown_name(
            "network format", format_suffix(path), FORMATS, who=f"save: {shown_path(path)}"
        )
    if not Path(path).parent.is_dir():
        raise click.UsageError(f"the folder of {shown_path(path)} does not exist")
