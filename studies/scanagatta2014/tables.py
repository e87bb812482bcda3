"""Figures 1 to 7 and the numbers under them, and how much hangs on what the paper leaves open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from studies.claims import AS_ABOVE, mean_interval, verdict_table
from studies.scanagatta2014.claims import (
    FEW,
    FEWEST,
    KNOWN,
    LIMITS,
    METHODS,
    OTHER_ESS,
    VARIANTS,
    by_network,
    claims,
    curves,
    random_claims,
)
from studies.sections import Figure, Line, Section, Table, in_digits, line_chart
from studies.study import Row

__all__ = ["choices", "sections"]

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


# What is measured, the greater and the lesser by the paper, and the claim that says so.
_QUANTITIES = (
    ("accuracy", "BDeu", "Min-BDeu", "S1"),
    ("accuracy", "Max-BDeu", "BDeu", "S2"),
    ("mismatches", "BDeu", "Max-BDeu", "S4"),
    ("mismatches", "Min-BDeu", "BDeu", "S4"),
    ("n_arcs", "Max-BDeu", "BDeu", "S5"),
    ("n_arcs", "BDeu", "Min-BDeu", "S5"),
)
_NAMES = {"accuracy": "accuracy score", "mismatches": "mismatches", "n_arcs": "arcs"}


def choices(rows: Sequence[Row]) -> list[Section]:
    """Print means, differences and verdicts under each choice."""
    return [*_priors(rows), *_differences(rows), *_verdicts(rows)]


def _priors(rows: Sequence[Row]) -> Iterator[Section]:
    """Show how much accuracy depends on whose prior the parameters have."""
    cells = []
    for part in ("random", "known"):
        some = [row for row in rows if row["part"] == part and row["rows"] <= FEW]
        if some:
            for entry, name in (("accuracy", "each score's own"), ("accuracy_bdeu", "BDeu's")):
                means = [np.mean([row[m][entry] for row in some]) for m in METHODS[:3]]
                cells.append([part, name, *(f"{v:.2f}" for v in means)])
    if cells:
        title = f"How much the prior of the parameters matters: mean accuracy, up to {FEW} rows"
        yield Table(title, ["networks", "prior", *METHODS[:3]], cells)


def _differences(rows: Sequence[Row]) -> Iterator[Section]:
    """Show the differences between scores under each choice, paired over networks."""
    base = [row for row in rows if row["part"] == "random" and row["nodes"] == 20]
    others = {part: [row for row in rows if row["part"] == part] for part in VARIANTS}
    for ess in OTHER_ESS:
        some = [row for row in rows if row["part"] == "ess" and row["ess"] == ess]
        others[f"ess {ess:g}"] = some
    cells = []
    for name, some in others.items():
        shared = {(row["network"], row["rows"]) for row in some}
        beside = [row for row in base if (row["network"], row["rows"]) in shared]
        shared &= {(row["network"], row["rows"]) for row in beside}
        some = [row for row in some if (row["network"], row["rows"]) in shared]
        for entry, one, other, claim in _QUANTITIES if some else ():
            if entry not in some[0][one]:
                continue
            found, first = (_apart(of, entry, one, other) for of in (some, beside))
            change = [a - b for a, b in zip(found, first, strict=True)]
            cells.append(
                [name, claim, f"{_NAMES[entry]}, {one} minus {other}"]
                + [str(mean_interval(values)) for values in (first, found, change)]
            )
    if cells:
        yield Table(
            f"How much the choices matter: 20 nodes, up to {FEWEST} rows",
            ["choice", "claim", "of", AS_ABOVE, "with the choice", "change"],
            cells,
            "Means over networks with 95 % intervals; the change is paired over networks. Each "
            "claim says that its differences are above 0.",
        )


def _apart(rows: Sequence[Row], entry: str, one: str, other: str) -> list[float]:
    relabelled = [{**row, "part": "random"} for row in rows]
    return by_network(
        relabelled, "random", lambda row: float(row[one][entry] - row[other][entry]), most=FEWEST
    )


def _verdicts(rows: Sequence[Row]) -> Iterator[Section]:
    others = {
        part: [{**row, "part": "random"} for row in rows if row["part"] == part]
        for part in VARIANTS
    }
    if all(others.values()):
        shared = {(row["network"], row["rows"]) for some in others.values() for row in some}
        first = [
            row
            for row in rows
            if row["part"] == "random"
            and row["nodes"] == 20
            and (row["network"], row["rows"]) in shared
        ]
        sources: dict[str, Sequence[Row]] = {AS_ABOVE: first, **others}
        yield verdict_table(
            {name: list(random_claims(some)) for name, some in sources.items()},
            "For 20 nodes alone.",
            title="Verdicts with fresh rows and with other tables",
        )
    proved = [row for row in rows if all(row[m]["gap"] == 0 for m in METHODS[:3] if m in row)]
    if proved:
        sources = {
            AS_ABOVE: rows,
            "parameters under BDeu's prior": list(map(_under_bdeu, rows)),
            "only trials whose optima are all proved": proved,
        }
        yield verdict_table(
            {name: claims(some) for name, some in sources.items()},
            f"{len(proved):,} of {len(rows):,} trials have all optima proved.",
            title="Verdicts with BDeu's parameters, and without what is not proved",
        )


def _under_bdeu(row: Row) -> Row:
    """Take the accuracy with the parameters of BDeu's prior, where it was measured."""
    return {
        **row,
        **{
            m: {**row[m], "accuracy": row[m]["accuracy_bdeu"]}
            for m in METHODS[:3]
            if m in row and "accuracy_bdeu" in row[m]
        },
    }
