"""Figures 1 to 7, with the numbers under them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bestdag.papers.charts import Line, line_chart
from bestdag.papers.scanagatta2014.choices import choices
from bestdag.papers.scanagatta2014.rows import KNOWN, LIMITS, METHODS, curves
from bestdag.papers.sections import Figure, Section, Table, in_digits
from bestdag.papers.study import Row

__all__ = ["sections"]

_NOTE = "The paper shows this as a figure without numbers. Means and quartiles."


def sections(rows: Sequence[Row]) -> list[Section]:
    """Draw what there are rows of."""
    made = [*_comparisons(rows), *_saturations(rows), *_limits(rows)]
    return [*made, *choices(rows), *_unproved(rows)]


def _comparisons(rows: Sequence[Row]) -> Iterator[Section]:
    random = [row for row in rows if row["part"] == "random"]
    for nodes in sorted({row["nodes"] for row in random}):
        some = [row for row in random if row["nodes"] == nodes]
        yield from _of_methods(f"figure-1-{nodes}", f"Figure 1: {nodes} nodes", some, "accuracy")
        title = f"Figure 3: mismatches of moral graphs, {nodes} nodes"
        yield from _of_methods(f"figure-3-{nodes}", title, some, "mismatches")
        yield from _arcs(f"figure-4-{nodes}", f"Figure 4: arcs, {nodes} nodes", some)
        if nodes == 20:
            title = "Figure 5: parameters from 5,000 rows, 20 nodes"
            yield from _of_methods("figure-5", title, some, "accuracy_many", METHODS[:3])
    for name in KNOWN:
        some = [row for row in rows if row["part"] == "known" and row["name"] == name]
        if some:
            yield from _of_methods(f"figure-2-{name}", f"Figure 2: {name}", some, "accuracy")


def _of_methods(
    name: str, title: str, rows: Sequence[Row], entry: str, methods: Sequence[str] = METHODS
) -> Iterator[Section]:
    values = {m: _entry(m, entry) for m in methods}
    what = "mismatches" if entry == "mismatches" else "accuracy score (per cent)"
    yield from _drawn(name, title, rows, values, what)


def _entry(method: str, entry: str) -> Callable[[Row], float]:
    return lambda row: float(row[method][entry])


def _arcs(name: str, title: str, rows: Sequence[Row]) -> Iterator[Section]:
    values = {m: _entry(m, "n_arcs") for m in METHODS[:3]}
    values["Original"] = lambda row: row["true_arcs"]
    yield from _drawn(name, title, rows, values, "arcs")


def _drawn(
    name: str,
    title: str,
    rows: Sequence[Row],
    values: dict[str, Callable[[Row], float]],
    y: str,
) -> Iterator[Section]:
    found = {label: curves(rows, value) for label, value in values.items()}
    lines = [Line(label, *curve) for label, curve in found.items()]
    yield Figure(name, title, line_chart(lines, x="rows", y=y, log_x=True), _NOTE)
    sizes = next(iter(found.values()))[0]
    cells = [[label, *(f"{v:.4g}" for v in curve[1])] for label, curve in found.items()]
    yield Table(f"{title}: mean", ["rows", *(f"{size:,}" for size in sizes)], cells)


def _saturations(rows: Sequence[Row]) -> Iterator[Section]:
    random = [row for row in rows if row["part"] == "random" and row["nodes"] <= 40]
    every = sorted({row["nodes"] for row in random})
    for name, title, value in (
        ("figure-6-accuracy", "Figure 6: accuracy score of BDeu", lambda r: r["BDeu"]["accuracy"]),
        ("figure-6-sensitivity", "Figure 6: sensitivity of BDeu", lambda r: r["sensitivity"]),
    ):
        lines = [
            Line(f"{n} nodes", *curves([row for row in random if row["nodes"] == n], value)[:2])
            for n in every
        ]
        if lines:
            yield Figure(name, title, line_chart(lines, x="rows", y=title[10:], log_x=True), _NOTE)
            cells = [[line.name, *(f"{v:.4g}" for v in line.y)] for line in lines]
            header = ["rows", *(f"{size:,.0f}" for size in lines[0].x)]
            yield Table(f"{title}: mean", header, cells)


def _limits(rows: Sequence[Row]) -> Iterator[Section]:
    lines = []
    for limit in LIMITS:
        some = [row for row in rows if row["part"] == "limits" and row["limit"] == limit]
        if some:
            lines.append(Line(str(limit), *curves(some, lambda row: row["BDeu"]["accuracy"])[:2]))
    if lines:
        title = "Figure 7: at most so many parents, 20 nodes"
        svg = line_chart(lines, x="rows", y="accuracy score of BDeu", log_x=True)
        yield Figure("figure-7", title, svg, _NOTE)
        cells = [[line.name, *(f"{v:.4g}" for v in line.y)] for line in lines]
        yield Table(f"{title}: mean", ["limit", *(f"{size:,.0f}" for size in lines[0].x)], cells)


def _unproved(rows: Sequence[Row]) -> Iterator[Section]:
    found: dict[str, list[float | None]] = defaultdict(list)
    for row in rows:
        where = {
            "random": f"random, {row.get('nodes')} nodes",
            "known": str(row.get("name")),
            "ess": f"other ess, {row.get('nodes')} nodes",
            "limits": f"limits of parents, {row.get('nodes')} nodes",
        }.get(row["part"], f"{row['part']}, {row.get('nodes')} nodes")
        found[where] += [row[m]["gap"] for m in METHODS[:3] if m in row]
    if not found:
        return
    found["all"] = [gap for gaps in found.values() for gap in gaps]
    cells = []
    for where, gaps in found.items():
        open_ = [gap for gap in gaps if gap != 0]
        known = [gap for gap in open_ if gap is not None]
        cells.append(
            [where, f"{len(gaps):,}", f"{len(gaps) - len(open_):,}", f"{len(open_):,}"]
            + ([in_digits(f(known), 3) for f in (np.median, max)] if known else ["", ""])
        )
    header = ["networks", "searches", "optimum proved", "not proved"]
    header += ["median gap of these (nats)", "largest gap"]
    yield Table("Proofs", header, cells)
