"""Table 2 and Figures 1 to 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studies.carvalho2009.claims import (
    BAYESIAN,
    INFORMATION,
    MAIN,
    PRINTED,
    SCORES,
    Hits,
    hits_by_table,
    judge,
)
from studies.claims import AS_ABOVE, verdict_table
from studies.sections import Figure, Line, Section, Table, line_chart
from studies.study import Row

__all__ = ["sections"]

_FIGURES = {
    "figure-1": ("Figure 1: all scores", tuple(SCORES)),
    "figure-2": ("Figure 2: Bayesian scores", BAYESIAN),
    "figure-3": ("Figure 3: information-theoretic scores", INFORMATION),
    "figure-4": ("Figure 4: LL, NML and K2", ("LL", "NML", "K2")),
}
_OTHERS = {
    "smoothed tables (Dirichlet, ess 1)": {**MAIN, "parameters": "dirichlet"},
    "numbers cut once, with the classes of all rows": {**MAIN, "cuts": "outside"},
    "vote with all 435 rows, a missing vote as a state": {**MAIN, "incomplete": "kept"},
    "the row number of glass as an attribute": {**MAIN, "also": "row number"},
    "the last 1,066 rows of chess to test": {**MAIN, "also": "last rows"},
    "folds dealt whatever the classes are": {**MAIN, "also": "plain folds"},
}


def sections(rows: Sequence[Row]) -> list[Section]:
    """Print Table 2, also for what the paper leaves open, and draw the figures."""
    hits = hits_by_table(rows)
    made: list[Section] = []
    if hits:
        made.append(_table("Table 2: accuracy in per cent, and the paper's in brackets", hits))
        made.append(_significance(hits))
        made += [_figure(name, *what, hits) for name, what in _FIGURES.items()]
    verdicts = {AS_ABOVE: judge(hits)}
    for title, variant in _OTHERS.items():
        other = hits_by_table(rows, variant)
        if other:
            made.append(_table(f"The same with {title}", other))
            verdicts[title] = judge(
                {table: other.get(table, found) for table, found in hits.items()}
            )
    if len(verdicts) > 1:
        made.append(verdict_table(verdicts, "Tables that a choice does not touch are as above."))
    return made


def _table(title: str, hits: Mapping[str, Hits]) -> Table:
    cells = []
    for table, found in hits.items():
        half = 50 * (found.interval("LL")[1] - found.interval("LL")[0])
        both = zip(map(found.accuracy, SCORES), PRINTED[table], strict=True)
        cells.append(
            [table, f"{found.n_rows:,}", str(found.n_divisions)]
            + [f"{100 * own:.2f} ({printed:.2f})" for own, printed in both]
            + [f"{half:.1f}"]
        )
    header = ["table", "rows tested", "divisions", *SCORES, "±, 95 %"]
    return Table(title, header, cells)


def _significance(hits: Mapping[str, Hits]) -> Table:
    cells = []
    for table, found in hits.items():
        best = max(SCORES, key=found.accuracy)
        worse = [s for s in SCORES if found.difference([best], [s]).low > 0]
        cells.append([table, best, f"{100 * found.accuracy(best):.2f}", ", ".join(worse) or "none"])
    return Table(
        "Which differences are significant",
        ["table", "best", "accuracy", "scores that it beats (paired 95 % interval)"],
        cells,
        "28 pairs are compared on each table: one or two in twenty differ by chance.",
    )


def _figure(name: str, title: str, scores: Sequence[str], hits: Mapping[str, Hits]) -> Figure:
    places = list(range(len(hits)))
    lines = [
        Line(
            score,
            places,
            [100 * found.accuracy(score) for found in hits.values()],
            [100 * found.interval(score)[0] for found in hits.values()],
            [100 * found.interval(score)[1] for found in hits.values()],
        )
        for score in scores
    ]
    svg = line_chart(lines, x="", y="accuracy (per cent)", names=list(hits))
    return Figure(name, title, svg)
