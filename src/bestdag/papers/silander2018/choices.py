"""How much the answers depend on what the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestdag.papers.choices import verdict_table
from bestdag.papers.claims import difference_interval, mean_interval
from bestdag.papers.sections import Section, Table
from bestdag.papers.silander2018.claims import LARGE, prediction_claims, structure_claims
from bestdag.papers.silander2018.rows import (
    APPROXIMATE,
    DRAWN,
    METHODS,
    least_ranks,
    prediction_ranks,
    shared_ranks,
    structure_values,
)
from bestdag.papers.study import Row

__all__ = ["choices"]

_PUBLISHED, _SOME = "published tables", "published tables, as few samples"
_FOUND, _OTHER = "the member that was found", "a random member"


def choices(rows: Sequence[Row]) -> list[Section]:
    """Print mean ranks and verdicts under each choice."""
    return [*_ranks(rows), *_tables_of_networks(rows), *_members(rows)]


def _ranks(rows: Sequence[Row]) -> Iterator[Section]:
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
