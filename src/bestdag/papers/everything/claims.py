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
    same: Verdict = "holds" if len(set(best.values())) > 1 else "does not hold"
    yield Claim(
        "E1",
        "ours",
        "The score that predicts best depends on the number of rows.",
        same if is_whole else "cannot be told",
        _shown(loss, best),
        "the lowest mean rank of the log loss must belong to more than one score",
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
    other = [name for name in CLASSES if name in finds and finds[name] != best.get(name)]
    verdict: Verdict = "holds" if other else "does not hold"
    yield Claim(
        "E4",
        "ours",
        "The score that finds the true structure best is not the one that predicts best.",
        verdict if is_whole and len(finds) == len(CLASSES) else "cannot be told",
        "least SHD: " + _shown(shd, finds),
        "the lowest mean ranks of SHD and of log loss must differ for some number of rows",
    )


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
