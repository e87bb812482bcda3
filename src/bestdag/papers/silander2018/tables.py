"""Figures and tables of silander2018, ours beside the paper's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from bestdag.papers.charts import Line, line_chart
from bestdag.papers.sections import Figure, Section, Table
from bestdag.papers.silander2018.choices import choices
from bestdag.papers.silander2018.rows import (
    APPROXIMATE,
    METHODS,
    NETWORKS,
    PRINTED_PARAMETERS,
    PRINTED_RANKS,
    PRINTED_REGRETS,
    SIZES,
    mean_parameters,
    prediction_ranks,
    shared_ranks,
    structure_values,
)
from bestdag.papers.study import Row
from bestdag.papers.uci_tables import TABLES

__all__ = ["sections"]


def sections(rows: Sequence[Row]) -> list[Section]:
    """Draw the figures and print the tables."""
    made = [*_structures(rows), *_ranks(rows), *_parameters(rows)]
    regrets = [row for row in rows if row["part"] == "regret"]
    if regrets:
        header = ["N", "r"]
        header += [
            f"{k} ({w})" for k in ("asymptotic", "Szpankowski", "exact") for w in ("ours", "paper")
        ]
        cells = []
        for row in regrets:
            own = (row["asymptotic"], row["szpankowski"], row["exact"])
            both = zip(own, PRINTED_REGRETS[row["n"], row["r"]], strict=True)
            cells.append(
                [str(row["n"]), str(row["r"]), *(f"{v:.2f}" for pair in both for v in pair)]
            )
        made.append(Table("Regret by formula and exactly", header, cells))
    return [*made, *choices(rows)]


def _structures(rows: Sequence[Row]) -> Iterator[Section]:
    labels = (*METHODS, APPROXIMATE)
    shd = structure_values(rows, "shd", labels)
    arcs = structure_values(rows, "arcs", labels)
    for network in NETWORKS:
        sizes = [size for size in SIZES if (network, size) in shd]
        if not sizes:
            continue
        lines = [
            Line(label, sizes, [float(shd[network, size][:, k].mean()) for size in sizes])
            for k, label in enumerate(METHODS)
        ]
        svg = line_chart(lines, x="rows", y="mean SHD", log_x=True)
        yield Figure(f"shd-{network}", f"SHD between classes: {network}", svg)
        n = len(shd[network, sizes[0]])
        yield Table(
            f"Mean SHD (arcs) over {n:,} samples: {network}",
            ["rows", *labels],
            [
                [f"{size:,}"]
                + [
                    f"{a:.2f} ({b:.1f})"
                    for a, b in zip(
                        shd[network, size].mean(axis=0),
                        arcs[network, size].mean(axis=0),
                        strict=True,
                    )
                ]
                for size in sizes
            ],
        )
    found = {
        size: [shared_ranks(shd[n, size][:, : len(METHODS)]) for n in NETWORKS if (n, size) in shd]
        for size in SIZES
    }
    means = {size: np.concatenate(v).mean(axis=0) for size, v in found.items() if v}
    if means:
        lines = [
            Line(label, list(means), [float(v[k]) for v in means.values()])
            for k, label in enumerate(METHODS)
        ]
        svg = line_chart(lines, x="rows", y="average rank of SHD", log_x=True)
        yield Figure("shd-ranks", "Average rank of SHD over the networks", svg)
        cells = [[f"{size:,}", *(f"{v:.2f}" for v in row)] for size, row in means.items()]
        yield Table("Average rank of SHD over the networks", ["rows", *METHODS], cells)


def _ranks(rows: Sequence[Row]) -> Iterator[Section]:
    tables, ranks = prediction_ranks(rows)
    if not len(ranks):
        return
    means = ranks.mean(axis=0)
    cells = []
    for table, own in zip(tables, means, strict=True):
        both = zip(own, PRINTED_RANKS[table], strict=True)
        cells.append([table, f"{TABLES[table][0]:,}", *(f"{a:.2f} ({b:.2f})" for a, b in both)])
    printed = np.array([PRINTED_RANKS[table] for table in tables])
    for name, statistic in (("mean", np.mean), ("standard deviation", _deviation)):
        both = zip(statistic(means, axis=0), statistic(printed, axis=0), strict=True)
        cells.append([name, "", *(f"{a:.2f} ({b:.2f})" for a, b in both)])
    percents = sorted({row["percent"] for row in rows if row["part"] == "prediction"})
    yield Table(
        "Average predictive rank, and the paper's in brackets",
        ["table", "N", *METHODS],
        cells,
        f"{len(ranks):,} permutations, training fractions {', '.join(map(str, percents))} %; the "
        "paper has 1,000 permutations and 10, 20, ..., 90 %.",
    )


def _deviation(values: np.ndarray, axis: int) -> np.ndarray:
    spread: np.ndarray = values.std(axis=axis, ddof=1) if len(values) > 1 else values[0] * 0
    return spread


def _parameters(rows: Sequence[Row]) -> Iterator[Section]:
    ten, twenty = mean_parameters(rows, 10), mean_parameters(rows, 20)
    if ten and twenty:
        cells = [
            [table]
            + [f"{v:,.0f}" for v in ten[table]]
            + [f"{v:,.0f}" for v in twenty.get(table, ())]
            + [f"{v:,}" for v in PRINTED_PARAMETERS[table]]
            for table in ten
            if table in twenty
        ]
        header = [f"{m}, {w}" for w in ("10 %", "20 %", "paper") for m in METHODS]
        yield Table("Mean number of parameters", ["table", *header], cells)
    found: dict[int, list[list[float]]] = defaultdict(list)
    for row in rows:
        if row["part"] == "prediction" and row["table"] == "breast-cancer":
            found[row["percent"]].append([row["parameters"][m] for m in METHODS])
    if len(found) > 1:
        sizes = [round(TABLES["breast-cancer"][0] * percent / 100) for percent in sorted(found)]
        means = [np.mean(found[percent], axis=0) for percent in sorted(found)]
        lines = [Line(m, sizes, [float(v[k]) for v in means]) for k, m in enumerate(METHODS)]
        svg = line_chart(lines, x="rows", y="mean number of parameters", log_y=True)
        yield Figure("parameters-breast-cancer", "Number of parameters: breast-cancer", svg)
