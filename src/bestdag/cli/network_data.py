"""Reading a table for a network, and saying which of its numbers were cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.options import ROWS_OPTIONS, data_options, refused_option, with_options

if TYPE_CHECKING:
    from bestdag.data.readers import Rows
    from bestdag.data.schema import Variable

__all__ = [
    "network_table_options",
    "read_at_cut_points",
    "read_for_network",
    "say_cut",
    "table_and_network",
]


_Function = TypeVar("_Function", bound=Callable[..., Any])

_ROW_BY_ROW = "rows are read into memory and answered one by one"


def table_and_network(first: str, second: str) -> tuple[str, str]:
    """Tell a table and a network apart, in whatever order they were given.

    Where both or none are networks, the first is the table, and reading it says what is wrong.
    """
    from bestdag.network.formats import is_network_file

    if is_network_file(first) and not is_network_file(second):
        return second, first
    return first, second


def network_table_options(
    missing: Callable[[Any], Any] | None = None, *, instead: str = ""
) -> Callable[[_Function], _Function]:
    """Add all that a command may be told about the rows it reads for a network.

    The network has the states and cut points; without an option about missing values they are kept,
    for what the command does `instead`, row by row.
    """
    has = "NETWORK has the states and the cut points of its columns"
    options = [
        refused_option("--discretize", has, is_flag=True),
        *(refused_option(flag, has) for flag in ("--bins", "--cut-points", "--max-states")),
    ]
    if missing is None:
        options += [
            data_options(but=("missing", "allow_few_rows", "max_states")),
            refused_option("--missing", instead),
            refused_option("--allow-few-rows", instead, is_flag=True),
            *(refused_option(flag, _ROW_BY_ROW) for flag in ("--rows-in", "--cache")),
            refused_option("--collapse/--no-collapse", _ROW_BY_ROW, is_flag=True),
        ]
    else:
        options += [missing, data_options(but=("missing", "max_states")), *ROWS_OPTIONS.values()]
    return with_options(options)


def read_for_network(data: str, variables: Iterable[Variable], **settings: Any) -> Rows:
    """Read the columns that are these variables; the settings are those of `match`."""
    from bestdag.data.readers import match

    return match(data, variables, **settings)


def read_at_cut_points(data: str, cut_points: str, **settings: Any) -> Rows:
    """Read a table that holds numbers, or their intervals, in the columns a file lists."""
    from bestdag.data.discretization.cuts import load_cut_points
    from bestdag.data.readers import read_at_cuts

    return read_at_cuts(data, load_cut_points(cut_points), **settings)


def say_cut(names: Sequence[str], whose: str, *, err: bool = False) -> None:
    """Print which columns were cut, if any were."""
    if names:
        shown = ", ".join(names[:10]) + (f" and {len(names) - 10:,} more" if names[10:] else "")
        click.echo(f"numeric columns binned at the cut points of {whose}: {shown}", err=err)
