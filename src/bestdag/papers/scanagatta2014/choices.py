"""How much the answers depend on what the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestdag.papers.choices import AS_ABOVE, verdict_table
from bestdag.papers.claims import mean_interval
from bestdag.papers.scanagatta2014.claims import FEWEST, claims, random_claims
from bestdag.papers.scanagatta2014.rows import (
    FEW,
    METHODS,
    OTHER_ESS,
    VARIANTS,
    by_network,
)
from bestdag.papers.sections import Section, Table
from bestdag.papers.study import Row

__all__ = ["choices"]

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
