"""The parts of the page that are plain HTML: tables and lists, all text escaped."""

from __future__ import annotations

import inspect
import math
import platform
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from bestdag.drawing.text import escaped
from bestdag.errors import BestdagError
from bestdag.graph.dag import Dag
from bestdag.report.markup import paragraph, section, table
from bestdag.scores import SCORES
from bestdag.scores.scorer import Scorer
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset
    from bestdag.scores.base import Score
    from bestdag.search.result import Step

__all__ = [
    "Probabilities",
    "arcs_section",
    "citation",
    "completed_section",
    "data_section",
    "references_of",
    "repeat_section",
    "scores_section",
    "trace_section",
    "trace_svg",
]

_SHOWN_STATES = 8
_SHOWN_STEPS = 12
# The picture of the search; more steps are thinned out, since a screen has no more points.
_WIDTH, _HEIGHT, _LEFT, _BELOW = 640.0, 180.0, 96.0, 26.0
_MOST_POINTS = 400


def data_section(data: Dataset) -> str:
    """List the columns: states, bin edges and missing values."""
    missing = data.missing_counts
    rows = []
    for variable in data.variables:
        shown = list(variable.states[:_SHOWN_STATES])
        shown += ["\N{HORIZONTAL ELLIPSIS}"] * (variable.arity > _SHOWN_STATES)
        cuts = "" if variable.cuts is None else ", ".join(f"{cut:g}" for cut in variable.cuts)
        counted = (f"{variable.arity:,}", f"{missing.get(variable.name, 0):,}")
        rows.append([variable.name, ", ".join(shown), cuts, *counted])
    head = ["variable", "states", "bin edges", "number of states", "missing values"]
    return section("data", "Data", table(head, rows, left=3))


class Probabilities(Protocol):
    """How probable the arcs are, or how often they come up."""

    @property
    def method(self) -> str:
        """How that was worked out."""
        ...

    def __getitem__(self, arc: tuple[str, str]) -> float:
        """Return that of an arc."""
        ...

    def edge(self, one: str, other: str) -> float:
        """Return that of an arc in either direction."""
        ...


def arcs_section(
    dag: Dag,
    losses: Mapping[tuple[str, str], float] | None,
    probabilities: Probabilities | None = None,
    unit: str = "nats",
    *,
    compelled: Collection[tuple[str, str]],
) -> str:
    """List the arcs, those that matter most first."""
    ordered = sorted(dag.arcs, key=lambda arc: (-(losses or {}).get(arc, 0.0), arc))
    rows = [
        [
            *arc,
            "determined" if arc in compelled else "not determined",
            *([] if losses is None else [f"{losses[arc]:.6g}"]),
            *([] if probabilities is None else _shares(probabilities, arc)),
        ]
        for arc in ordered
    ]
    head = ["from", "to", "direction"]
    head += [] if losses is None else ["strength"]
    head += [] if probabilities is None else ["probability", "in this direction"]
    says = "Direction not determined: an equivalent network, with the same independences, has the "
    says += "arc reversed, and the data cannot tell the two apart."
    if losses is not None:
        says += f" Strength: drop in log score ({unit}) when this arc alone is removed."
    if probabilities is not None:
        says += f" Probability by {probabilities.method}, of the arc in either direction first."
    return section("arcs", "Arcs", paragraph(says), table(head, rows, left=3))


def _shares(probabilities: Probabilities, arc: tuple[str, str]) -> list[str]:
    return [f"{probabilities.edge(*arc):.3f}", f"{probabilities[arc]:.3f}"]


def scores_section(
    data: Dataset,
    dag: Dag,
    chosen: Score,
    make_scorer: Callable[[Score], Scorer],
    seconds: float,
) -> str:
    """Score the structure, and the one without arcs, by every score; so many seconds at most.

    The one that was maximised is always there.
    """
    end = time.monotonic() + seconds
    scores = [chosen, *(made() for name, made in SCORES.items() if name != chosen.name)]
    empty = Dag.empty(dag.nodes)
    rows: list[list[str]] = []
    for score in scores:
        if rows and time.monotonic() >= end:
            rows.append([f"{score!r:.80}", "no time for it", "", "", "", ""])
            continue
        try:
            scorer = make_scorer(score)
            total, without = scorer.total(dag), scorer.total(empty)
        except BestdagError as error:
            rows.append([f"{score!r:.80}", str(error), "", "", "", ""])
            continue
        is_mean = scorer.is_per_row
        per_row = total if is_mean else total / data.total_weight
        bits = total / math.log(2)
        numbers = [total, without, total - without, bits, per_row]
        rows.append(
            [
                f"{score!r:.80}",
                *(f"{value:.6g}" if abs(value) < 1e3 else f"{value:,.3f}" for value in numbers),
            ]
        )
    head = ["score", "this network", "without arcs", "difference", "in bits", "per row"]
    says = (
        f"Log scores of {count_of(data.total_weight, 'row')}, higher is better; the first score is "
        "the one that was maximized, here without a structure prior. Values of different scores "
        "are not comparable."
    )
    return section("scores", "All scores of this network", paragraph(says), table(head, rows))


