"""Printing learned structures: one shape for every search, for people and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.learning_table import what_was_read
from bestdag.cli.output import (
    first_of,
    mark_shown,
    one_line,
    output_width,
    print_json,
    print_line,
    print_table,
    wrapped,
)
from bestdag.registry import settings_of
from bestdag.scores.prior import SparsePrior
from bestdag.search.auto import Auto
from bestdag.wording import aligned, as_option, count_of, either

if TYPE_CHECKING:
    from bestdag.cli.learning_table import LearningTable
    from bestdag.graph.dag import Dag
    from bestdag.learned import Result
    from bestdag.search.structures import Structures

__all__ = ["print_next", "print_structure", "structure_lines"]

# Of larger structures the strongest arcs are listed, so many.
_MOST_VARIABLES, _MOST_ARCS = 60, 40
_EITHER_WAY = "~"

# To score a family, in seconds for each row and for each family.
_SECONDS_PER_ROW, _SECONDS_PER_FAMILY = 2e-8, 2e-5
# Losses are worked out where that takes no longer, or no longer than learning took.
_MOMENT = 0.5


def print_structure(
    result: Result,
    *,
    data: str | None,
    table: LearningTable | None,
    score_name: str | None,
    score_settings: dict[str, Any],
    settings: dict[str, Any],
    threads: int | None,
    as_json: bool,
    is_verbose: bool,
    with_ladder: bool = False,
) -> None:
    """Print a structure, for people or as JSON.

    `score_settings` and `settings` join those of the search. What a search that was not asked for
    by name says of itself is for `is_verbose`.
    """
    losses = _losses(result, threads)
    mark_shown()
    if as_json:
        settings = {**score_settings, **settings}
        print_json(_for_json(result, table, score_name, settings, losses))
        return
    width = output_width()
    for one in result.advice:
        _print(one.text, width)
    if table is not None and data is not None:
        for line in what_was_read(data, table):
            _print(line, width)
    _print(result.headline(), width)
    is_chosen = result.asked.get("search") not in (None, "auto", Auto())
    short = (*result.data_notes, *result.exceptions())
    for note in result.remarks() if is_verbose or is_chosen else short:
        _print(note, width)
    line = f"log score {result.score:.6f}"
    if score_name is not None and result.dataset is not None:
        settings_text = " ".join(
            f"{as_option(name)} {value}"
            for name, value in score_settings.items()
            if not (isinstance(value, str) and value == _default(result, name))
        )
        if isinstance(result.structure_prior, SparsePrior):
            settings_text = (
                f"{settings_text}, sparse prior" if settings_text else "with sparse prior"
            )
        rows = count_of(result.dataset.total_weight, "row")
        line += f" ({score_name}{f' {settings_text}' if settings_text else ''}, {rows})"
    _print(line, width)
    for claim in result.claims():
        _print(claim, width)
    if with_ladder:
        for line in _ladder_lines(result):
            print_line(line)
    is_mean = result.dataset is not None and result.treatment.has_mean_scores
    unit = "log score per row" if is_mean else "log score"
    for line in structure_lines(result.dag, losses, width, unit, compelled=result.compelled()):
        print_line(line)
    if result.structures is not None:
        _print_structures(result.structures)


def _default(result: Result, name: str) -> object:
    """Return the default of a setting of the score."""
    return {one.name: one.default for one in settings_of(result.scored_by)}.get(name)


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


def _ladder_lines(result: Result) -> list[str]:
    """Write the ladder as a table, or say why there is none."""
    rows = result.ladder_rows()
    if rows:
        return aligned(rows, left=4)
    if result.is_proved:
        return ["no ladder: the proof is about all at once"]
    return ["no ladder: no rung was reached; only the search auto has rungs"]


def _for_json(
    result: Result,
    table: LearningTable | None,
    score_name: str | None,
    settings: dict[str, Any],
    losses: dict[tuple[str, str], float] | None,
) -> dict[str, Any]:
    compelled = result.compelled()
    return {
        "search": result.search,
        "engine": result.engine,
        "score_name": score_name,
        "status": result.status,
        "among": result.among,
        "limits": {
            "max_parents": result.limits.max_parents,
            "support": result.limits.support,
            "statements": result.limits.has_statements,
            "skeleton": result.limits.has_skeleton,
            "exempt": [[child, sorted(parents)] for child, parents in result.limits.exempt],
        },
        "advice": [{"kind": one.kind, "text": one.text} for one in result.advice],
        "score": result.score,
        "bound": result.bound,
        "gap": result.gap,
        "gap_per_row": result.gap_per_row,
        "empty_score": result.empty_score,
        "proved": result.proved,
        "ladder": [rung.as_json() for rung in result.ladder],
        "seconds": result.seconds,
        "resumed_seconds": result.resumed_seconds,
        "rows_in": result.rows_in,
        "passes": result.passes,
        "peak_bytes": result.peak_bytes,
        "workers": result.workers,
        "variables": list(result.dag.nodes),
        "arcs": [list(arc) for arc in result.dag.arcs],
        "compelled": [arc in compelled for arc in result.dag.arcs],
        "score_lost": None if losses is None else [losses[arc] for arc in result.dag.arcs],
        "notes": [*result.notes, *result.bound_words()],
        **({} if table is None else {"data": _data_for_json(table)}),
        **({} if result.structures is None else _structures_for_json(result.structures)),
        "settings": {**settings, **result.settings, "resolution": result.resolution},
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


def _losses(result: Result, threads: int | None) -> dict[tuple[str, str], float] | None:
    """Work out what is lost without each arc, where that takes little time."""
    if result.dataset is None or result.status == "interrupted":
        return None
    families = result.dag.families.values()
    n_families = sum(len(parents) + 1 for parents in families if parents)
    seconds = n_families * (_SECONDS_PER_FAMILY + _SECONDS_PER_ROW * result.dataset.n_rows)
    if seconds > max(_MOMENT, result.seconds):
        return None
    losses = result.arc_losses(threads=threads)
    return losses if all(abs(loss) < float("inf") for loss in losses.values()) else None


def _structures_for_json(listed: Structures) -> dict[str, Any]:
    """Return the list as values for JSON; of a class, what all members have and what may turn."""
    structures = []
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
        structures.append(one)
    return {
        "structures": structures,
        "structures_status": listed.status,
        "structures_bound": listed.rest,
        "structures_proved": listed.n_proved,
        "structures_notes": list(listed.notes),
        "per_class": listed.per_class,
    }


def _print_structures(listed: Structures) -> None:
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


def structure_lines(
    dag: Dag,
    losses: Mapping[tuple[str, str], float] | None,
    width: int,
    unit: str = "log score",
    *,
    compelled: Collection[tuple[str, str]],
) -> Iterator[str]:
    """Say what each variable depends on and what is lost without each arc.

    Examples
    --------
    >>> from bestdag.graph.dag import Dag
    >>> dag = Dag(["a", "b", "c"], [("a", "b")])
    >>> for line in structure_lines(dag, {("a", "b"): 12.34}, 72, compelled=()):
    ...     print(line)
    1 arc, with its strength (drop in log score); ~ direction not determined by the data
    a
    b  <- a 12.3~
    unconnected: c
    """
    n_arcs = len(dag.arcs)
    if not n_arcs:
        yield from wrapped(
            f"no arcs found; unconnected: {first_of([*map(one_line, dag.nodes)], _MOST_ARCS)}",
            width,
        )
        return
    turns = ""
    if len(compelled) < n_arcs:
        turns = f"; {_EITHER_WAY} direction not determined by the data"
    lost = ""
    if losses is not None:
        lost = f", with {either(n_arcs, 'its', 'their')} strength (drop in {unit})"
    if len(dag.nodes) <= _MOST_VARIABLES:
        yield from wrapped(f"{count_of(n_arcs, 'arc')}{lost}{turns}", width)
        yield from _by_child(dag, losses, compelled, width)
    else:
        yield from _strongest(dag, losses, compelled, width, f"{lost}{turns}")
    linked = {name for arc in dag.arcs for name in arc}
    alone = [name for name in dag.nodes if name not in linked]
    if alone:
        yield from wrapped(f"unconnected: {first_of([*map(one_line, alone)], _MOST_ARCS)}", width)


def _by_child(
    dag: Dag,
    losses: Mapping[tuple[str, str], float] | None,
    compelled: Collection[tuple[str, str]],
    width: int,
) -> Iterator[str]:
    families, ends = dag.families, {name for arc in dag.arcs for name in arc}
    linked = [name for name in dag.topological_order() if name in ends]
    room = max(8, width // 3)
    wide = min(room, max(len(one_line(name)) for name in linked))
    for child in linked:
        parents = families[child]
        if losses is not None:
            parents = tuple(sorted(parents, key=lambda p: (-losses[p, child], p)))
        texts = [_arc_text(p, child, losses, compelled) for p in parents]
        name = _cut(one_line(child), room)
        if not texts:
            yield name
            continue
        yield from _filled(f"{name.ljust(wide)}  <- ", texts, width)


def _strongest(
    dag: Dag,
    losses: Mapping[tuple[str, str], float] | None,
    compelled: Collection[tuple[str, str]],
    width: int,
    says: str,
) -> Iterator[str]:
    arcs = sorted(dag.arcs, key=lambda arc: (-(losses or {}).get(arc, 0.0), arc))
    shown = arcs[:_MOST_ARCS]
    n_left = len(arcs) - len(shown)
    which = "" if not n_left else (" the strongest" if losses is not None else " the first")
    first = f"{count_of(len(arcs), 'arc')}{says}"
    yield from wrapped(first + (f";{which} {len(shown)}:" if n_left else ":"), width)
    room = max(8, (width - 16) // 2)
    wide = min(room, max(len(one_line(parent)) for parent, _ in shown))
    for parent, child in shown:
        mark = "" if (parent, child) in compelled else _EITHER_WAY
        lost = "" if losses is None else f"  {_number(losses[parent, child])}"
        left = _cut(one_line(parent), room).ljust(wide)
        yield f"{left} -> {_cut(one_line(child), room)}{lost}{mark}"
    if n_left:
        yield from wrapped(
            f"{n_left:,} more; -o FILE writes all of them, --json prints them", width
        )


def _arc_text(
    parent: str,
    child: str,
    losses: Mapping[tuple[str, str], float] | None,
    compelled: Collection[tuple[str, str]],
) -> str:
    mark = "" if (parent, child) in compelled else _EITHER_WAY
    lost = "" if losses is None else f" {_number(losses[parent, child])}"
    return f"{one_line(parent)}{lost}{mark}"


def _filled(head: str, texts: Sequence[str], width: int) -> Iterator[str]:
    """Put texts one after another, on as many lines as they need."""
    line, is_first = head, True
    for text in texts:
        joined = line + ("" if is_first else ", ") + text
        if len(joined) <= width or is_first:
            line, is_first = joined, False
            continue
        yield line + ","
        line = " " * min(len(head), width // 3) + text
    yield line


def _number(value: float) -> str:
    """Write with three digits, or all before the point.

    Examples
    --------
    >>> _number(0.012345), _number(12.345), _number(12345.6), _number(-3.0)
    ('0.0123', '12.3', '12,346', '-3')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else f"{name[: room - 3]}..."
