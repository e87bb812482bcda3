"""A learned structure for people: who depends on whom, how much, and which way."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bestdag.wording import count_of, either

if TYPE_CHECKING:
    from bestdag.graph.dag import Dag

__all__ = ["output_width", "structure_lines", "wrapped"]

# Of larger structures the strongest arcs are listed, so many.
_MOST_VARIABLES, _MOST_ARCS = 60, 40
# A pipe gets whole lines, whatever their length.
_WIDE = 1 << 20
_LEAST_WIDTH = 20
_EITHER_WAY = "~"


def output_width() -> int:
    """Return the columns of the terminal that is printed to; no limit where it is none."""
    if os.environ.get("COLUMNS", "").isdigit() or (sys.stdout is not None and sys.stdout.isatty()):
        return max(_LEAST_WIDTH, shutil.get_terminal_size().columns)
    return _WIDE


def wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """Break a text into lines of at most this width, those after the first indented.

    Examples
    --------
    >>> wrapped("one two three", 8)
    ['one two', '  three']
    """
    if len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [text]


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
        yield from wrapped(f"no arcs found; unconnected: {_names(dag.nodes)}", width)
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
    alone = [name for name in dag.nodes if not dag.parents(name) and not dag.children(name)]
    if alone:
        yield from wrapped(f"unconnected: {_names(alone)}", width)


def _by_child(
    dag: Dag,
    losses: Mapping[tuple[str, str], float] | None,
    compelled: Collection[tuple[str, str]],
    width: int,
) -> Iterator[str]:
    linked = [n for n in dag.topological_order() if dag.parents(n) or dag.children(n)]
    room = max(8, width // 3)
    wide = min(room, max(len(_shown(name)) for name in linked))
    for child in linked:
        parents = dag.parents(child)
        if losses is not None:
            parents = tuple(sorted(parents, key=lambda p: (-losses[p, child], p)))
        texts = [_arc_text(p, child, losses, compelled) for p in parents]
        name = _cut(_shown(child), room)
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
    wide = min(room, max(len(_shown(parent)) for parent, _ in shown))
    for parent, child in shown:
        mark = "" if (parent, child) in compelled else _EITHER_WAY
        lost = "" if losses is None else f"  {_number(losses[parent, child])}"
        left = _cut(_shown(parent), room).ljust(wide)
        yield f"{left} -> {_cut(_shown(child), room)}{lost}{mark}"
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
    return f"{_shown(parent)}{lost}{mark}"


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


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(_shown(name) for name in names[:_MOST_ARCS])
    more = len(names) - _MOST_ARCS
    return shown + (f" and {more:,} more" if more > 0 else "")


def _shown(name: str) -> str:
    """Show control characters as escapes: a name must not steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else f"{name[: room - 3]}..."