def completed_section(score: float, completed: float) -> str:
    """Say why the score after structural EM is not that of the table that it completed."""
    says = [
        f"{score:.6f}, at the top: the score of the observed values, by which structural EM "
        "chooses among its rounds.",
        f"{completed:.6f}: the score of the completed table, of the counts that are expected with "
        "the missing values filled in under this network; all other scores of families, arcs and "
        "structures on this page are of this kind.",
    ]
    if not math.isclose(score, completed, rel_tol=1e-9):
        says.append(
            f"They differ by {score - completed:.6f}, how uncertain the missing values are: the "
            "completed table counts them as if they had been seen."
        )
    return section("completed", "Two scores after structural EM", *map(paragraph, says))


def trace_section(trace: Sequence[Step], search: str) -> str:
    """Draw the score after each step, and list the last steps."""
    if not trace:
        return section("trace", "Search", paragraph(f"{search} takes no steps to show."))
    first = len(trace) - min(len(trace), _SHOWN_STEPS)
    rows = [
        [f"{first + k + 1:,}", step.move, f"{step.gain:.6g}", f"{step.score:.6f}"]
        for k, step in enumerate(trace[first:])
    ]
    says = f"{count_of(len(trace), 'step')} of {search}; the last ones:"
    return section(
        "trace",
        "Search",
        trace_svg([step.score for step in trace]),
        paragraph(says),
        table(["step", "move", "gain", "score"], rows, left=2),
    )


def trace_svg(scores: Sequence[float]) -> str:
    """Draw scores against steps; steps before the first finite score are left out."""
    steps = [(k + 1, score) for k, score in enumerate(scores) if math.isfinite(score)]
    if len(steps) < 2:
        return ""
    if len(steps) > _MOST_POINTS:
        last = len(steps) - 1
        steps = [steps[round(k * last / (_MOST_POINTS - 1))] for k in range(_MOST_POINTS)]
    low, high = min(s for _, s in steps), max(s for _, s in steps)
    first, last = steps[0][0], steps[-1][0]
    tall = (high - low) or 1.0
    points = " ".join(
        f"{_LEFT + (_WIDTH - _LEFT - 12) * (k - first) / (last - first):.1f},"
        f"{10 + (_HEIGHT - _BELOW - 10) * (high - score) / tall:.1f}"
        for k, score in steps
    )
    foot = _HEIGHT - _BELOW
    says = f"Score after each step, from {low:.6g} to {high:.6g}"
    return (
        f'<svg class="trace" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img">'
        f"<title>{escaped(says)}</title>"
        f'<path class="axis" d="M{_LEFT:g} 4V{foot + 4:g}H{_WIDTH - 8:g}"/>'
        f'<text x="{_LEFT - 6:g}" y="14" text-anchor="end">{high:.6g}</text>'
        f'<text x="{_LEFT - 6:g}" y="{foot:g}" text-anchor="end">{low:.6g}</text>'
        f'<text x="{_LEFT:g}" y="{_HEIGHT - 6:g}">step {first:,}</text>'
        f'<text x="{_WIDTH - 8:g}" y="{_HEIGHT - 6:g}" text-anchor="end">step {last:,}</text>'
        f'<polyline points="{points}"/></svg>'
    )


def repeat_section(
    settings: Mapping[str, Any], command: str | None, cite: str, references: Sequence[str]
) -> str:
    """Say what is needed to repeat it, and how to cite."""
    import numpy

    import bestdag

    lines = [] if command is None else [f"<pre>{escaped(command)}</pre>"]
    versions = {
        "bestdag": bestdag.__version__,
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
    }
    rows = [[name, f"{value!s:.2000}"] for name, value in {**settings, **versions}.items()]
    listed = "".join(f"<li>{escaped(text)}</li>" for text in (cite, *references))
    return section(
        "repeat", "How to reproduce this", *lines, table(["setting", "value"], rows, left=2)
    ) + section("cite", "How to cite", f"<ul>{listed}</ul>")


def citation(version: str) -> str:
    """Return the line that CITATION.cff asks for."""
    return f"The bestdag developers. bestdag, version {version}. MIT license."


def references_of(*parts: object) -> list[str]:
    """List the references in the docstrings of classes, each once.

    Examples
    --------
    >>> from bestdag.scores import BDeu
    >>> [text[:41] for text in references_of(BDeu)][0]
    'Heckerman, Geiger and Chickering (1995). '
    """
    references: dict[str, None] = {}
    for part in parts:
        _, _, below = (inspect.getdoc(part) or "").partition("\nReferences\n")
        section = re.split(r"\n\w[\w ]*\n-{3,}\n", below)[0]
        for text in re.split(r"^\.\. \[\w+\]", section, flags=re.MULTILINE)[1:]:
            references[" ".join(text.split())] = None
    return list(references)
