"""Rows of `everything` as ranks among scores on the same rows, and E1 to E4."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bestdag import (
    AIC,
    BD,
    BIC,
    FNML,
    HQC,
    K2,
    LL,
    MIT,
    QNML,
    BDeu,
    BDq,
    MaxBDeu,
    MinBDeu,
    Score,
)
from studies.claims import Claim, Verdict, all_of, is_above, mean_interval
from studies.study import Row

__all__ = [
    "CLASSES",
    "LARGE_NETWORKS",
    "MEASURED",
    "NETWORKS",
    "SCORES",
    "claims",
    "excess_by_size",
    "ranks_by_rows",
    "ranks_by_size",
    "size_class",
]

SCORES: dict[str, Score] = {
    "LL": LL(),
    "AIC": AIC(),
    "BIC": BIC(),
    "HQC": HQC(),
    "MIT(0.99)": MIT(confidence=0.99),
    "K2": K2(),
    "BD1/2": BD(pseudo_count=0.5),
    "BDeu(1)": BDeu(ess=1.0),
    "Min-BDeu": MinBDeu(epsilon=0.5),
    "Max-BDeu": MaxBDeu(epsilon=0.5),
    "BDq": BDq(),
    "fNML": FNML(),
    "qNML": QNML(),
}
NETWORKS = (
    "asia",
    "cancer",
    "earthquake",
    "sachs",
    "survey",
    "child",
    "insurance",
    "water",
    "alarm",
)
# Of 35 to 724 nodes: the best structure is not proved in the time a trial has.
LARGE_NETWORKS = (
    "mildew",
    "barley",
    "hailfinder",
    "pathfinder",
    "munin1",
    "andes",
    "diabetes",
    "pigs",
    "link",
)
MEASURED = ("loss", "shd", "moral", "arcs", "parameters")
# Numbers of training rows: up to the first, up to the second, more.
CLASSES = {"up to 100 rows": 100, "101 to 1,000 rows": 1000, "more than 1,000 rows": np.inf}


def size_class(n_train: int) -> str:
    """Return which of CLASSES a number of rows belongs to.

    Examples
    --------
    >>> size_class(100), size_class(101)
    ('up to 100 rows', '101 to 1,000 rows')
    """
    return next(name for name, most in CLASSES.items() if n_train <= most)


def ranks_by_size(rows: Sequence[Row], measure: str, part: str = "") -> dict[str, np.ndarray]:
    """Return mean ranks on each table or network by size: units by scores.

    A unit is a table or a network, of one part where given; only where all scores have the
    measure, a finite one.
    """
    return _by_size(rows, measure, part, _ranks)


def excess_by_size(rows: Sequence[Row], measure: str, part: str = "") -> dict[str, np.ndarray]:
    """Return by how much each score is above the least of all on the same rows, as above.

    Losses in per cent of the least one, distances in arcs.
    """
    return _by_size(rows, measure, part, _percent_above if measure == "loss" else _above)


def _by_size(
    rows: Sequence[Row], measure: str, part: str, turned: Callable[[np.ndarray], np.ndarray]
) -> dict[str, np.ndarray]:
    found: dict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
    for row in rows:
        value = row.get(measure)
        if value is not None and part in ("", row["part"]):
            size = row.get("rows", row.get("percent"))
            key = (size_class(row["n_train"]), row["on"], row["part"], size, row["repetition"])
            found[key][row["score"]] = round(value, 9)
    together: dict[str, dict[Any, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for (name, unit, kind, _, _), values in found.items():
        if len(values) == len(SCORES):
            given = np.array([values[score] for score in SCORES])
            together[name][unit, kind].append(turned(given))
    return {
        name: np.array([np.mean(together[name][unit], axis=0) for unit in sorted(together[name])])
        for name in CLASSES
        if name in together
    }


def _above(values: np.ndarray) -> np.ndarray:
    over: np.ndarray = values - values.min()
    return over


def _percent_above(values: np.ndarray) -> np.ndarray:
    over: np.ndarray = 100 * (values / values.min() - 1)
    return over


def ranks_by_rows(rows: Sequence[Row], measure: str) -> dict[int, np.ndarray]:
    """Return mean ranks of the scores by the number of rows drawn from a network.

    Means over networks, each the mean over its samples; only the networks of NETWORKS, which have
    all numbers of rows, and of those the ones for which all scores have the measure.
    """
    found: dict[tuple[int, str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["part"] == "network" and row["on"] in NETWORKS and row.get(measure) is not None:
            key = (row["rows"], row["on"], row["repetition"])
            found[key][row["score"]] = round(row[measure], 9)
    by: dict[int, dict[str, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for (size, network, _), values in found.items():
        if len(values) == len(SCORES):
            by[size][network].append(_ranks(np.array([values[score] for score in SCORES])))
    return {
        size: np.mean([np.mean(ranks, axis=0) for ranks in by[size].values()], axis=0)
        for size in sorted(by)
    }


def _ranks(values: np.ndarray) -> np.ndarray:
    less = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    ranks: np.ndarray = less + (equal + 1) / 2
    return ranks


_LABELS = tuple(SCORES)
_FEW, _SOME, _MANY = CLASSES


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Judge E1 to E4."""
    return list(_claims(rows))


