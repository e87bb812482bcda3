"""Figures and tables of silander2018, and how much hangs on what the paper leaves open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from studies.claims import difference_interval, mean_interval, verdict_table
from studies.data import TABLES
from studies.sections import Figure, Line, Section, Table, line_chart
from studies.silander2018.claims import (
    APPROXIMATE,
    DRAWN,
    LARGE,
    METHODS,
    NETWORKS,
    PRINTED_PARAMETERS,
    PRINTED_RANKS,
    PRINTED_REGRETS,
    SIZES,
    least_ranks,
    mean_parameters,
    prediction_claims,
    prediction_ranks,
    shared_ranks,
    structure_claims,
    structure_values,
)
from studies.study import Row

__all__ = ["choices", "sections"]


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


_PUBLISHED, _SOME = "published tables", "published tables, as few samples"
_FOUND, _OTHER = "the member that was found", "a random member"


def choices(rows: Sequence[Row]) -> list[Section]:
    """Print mean ranks and verdicts under each choice."""
    return [*_ranks_by_choice(rows), *_tables_of_networks(rows), *_members(rows)]


def _ranks_by_choice(rows: Sequence[Row]) -> Iterator[Section]:
    approximate = (*METHODS[:-1], APPROXIMATE)
    shd = structure_values(rows, "shd", (*METHODS, APPROXIMATE))
    ways = {"as above": shared_ranks, "equal ones share the least rank": least_ranks}
    cells = []
    many = [values for (_, size), values in shd.items() if size > LARGE]
    if many:
        for name, rank in ways.items():
            means = np.concatenate([rank(v[:, : len(METHODS)]) for v in many]).mean(axis=0)
            cells.append(["SHD, above 300 rows", name, *(f"{v:.2f}" for v in means)])
        chosen = [*range(len(METHODS) - 1), len(METHODS)]
        means = np.concatenate([shared_ranks(v[:, chosen]) for v in many]).mean(axis=0)
        cells.append(["SHD, above 300 rows", "approximate regret", *(f"{v:.2f}" for v in means)])
    tables, ranks = prediction_ranks(rows)
    settings = (
        ("as above", "prediction", METHODS, shared_ranks),
        ("equal ones share the least rank", "prediction", METHODS, least_ranks),
        ("approximate regret", "prediction", approximate, shared_ranks),
        ("missing a state", "missing a state", METHODS, shared_ranks),
    )
    if len(ranks):
        for name, part, methods, rank in settings:
            some, found = prediction_ranks(rows, part, methods, rank)
            if not len(found):
                continue
            what = f"prediction, {len(some)} tables"
            cells.append([what, name, *(f"{v:.2f}" for v in found.mean(axis=(0, 1)))])
            if part == "missing a state":
                places = [tables.index(table) for table in some if table in tables]
                means = ranks[:, places].mean(axis=(0, 1))
                cells.append([what, "filled, the same tables", *(f"{v:.2f}" for v in means)])
    if cells:
        title = "How much the choices matter: mean ranks"
        yield Table(title, ["of", "choice", *METHODS], cells)


def _tables_of_networks(rows: Sequence[Row]) -> Iterator[Section]:
    """Compare SHD under published tables and drawn ones; samples are not paired."""
    published = [row for row in rows if row["part"] == "structure"]
    drawn = {
        f"tables from {name}": [
            {**row, "part": "structure"}
            for row in rows
            if row["part"] == "drawn tables" and row["tables"] == name
        ]
        for name in DRAWN
    }
    if not published or not all(drawn.values()):
        return
    most = 1 + max(row["repetition"] for some in drawn.values() for row in some)
    few = [row for row in published if row["repetition"] < most]
    sources: dict[str, Sequence[Row]] = {_PUBLISHED: published, _SOME: few, **drawn}
    ranks = {name: _ranks_of_many(some) for name, some in sources.items()}
    cells = []
    for name, found in ranks.items():
        means = [mean_interval(found[:, k]) for k in range(len(METHODS))]
        cells.append([name, "mean rank", *map(str, means)])
        if name in drawn:
            base = ranks[_PUBLISHED]
            apart = [difference_interval(found[:, k], base[:, k]) for k in range(len(METHODS))]
            cells.append([name, f"minus that of {_PUBLISHED}", *map(str, apart)])
    title = "How much the parameters of the five networks matter: ranks of SHD above 300 rows"
    yield Table(title, ["parameters", "of", *METHODS], cells, "1 is best; with 95 % intervals.")
    yield verdict_table(
        {name: list(structure_claims(some)) for name, some in sources.items()},
        "Fewer samples leave more open: the second line is for that.",
        beside=_SOME,
        title="Verdicts by the parameters of the five networks",
    )


def _ranks_of_many(rows: Sequence[Row]) -> np.ndarray:
    shd = structure_values(rows, "shd")
    many = [shared_ranks(values) for (_, size), values in shd.items() if size > LARGE]
    return np.concatenate(many or [np.zeros((0, len(METHODS)))])


def _members(rows: Sequence[Row]) -> Iterator[Section]:
    """Compare predictions by members of the same classes, on the same permutations."""
    other = [row for row in rows if row["part"] == "other members"]
    of = {(row["table"], row["percent"], row["permutation"]): row["losses"] for row in other}
    pairs = [
        (row, of[key])
        for row in rows
        if row["part"] == "prediction"
        and (key := (row["table"], row["percent"], row["permutation"])) in of
    ]
    if not pairs:
        return
    sources: dict[str, Sequence[Row]] = {
        _FOUND: [row for row, _ in pairs],
        _OTHER: [{**row, "losses": losses} for row, losses in pairs],
    }
    tables, found = prediction_ranks(sources[_FOUND])
    _, member = prediction_ranks(sources[_OTHER])
    if not len(found) or found.shape != member.shape:
        return
    cells = [
        [name, *(str(mean_interval(ranks[..., k].mean(axis=1))) for k in range(len(METHODS)))]
        for name, ranks in ((_FOUND, found), (_OTHER, member), ("difference", member - found))
    ]
    for text, turn in (("mean", np.mean), ("largest", np.max)):
        apart = [
            turn([abs(losses[m] - row["losses"][m]) for row, losses in pairs]) for m in METHODS
        ]
        cells.append([f"{text} change of the loss (nats per row)", *(f"{v:.2g}" for v in apart)])
    yield Table(
        "How much the member of the class matters: mean predictive ranks",
        ["structure", *METHODS],
        cells,
        f"{len(found)} permutations of {len(tables)} tables, the same for both; 95 % intervals "
        "over permutations. BDeu's posterior means are the same for all members, and fNML gives "
        "members different scores.",
    )
    yield verdict_table(
        {name: list(prediction_claims(some)) for name, some in sources.items()},
        beside=_FOUND,
        title="Verdicts by the member of the class",
    )
