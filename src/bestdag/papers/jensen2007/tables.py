"""Figures 7.17, 7.21 and 7.22."""

from __future__ import annotations

from collections.abc import Sequence

from bestdag.papers.charts import Line, line_chart
from bestdag.papers.jensen2007.claims import independence_at
from bestdag.papers.jensen2007.rows import EPSILONS, PRIORS, SIZES
from bestdag.papers.sections import Figure, Section, Table
from bestdag.papers.study import Row

__all__ = ["sections"]


def sections(rows: Sequence[Row]) -> list[Section]:
    """Draw what there are rows of."""
    made: list[Section] = []
    curves = {
        n: {e: found for e in EPSILONS if (found := independence_at(rows, n, e))} for n in SIZES
    }
    for number, name in enumerate(PRIORS):
        lines = [
            Line(f"{n:,} cases", list(points), [float(v[name][0]) for v in points.values()])
            for n, points in curves.items()
            if points
        ]
        if lines:
            title = f"Figure 7.22: P(independence | D), {name}, against X1 -> X2 alone"
            svg = line_chart(lines, x="epsilon", y="mean of P(independence | D)")
            made.append(Figure(f"figure-7-22-{number + 1}", title, svg))
    if any(curves.values()):
        cells = [
            [f"{n:,}", f"{e:g}", *(f"{v:.2f}, {w:.2f}" for v, w in found.values())]
            for n, points in curves.items()
            for e, found in points.items()
        ]
        title = "Figure 7.22: mean of P(independence | D) with one rival structure and with two"
        made.append(Table(title, ["cases", "epsilon", *PRIORS], cells))
    for row in rows:
        if row["part"] == "classes":
            note = "Adding or removing one arc joins them by so many links, each counted once."
            cells = [[*map(str, row["by_arcs"]), str(row["n_classes"]), str(row["n_links"])]]
            header = ["no arc", "one", "two", "three", "classes", "links"]
            made.append(Table("Figure 7.17: classes over three variables", header, cells, note))
    spread = [row for row in rows if row["part"] == "spread"]
    if spread:
        cells = [
            [
                row["structure"],
                f"{row['total']:.9f}",
                f"{row['entropy']:.3f}",
                f"{row['greatest']:.4g}",
            ]
            for row in spread
        ]
        header = ["structure", "sum of P(D)", "entropy (nats)", "greatest P(D)"]
        made.append(Table("Figure 7.21: how structures spread their probability", header, cells))
    return made
