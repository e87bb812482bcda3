"""Options of runs that are kept in a file while they work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bestdag.cli.durations import DURATION

__all__ = ["checkpoint_options", "checkpoint_settings"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--checkpoint",
        metavar="FILE",
        help="Save the run to this file while it works, and its result at the end.",
    ),
    click.option(
        "--checkpoint-every",
        type=DURATION,
        metavar="TIME",
        help="How often --checkpoint is written.  [default: 30s]",
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Continue from the file of --checkpoint, if there is one; --time-limit covers all "
        "parts.",
    ),
)


def checkpoint_options(function: _Function) -> _Function:
    """Add --checkpoint, --checkpoint-every and --resume; --force is there already."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def checkpoint_settings(options: dict[str, Any], *, others: bool) -> dict[str, Any]:
    """Return the arguments of the run; takes the options out, but for --force.

    `others` says that there are other files to which --force belongs: then beside --resume it is
    about these.
    """
    path, every = options.pop("checkpoint"), options.pop("checkpoint_every")
    resume, force = options.pop("resume"), options["force"]
    return {
        "checkpoint": path,
        "checkpoint_every": every,
        "resume": resume,
        "force": force and path is not None and not (resume and others),
    }
