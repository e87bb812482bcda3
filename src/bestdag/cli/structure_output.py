"""Printing a found structure: one shape for all commands that end in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.output import print_json, print_table
from bestdag.cli.structures_output import print_structures, structures_for_json

if TYPE_CHECKING:
    from bestdag.search.result import SearchResult

__all__ = ["print_structure"]


def print_structure(
    found: SearchResult,
    *,
    what: str,
    score_name: str | None,
    settings: dict[str, Any],
    as_json: bool,
) -> None:
    """Print a structure, for people or as JSON; `settings` join those of the search."""
    if as_json:
        print_json(
            {
                "search": found.search,
                "engine": found.engine,
                "score_name": score_name,
                "status": found.status,
                "among": found.among,
                "within": found.within,
                "score": found.score,
                "bound": found.bound,
                "gap": found.gap,
                "gap_per_row": found.gap_per_row,
                "seconds": found.seconds,
                "variables": list(found.dag.nodes),
                "arcs": [list(arc) for arc in found.dag.arcs],
                "notes": list(found.notes),
                **({} if found.structures is None else structures_for_json(found.structures)),
                "settings": {**settings, **found.settings, "resolution": found.resolution},
            }
        )
        return
    how = found.search if found.engine is None else f"{found.search}, {found.engine}"
    outcome, notes = found.outcome()
    click.echo(f"{what}: {outcome} ({how}, {found.seconds:.2f} s)")
    for note in notes:
        click.echo(note)
    line = f"score {found.score:.6f}, natural logarithm"
    if not found.is_proved:
        line += f"; {found.shortfall()}"
    click.echo(line)
    print_table(
        ["variable", "parents"],
        [[node, " ".join(found.dag.parents(node))] for node in found.dag.nodes],
        left=2,
    )
    if found.structures is not None:
        print_structures(found.structures)
