"""Options that choose a search, its settings and what the user knows; shared by commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bestdag.graph.knowledge import Knowledge
    from bestdag.search.base import Search

__all__ = ["choose_knowledge", "choose_search", "knowledge_options", "search_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


# Settings of searches: option, type, help. The name of the option is that of the setting.
_SETTINGS: tuple[tuple[str, Any, str], ...] = (
    ("engine", str, "Engine of exact: auto, dp or bnc.  [default: auto]"),
    ("budget", float, "auto: end after so many seconds without a time limit.  [default: 60]"),
    ("rounds", int, "auto, order: end after so many rounds; the same result every time."),
    ("max-sets", int, "Parent sets order scores to begin with.  [default: 10,000,000]"),
    ("start-from", str, "First structure: empty, random or tree.  [default: empty]"),
    ("reinsert", bool, "hill_climb: go on from local optima.  [default: yes]"),
    ("restarts", int, "hill_climb: climb so many times again.  [default: 0]"),
    ("perturb", int, "hill_climb: restart from the best after so many random moves."),
    ("candidates", int, "Choose parents among the best single ones, so many per variable."),
    ("max-steps", int, "Stop after so many moves."),
    ("length", int, "tabu: so many of the last moves are not undone.  [default: 10]"),
    (
        "patience",
        int,
        "tabu, order: end after so many moves, rounds without a better score.  [default: 100; 20]",
    ),
    ("hottest", float, "annealing: first temperature, in nats.  [default: 10]"),
    ("coldest", float, "annealing: last temperature.  [default: 0.1]"),
    ("schedule", str, "annealing: geometric or linear.  [default: geometric]"),
    ("levels", int, "annealing: number of temperatures.  [default: 50]"),
    ("proposals", int, "annealing: moves proposed at each temperature."),
    ("order", _names, "k2: every variable, with commas between them."),
    ("orders", int, "k2: try so many random orders.  [default: 10]"),
    ("turning", bool, "Turning phase of ges: yes or no.  [default: no]"),
    ("target", str, "Class of tan and naive_bayes."),
    ("root", str, "Root of tree; of tan, the attribute with no parent but the class."),
    ("forest", bool, "Only arcs that raise the score, in tree and tan: yes or no.  [default: no]"),
)


def search_options(function: _Function) -> _Function:
    """Add the settings of searches."""
    for name, kind, text in reversed(_SETTINGS):
        metavar = "NAMES" if kind is _names else None
        function = click.option(f"--{name}", type=kind, metavar=metavar, help=text)(function)
    return function


def choose_search(name: str, options: dict[str, Any]) -> Search:
    """Make the search asked for; takes its settings out of `options`."""
    from bestdag.registry import canonical
    from bestdag.search import ALIASES, SEARCHES, make_search

    key = canonical(name, [*SEARCHES, *ALIASES])
    found = SEARCHES.get(ALIASES.get(key, key))
    known = set() if found is None else {field.name for field in fields(found)}
    settings = {}
    for option, _, _ in _SETTINGS:
        setting = option.replace("-", "_")
        value = options.pop(setting, None)
        if value is None:
            continue
        if found is not None and setting not in known:
            raise click.UsageError(f"--{option} does not belong to the search {key}")
        settings[setting] = value
    return make_search(key, **settings)


def knowledge_options(function: _Function) -> _Function:
    """Add what the user knows: a file and single statements."""
    function = click.option(
        "--know",
        "statements",
        multiple=True,
        metavar="STATEMENT",
        help="A statement such as 'A -> B', 'A !> B' or 'tiers: A B | C'; may be repeated.",
    )(function)
    return click.option(
        "--knowledge", "file", metavar="FILE", help="What you know, as TOML or JSON."
    )(function)


def choose_knowledge(options: dict[str, Any]) -> Knowledge:
    """Read what the user knows; takes its options out of `options`."""
    from bestdag.graph.knowledge import Knowledge

    file, statements = options.pop("file"), options.pop("statements")
    known = Knowledge() if file is None else Knowledge.load(file)
    return known | Knowledge.parse(statements)