def _claims(rows: Sequence[Row]) -> Iterator[Claim]:
    loss, shd = ranks_by_size(rows, "loss"), ranks_by_size(rows, "shd")
    best = {name: _LABELS[int(found.mean(axis=0).argmin())] for name, found in loss.items()}
    is_whole = set(best) == set(CLASSES)
    yield Claim(
        "E1",
        "ours",
        "The score that predicts best depends on the number of rows.",
        _changes(loss, best) if is_whole else "cannot be told",
        _shown(loss, best),
        "the best one with few rows and the best one with many must each be clearly before the "
        "other there (paired over tables and networks)",
    )
    yield Claim(
        "E2",
        "ours",
        "With few rows, sparse scores (BIC, Min-BDeu) predict better than dense ones (LL, AIC, "
        "Max-BDeu).",
        _is_better(loss.get(_FEW), ("BIC", "Min-BDeu"), ("LL", "AIC", "Max-BDeu")),
        _means(loss.get(_FEW), ("BIC", "Min-BDeu", "LL", "AIC", "Max-BDeu")),
        f"{_FEW}: each must rank before each, paired over tables and networks",
    )
    yield Claim(
        "E3",
        "ours",
        "With many rows fNML predicts better than BIC.",
        _is_better(loss.get(_MANY), ("fNML",), ("BIC",)),
        _means(loss.get(_MANY), ("fNML", "BIC")),
        f"{_MANY}: paired over tables and networks",
    )
    finds = {name: _LABELS[int(found.mean(axis=0).argmin())] for name, found in shd.items()}
    yield Claim(
        "E4",
        "ours",
        "The score that finds the true structure best is not the one that predicts best.",
        _differs(shd, finds, best) if is_whole and set(finds) == set(best) else "cannot be told",
        "least SHD: " + _shown(shd, finds),
        "for some number of rows the one must be clearly before the other by SHD (paired over "
        "networks)",
    )


def _changes(ranks: dict[str, np.ndarray], best: dict[str, str]) -> Verdict:
    if len(set(best.values())) == 1:
        return "does not hold"
    first, last = best[_FEW], best[_MANY]
    both = (_is_better(ranks[_FEW], [first], [last]), _is_better(ranks[_MANY], [last], [first]))
    return "holds" if set(both) == {"holds"} else "cannot be told"


def _differs(ranks: dict[str, np.ndarray], finds: dict[str, str], best: dict[str, str]) -> Verdict:
    if finds == best:
        return "does not hold"
    clear = [_is_better(ranks[name], [finds[name]], [best[name]]) for name in CLASSES]
    return "holds" if "holds" in clear else "cannot be told"


def _is_better(ranks: np.ndarray | None, some: Sequence[str], others: Sequence[str]) -> Verdict:
    if ranks is None:
        return "cannot be told"
    return all_of(
        is_above(mean_interval(ranks[:, _LABELS.index(b)] - ranks[:, _LABELS.index(a)]))
        for a in some
        for b in others
    )


def _means(ranks: np.ndarray | None, some: Sequence[str]) -> str:
    if ranks is None:
        return "no trials"
    means = ranks.mean(axis=0)
    shown = ", ".join(f"{name} {means[_LABELS.index(name)]:.2f}" for name in some)
    return f"mean ranks on {len(ranks)} tables and networks: {shown}"


def _shown(ranks: dict[str, np.ndarray], best: dict[str, str]) -> str:
    return (
        "; ".join(
            f"{name}: {best[name]} ({found.mean(axis=0).min():.2f})"
            for name, found in ranks.items()
        )
        or "no trials"
    )
