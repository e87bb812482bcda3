"""Mean ranks by number of rows, sizes, proofs, and which score when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestdag.papers.charts import Line, line_chart
from bestdag.papers.everything.rows import (
    CLASSES,
    SCORES,
    ranks_by_rows,
    ranks_by_size,
    size_class,
)
from bestdag.papers.sections import Figure, Section, Table
from bestdag.papers.study import Row

__all__ = ["sections"]

_TITLES = {
    "loss": "Mean rank by held-out log loss",
    "shd": "Mean rank by SHD to the true class (networks)",
    "moral": "Mean rank by mismatches of moral graphs (networks)",
}

# As many as there are colours.
_DRAWN = ("AIC", "BIC", "MIT(0.99)", "BD1/2", "BDeu(1)", "Min-BDeu", "fNML", "qNML")


def sections(rows: Sequence[Row]) -> list[Section]:
    """Print what there are rows of."""
    made: list[Section] = []
    best = []
    for measure, title in _TITLES.items():
        found = ranks_by_size(rows, measure)
        if not found:
            continue
        cells = [
            [score, *(f"{v.mean(axis=0)[k]:.2f}" for v in found.values())]
            for k, score in enumerate(SCORES)
        ]
        units = ", ".join(f"{len(v)} {name}" for name, v in found.items())
        note = f"1 is best; means over tables and networks ({units})."
        made.append(Table(title, ["score", *found], cells, note))
        best += [
            [title.removeprefix("Mean rank by "), name, _first(v)] for name, v in found.items()
        ]
    if best:
        title = "Which score when: lowest mean ranks"
        made.insert(0, Table(title, ["by", "training rows", "first three"], best))
    return [*made, *_figures(rows), *_sizes(rows)]


def _figures(rows: Sequence[Row]) -> Iterator[Section]:
    """Draw mean ranks against the number of rows, for the scores that are most used."""
    for measure, title in _TITLES.items():
        found = ranks_by_rows(rows, measure)
        if len(found) > 1:
            lines = [
                Line(score, list(found), [float(v[k]) for v in found.values()])
                for k, score in enumerate(SCORES)
                if score in _DRAWN
            ]
            what = f"{title.split(' (')[0]}, by rows drawn from networks"
            svg = line_chart(lines, x="rows", y="mean rank of 13", log_x=True)
            yield Figure(f"ranks-{measure}", what, svg, "1 is best; of 13 scores 8 are drawn.")


def _first(ranks: np.ndarray) -> str:
    means = ranks.mean(axis=0)
    return ", ".join(f"{tuple(SCORES)[k]} {means[k]:.2f}" for k in np.argsort(means)[:3])


def _sizes(rows: Sequence[Row]) -> Iterator[Section]:
    cells = []
    for score in SCORES:
        some = [row for row in rows if row["score"] == score]
        if not some:
            continue
        arcs = [
            f"{np.mean(chosen):.1f}" if chosen else ""
            for name in CLASSES
            for chosen in [[r["arcs"] for r in some if size_class(r["n_train"]) == name]]
        ]
        seconds = [row["timing"]["seconds"] for row in some]
        proved = sum(row["gap"] == 0 for row in some)
        cells.append(
            [
                score,
                *arcs,
                f"{np.mean([r['parameters'] for r in some]):,.0f}",
                f"{proved:,} of {len(some):,}",
                f"{1000 * np.median(seconds):.1f}",
                f"{1000 * max(seconds):,.0f}",
            ]
        )
    if cells:
        header = ["score", *(f"arcs, {name}" for name in CLASSES), "parameters", "proved"]
        header += ["median ms", "longest ms"]
        note = "Means over all trials; time of one search with its proof, on one processor."
        yield Table("Sizes of networks, and time to proof", header, cells, note)
