"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["common_options", "data_options", "read_settings", "threads_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_DATA = (
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "state", "keep"]),
        default="error",
        show_default=True,
        help="Missing cells: refuse them, drop their rows, make them a state, keep them.",
    ),
    click.option(
        "--missing-value",
        "missing_values",
        multiple=True,
        default=("",),
        metavar="TEXT",
        help="A cell text that means missing; may be repeated.  [default: empty]",
    ),
    click.option("--weights", metavar="COLUMN", help="Column of row weights (or counts)."),
    click.option(
        "--max-states",
        type=click.IntRange(1),
        default=50,
        show_default=True,
        help="Refuse a column with more distinct values than this.",
    ),
)
_COMMON = (
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--quiet", is_flag=True, help="No progress."),
)

threads_option = click.option(
    "--threads", type=click.IntRange(1), help="Threads to use.  [default: all processors]"
)


def data_options(function: _Function) -> _Function:
    """Add the options of `read`."""
    for option in reversed(_DATA):
        function = option(function)
    return function


def common_options(function: _Function) -> _Function:
    """Add --json and --quiet."""
    for option in reversed(_COMMON):
        function = option(function)
    return function


def read_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `read` out of a command's options."""
    names = ("missing", "missing_values", "weights", "max_states")
    return {name: options.pop(name) for name in names}
