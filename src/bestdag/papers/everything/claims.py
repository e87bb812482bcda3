"""E1 to E4: what one would like to know before choosing a score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestdag.papers.claims import Claim, Verdict, all_of, is_above, mean_interval
from bestdag.papers.everything.rows import CLASSES, SCORES, ranks_by_size
from bestdag.papers.study import Row

__all__ = ["claims"]

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
