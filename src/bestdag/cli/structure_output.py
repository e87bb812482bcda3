"""Printing a found structure: one shape for all commands that end in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestdag.cli.arcs_output import output_width, structure_lines, wrapped
from bestdag.cli.learning_table import what_was_read
from bestdag.cli.output import mark_shown, print_json, print_line
from bestdag.cli.settings import option_of
from bestdag.cli.structures_output import print_structures, structures_for_json
from bestdag.registry import settings_of
from bestdag.scores.prior import SparsePrior
from bestdag.search.auto import Auto
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.cli.learning_table import LearningTable
    from bestdag.learned import Result

__all__ = ["print_next", "print_structure"]

# To score a family, in seconds for each row and for each family.
_SECONDS_PER_ROW, _SECONDS_PER_FAMILY = 2e-8, 2e-5
# Losses are worked out where that takes no longer, or no longer than learning took.
_MOMENT = 0.5


def print_structure(
    found: Result,
    *,
    data: str | None,
    table: LearningTable | None,
    score_name: str | None,
    score_settings: dict[str, Any],
    settings: dict[str, Any],
    threads: int | None,
    as_json: bool,
    is_verbose: bool,
) -> None:
    """Print a structure, for people or as JSON.

    `score_settings` and `settings` join those of the search. What a search that was not asked for
    by name says of itself is for `is_verbose`.
    """
    losses = _losses(found, threads)
    mark_shown()
    if as_json:
        settings = {**score_settings, **settings}
        print_json(_for_json(found, table, score_name, settings, losses))
        return
    width = output_width()
    for one in found.advice:
        _print(one.text, width)
    if table is not None and data is not None:
        for line in what_was_read(data, table):
            _print(line, width)
    _print(found.headline(), width)
    is_chosen = found.asked.get("search") not in (None, "auto", Auto())
    short = (*found.data_notes, *found.exceptions())
    for note in found.remarks() if is_verbose or is_chosen else short:
        _print(note, width)
    line = f"log score {found.score:.6f}"
    if score_name is not None and found.dataset is not None:
        given = " ".join(
            f"{option_of(name)} {value}"
            for name, value in score_settings.items()
            if not (isinstance(value, str) and value == _default(found, name))
        )
        if isinstance(found.structure_prior, SparsePrior):
            given = f"{given}, sparse prior" if given else "with sparse prior"
        rows = count_of(found.dataset.total_weight, "row")
        line += f" ({score_name}{f' {given}' if given else ''}, {rows})"
    _print(line, width)
    if not found.is_proved and found.gap is not None:
        _print(found.shortfall(), width)
    is_mean = found.dataset is not None and found.treatment.has_mean_scores
    unit = "log score per row" if is_mean else "log score"
    for line in structure_lines(found.dag, losses, width, unit, compelled=found.compelled()):
        print_line(line)
    if found.structures is not None:
        print_structures(found.structures)


def _default(found: Result, name: str) -> object:
    """Return the default of a setting of the score."""
    return {one.name: one.default for one in settings_of(found.scored_by)}.get(name)


def print_next(commands: list[str]) -> None:
    """Print what may be done next; a command is never broken, whatever the width."""
    if commands:
        print_line("")
        print_line("next:")
        for command in commands:
            print_line(f"  {command}")


def _print(text: str, width: int) -> None:
    for line in wrapped(text, width):
        print_line(line)


def _for_json(
    found: Result,
    table: LearningTable | None,
    score_name: str | None,
    settings: dict[str, Any],
    losses: dict[tuple[str, str], float] | None,
) -> dict[str, Any]:
    compelled = found.compelled()
    return {
        "search": found.search,
        "engine": found.engine,
        "score_name": score_name,
        "status": found.status,
        "among": found.among,
        "limits": {
            "max_parents": found.limits.max_parents,
            "support": found.limits.support,
            "statements": found.limits.has_statements,
            "skeleton": found.limits.has_skeleton,
            "exempt": [[child, sorted(parents)] for child, parents in found.limits.exempt],
        },
        "advice": [{"kind": one.kind, "text": one.text} for one in found.advice],
        "score": found.score,
        "bound": found.bound,
        "gap": found.gap,
        "gap_per_row": found.gap_per_row,
        "seconds": found.seconds,
        "resumed_seconds": found.resumed_seconds,
        "rows_in": found.rows_in,
        "passes": found.passes,
        "peak_bytes": found.peak_bytes,
        "workers": found.workers,
        "variables": list(found.dag.nodes),
        "arcs": [list(arc) for arc in found.dag.arcs],
        "compelled": [arc in compelled for arc in found.dag.arcs],
        "score_lost": None if losses is None else [losses[arc] for arc in found.dag.arcs],
        "notes": list(found.notes),
        **({} if table is None else {"data": _data_for_json(table)}),
        **({} if found.structures is None else structures_for_json(found.structures)),
        "settings": {**settings, **found.settings, "resolution": found.resolution},
    }


def _data_for_json(table: LearningTable) -> dict[str, Any]:
    data = table.dataset
    return {
        "rows": table.rows.n_source or data.n_rows,
        **({"different_rows": data.n_rows} if table.rows.notes else {}),
        "total_weight": data.total_weight,
        "states": {v.name: v.arity for v in data.variables},
        "missing": dict(data.missing_counts),
        "cuts": {v.name: list(v.cuts) for v in data.variables if v.cuts is not None},
    }


def _losses(found: Result, threads: int | None) -> dict[tuple[str, str], float] | None:
    """Work out what is lost without each arc, where that takes little time."""
    if found.dataset is None or found.status == "interrupted":
        return None
    n_families = len(found.dag.arcs) + sum(1 for n in found.dag.nodes if found.dag.parents(n))
    seconds = n_families * (_SECONDS_PER_FAMILY + _SECONDS_PER_ROW * found.dataset.n_rows)
    if seconds > max(_MOMENT, found.seconds):
        return None
    losses = found.arc_losses(threads=threads)
    return losses if all(abs(loss) < float("inf") for loss in losses.values()) else None
