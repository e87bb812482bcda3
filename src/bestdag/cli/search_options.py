"""Options that choose a search, its settings and what the user knows; shared by commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.settings import settings_options, taken_settings
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search import SEARCHES, make_search, search_name

if TYPE_CHECKING:
    from bestdag.graph.knowledge import Knowledge
    from bestdag.search.steps import Search

__all__ = [
    "choose_knowledge",
    "choose_search",
    "knowledge_options",
    "search_options",
    "support_option",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


support_option = click.option(
    "--support",
    type=click.FloatRange(0),
    default=DEFAULT_SUPPORT,
    show_default=True,
    metavar="ROWS",
    help="Minimum number of rows per occupied cell of a family's table; 0 for no limit.",
)


def search_options(function: _Function) -> _Function:
    """Add the settings of searches."""
    return settings_options(SEARCHES)(function)


def choose_search(name: str, options: dict[str, Any]) -> Search:
    """Make the search asked for; takes its settings out of `options`."""
    key = search_name(name)
    return make_search(key, **taken_settings(SEARCHES, options, [key], "search"))


def knowledge_options(function: _Function) -> _Function:
    """Add what the user knows: a file and single statements."""
    function = click.option(
        "--know",
        "statements",
        multiple=True,
        metavar="STATEMENT",
        help="A constraint such as 'A -> B', 'A !> B' or 'tiers: A B | C'; may be repeated.",
    )(function)
    return click.option(
        "--knowledge",
        "file",
        metavar="FILE",
        help="File of constraints on the structure (TOML or JSON).",
    )(function)


def choose_knowledge(options: dict[str, Any]) -> Knowledge:
    """Read what the user knows; takes its options out of `options`."""
    from bestdag.graph.knowledge import Knowledge

    file, statements = options.pop("file"), options.pop("statements")
    known = Knowledge() if file is None else Knowledge.load(file)
    return known | Knowledge.parse(statements)
