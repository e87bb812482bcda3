"""Options for near-optimal structures, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.output import print_line, print_table

if TYPE_CHECKING:
    from bestdag.search.structures import Structures

__all__ = ["near_best_options", "print_structures", "structures_for_json"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--k-best",
        type=click.IntRange(1),
        metavar="K",
        help="List the K best structures, proved by exact search.",
    ),
    click.option(
        "--per-class/--no-per-class",
        default=None,
        help="List one structure per equivalence class.  [default: only with --collect-within]",
    ),
    click.option("--all-optimal", is_flag=True, help="List all structures that tie with the best."),
    click.option(
        "--collect-within",
        type=float,
        metavar="NATS",
        help="List all equivalence classes whose log score is within NATS of the best; --k-best "
        "limits their number.",
    ),
)


def near_best_options(function: _Function) -> _Function:
    """Add what else is listed besides the best structure."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def structures_for_json(listed: Structures) -> dict[str, Any]:
    """Return the list as values for JSON; of a class, what all members have and what may turn."""
    found = []
    for number, item in enumerate(listed):
        one: dict[str, Any] = {"score": item.score}
        if listed.per_class:
            one["arcs"] = [list(arc) for arc in item.cpdag.arcs]
            one["edges"] = [list(edge) for edge in item.cpdag.edges]
            one["member"] = [list(arc) for arc in item.dag.arcs]
        else:
            one["arcs"] = [list(arc) for arc in item.dag.arcs]
        factor = listed.bayes_factor(number)
        if factor is not None:
            one["bayes_factor"] = factor if factor < float("inf") else None
        found.append(one)
    return {
        "structures": found,
        "structures_status": listed.status,
        "structures_bound": listed.rest,
        "structures_proved": listed.n_proved,
        "structures_notes": list(listed.notes),
        "per_class": listed.per_class,
    }


def print_structures(listed: Structures) -> None:
    """Print a line for each structure: how far below the best, and what is different."""
    click.echo("")
    print_line(listed.summary())
    for note in listed.notes:
        print_line(note)
    header = ["rank", "drop in log score"]
    if listed.has_bayes_factors:
        header.append("Bayes factor")
    rows = []
    for number, item in enumerate(listed):
        row = [str(number + 1), f"{max(0.0, listed[0].score - item.score):.6f}"]
        factor = listed.bayes_factor(number)
        if factor is not None:
            row.append(f"{factor:.4g}")
        row.append(listed.difference(number))
        rows.append(row)
    print_table([*header, "difference from the best"], rows, left=0)
