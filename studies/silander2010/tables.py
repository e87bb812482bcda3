"""Figures 2 and 3 and Table 1."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from studies.data import TABLES
from studies.sections import Figure, Line, Section, Table, line_chart, scatter_chart
from studies.silander2010.claims import PREDICTED, PRINTED, RANKED, SIZES, losses_by_table
from studies.study import Row

__all__ = ["sections"]

_BY_NETWORK = "median over networks of each one's median"


def sections(rows: Sequence[Row]) -> list[Section]:
    """Draw Figures 2 and 3 and print Table 1."""
    made: list[Section] = []
    for scheme, title in (("bdeu", "BDeu(1)'s own prior"), ("half", "Dir(1/2, ..., 1/2)")):
        for edges in (7, 4):
            chosen = [
                row
                for row in rows
                if row["part"] == "rank" and (row["scheme"], row["edges"]) == (scheme, edges)
            ]
            if chosen:
                made += _rank_sections(chosen, scheme, title, edges)
    made += _choices(rows)
    losses = losses_by_table(rows)
    if losses:
        made.append(_table_1(losses, losses_by_table(rows, "state")))
        for other in ("BDeu", "BD1/2"):
            name = other.replace("/", "")
            points = [
                (t, -f[other].mean(), -f["fNML"].mean(), _spread(f[other]), _spread(f["fNML"]))
                for t, f in losses.items()
            ]
            svg = scatter_chart(points, x=f"{other}: log-likelihood per row", y="fNML")
            title = f"Figure 3: fNML against {other}, above the line fNML is better"
            made.append(Figure(f"figure-3-{name}", title, svg))
    return made


def _spread(values: np.ndarray) -> float:
    return 1.96 * float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _rank_sections(rows: Sequence[Row], scheme: str, title: str, edges: int) -> Iterator[Section]:
    lines, cells = [], []
    for label in RANKED:
        quartiles = np.quantile([row[label]["mid"] for row in rows], [0.25, 0.5, 0.75], axis=0)
        low, middle, high = quartiles.tolist()
        lines.append(Line(label, SIZES, middle, low, high))
        shown = zip(low, middle, high, strict=True)
        cells.append([label, *(f"{b:,.0f} ({a:,.0f}-{c:,.0f})" for a, b, c in shown)])
    where = "Figure 2" if edges == 7 else "Not shown in the paper"
    about = f"{where}: rank of the true structure, {edges} edges, parameters from {title}"
    yield Figure(
        f"rank-{scheme}-{edges}",
        about,
        line_chart(lines, x="rows", y="rank (median, quartiles)", log_x=True, log_y=True),
        "Lower is better. The paper shows this as a figure without numbers; equal scores share the "
        "middle of their ranks.",
    )
    yield Table(f"{about}: median (quartiles)", ["rows", *map(str, SIZES)], cells)


def _choices(rows: Sequence[Row]) -> Iterator[Section]:
    """Show how much the ranks depend on what the paper leaves open."""
    few, many = SIZES.index(100), SIZES.index(1000)
    variants = (
        ("as above", "rank", "mid"),
        ("1 + the number of strictly better ones", "rank", "rank"),
        (_BY_NETWORK, "rank", "mid"),
        ("structures drawn uniformly", "rank, uniform", "mid"),
    )
    cells = []
    for scheme in ("bdeu", "half"):
        for edges in (7, 4):
            for name, part, kind in variants:
                of = (part, scheme, edges)
                some = [r for r in rows if (r["part"], r.get("scheme"), r.get("edges")) == of]
                if some:
                    if name == _BY_NETWORK:
                        medians = [_median_of_networks(some, m, kind) for m in RANKED]
                    else:
                        medians = [np.median([r[m][kind] for r in some], axis=0) for m in RANKED]
                    shown = [f"{v[few]:,.1f} / {v[many]:,.1f}" for v in medians]
                    cells.append([scheme, str(edges), name, f"{len(some):,}", *shown])
    if cells:
        yield Table(
            "How much the choices matter: median rank at 100 / 1,000 rows",
            ["parameters", "edges", "choice", "data sets", *RANKED],
            cells,
            "Parameters from BDeu(1)'s own prior, or from Dir(1/2, ..., 1/2).",
        )


def _median_of_networks(rows: Sequence[Row], method: str, kind: str) -> np.ndarray:
    """Take the median over the data sets of each network, then that over networks."""
    found: dict[int, list[Sequence[float]]] = defaultdict(list)
    for row in rows:
        found[row["network"]].append(row[method][kind])
    middle: np.ndarray = np.median([np.median(v, axis=0) for v in found.values()], axis=0)
    return middle


def _table_1(
    losses: Mapping[str, Mapping[str, np.ndarray]], as_state: Mapping[str, Mapping[str, np.ndarray]]
) -> Table:
    header = ["table", "N", "columns", "halves", *PREDICTED, "best"]
    header += [f"{m}, missing a state" for m in PREDICTED]
    cells = []
    for table, found in losses.items():
        row = [table, f"{TABLES[table][0]:,}", str(TABLES[table][1]), str(len(found["fNML"]))]
        row += [f"{found[m].mean():.3f} ± {_spread(found[m]):.3f}" for m in PREDICTED]
        row.append(min(PREDICTED, key=lambda m: found[m].mean()))
        other = as_state.get(table)
        row += [f"{other[m].mean():.3f}" if other else "" for m in PREDICTED]
        cells.append(row)
    wins = sum(values[0] == min(values) for values in PRINTED)
    printed = "; ".join(", ".join(f"{v:.3f}" for v in values) for values in PRINTED)
    return Table(
        "Table 1: mean loss per row on the other half, ± 1.96 standard deviations",
        header,
        cells,
        f"The paper's table has fNML best in {wins} of 20 by its printed means. Its names and "
        "values are out of "
        "step, so that rows cannot be compared; in its order of rows (fNML, BDeu, BD1/2): "
        f"{printed}.",
    )
