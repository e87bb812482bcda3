"""Figures 7.17, 7.21 and 7.22."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bestdag import Pdag
from studies.jensen2007.claims import (
    EPSILONS,
    PARTS,
    PRIORS,
    ROWS_OF_SPREAD,
    SIZES,
    independence_at,
)
from studies.sections import Figure, Line, Section, Table, line_chart
from studies.study import Row

__all__ = ["sections"]

_SPREAD = {"empty": "too simple", "chain": "appropriate", "complete": "too complex"}


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
            title = "Figure 7.17: classes over three variables"
            note = (
                "An arrow takes one arc from some members of a class: with it goes the lower "
                "neighbourhood of greedy equivalence search, against it the upper one."
            )
            names = {name: name.replace("  ", ", ") for level in row["levels"] for name in level}
            links = [(names[more], names[less]) for less, more in row["links"]]
            svg = Pdag(names.values(), links).plot().svg
            made.append(Figure("figure-7-17", title, svg, note))
            cells = [[*map(str, row["by_arcs"]), str(row["n_classes"]), str(len(row["links"]))]]
            header = ["no arc", "one", "two", "three", "classes", "links"]
            made.append(Table(f"{title}: numbers", header, cells))
    spread = {row["structure"]: row for row in rows if row["part"] == "spread"}
    if len(spread) == len(_SPREAD):
        made.append(_spread_figure(spread))
    if spread:
        cells = [
            [name, f"{row['total']:.9f}", f"{row['entropy']:.3f}", f"{row['greatest']:.4g}"]
            for name, row in spread.items()
        ]
        header = ["structure", "sum of P(D)", "entropy (nats)", "greatest P(D)"]
        made.append(Table("Figure 7.21: how structures spread their probability", header, cells))
    return made


def _spread_figure(spread: Mapping[str, Row]) -> Figure:
    lines = [
        Line(title, [(k + 0.5) / PARTS for k in range(PARTS)], spread[name]["curve"])
        for name, title in _SPREAD.items()
    ]
    return Figure(
        "figure-7-21",
        "Figure 7.21: marginal likelihood of three structures",
        line_chart(
            lines,
            x="share of all data sets, the most probable first",
            y="P(D | S) times the number of data sets",
            log_y=True,
        ),
        f"All data sets of {ROWS_OF_SPREAD} rows of three binary variables. The simple structure "
        "(no arc) puts most on few of them, the complex one (complete) spreads its probability "
        "most; the appropriate one is A -> B -> C.",
    )
