"""Probabilities of arcs compared with a true network: do they rank well, are they calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.errors import GraphError
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.tabular import Table, Tabular
from bestdag.wording import first_names

__all__ = ["CalibrationBin", "TruthComparison", "TruthMeasures", "compare_with_truth"]

_N_BINS = 10


class CalibrationBin(NamedTuple):
    """Pairs whose probabilities are alike: a calibrated `mean` is near the `share` that is true."""

    n: int
    mean: float
    share: float


@dataclass(frozen=True, slots=True)
class TruthMeasures:
    """How well probabilities rank and measure what is true.

    Attributes
    ----------
    auc : float or None
        Area under the ROC curve: the chance that something true has a higher probability than
        something that is not, ties counted half (the statistic of Mann and Whitney); None where all
        or nothing is true.
    brier : float
        Mean squared difference between probability and truth (1 or 0), after Brier (1950); lower is
        better.
    n_true, n : int
        How many are true, of how many.
    bins : tuple of CalibrationBin
        The probabilities in ten equal ranges, empty ones left out: where they are calibrated, the
        mean probability of a bin is near the share of it that is true.
    """

    auc: float | None
    brier: float
    n_true: int
    n: int
    bins: tuple[CalibrationBin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "auc": self.auc,
            "brier": self.brier,
            "n_true": self.n_true,
            "n": self.n,
            "bins": [one._asdict() for one in self.bins],
        }


@dataclass(frozen=True, slots=True)
class TruthComparison(Tabular):
    """Probabilities compared with a true network.

    Attributes
    ----------
    arcs : TruthMeasures
        Of all ordered pairs, against the arcs of the true structure. Of a class (a Pdag), an edge
        that may have either direction counts half each way in `brier`, and is true both ways in
        `auc` and `bins`.
    edges : TruthMeasures
        Of all unordered pairs: whether they are joined, in either direction.
    """

    arcs: TruthMeasures
    edges: TruthMeasures

    def _table(self) -> Table:
        names = ("auc", "brier", "n_true", "n")
        pairs = (("arcs", self.arcs), ("edges", self.edges))
        return Table(
            names=("of", *names),
            rows=([of, *(getattr(one, name) for name in names)] for of, one in pairs),
            n_rows=2,
            n_labels=1,
            title="probabilities compared with the true structure",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"arcs": self.arcs.to_dict(), "edges": self.edges.to_dict()}

    def __str__(self) -> str:
        lines = []
        for name, one in (("arcs", self.arcs), ("edges", self.edges)):
            auc = "-" if one.auc is None else f"{one.auc:.4f}"
            lines.append(f"{name}: AUC {auc}, Brier {one.brier:.4f}; {one.n_true} of {one.n} true")
        lines.append("edges by probability: pairs, mean probability, share that is true")
        lines += [f"{one.n:>8,}  {one.mean:.3f}  {one.share:.3f}" for one in self.edges.bins]
        return "\n".join(lines)


def compare_with_truth(
    names: Sequence[str], matrix: npt.NDArray[np.float64], true: Any
) -> TruthComparison:
    """Compare; `true` is a Dag, a Pdag or anything with a `dag`."""
    graph = true if isinstance(true, Dag | Pdag) else getattr(true, "dag", None)
    if not isinstance(graph, Dag | Pdag):
        raise GraphError(f"compare: needs a Dag, a Pdag or a Network, got {true!r:.60}")
    unshared = sorted(set(graph.nodes) ^ set(names))
    if unshared:
        raise GraphError(
            "compare: the true structure and the probabilities need the same variables; "
            f"{first_names(unshared)} are in one of them only"
        )
    number = {name: k for k, name in enumerate(names)}
    target = np.zeros(matrix.shape)
    for parent, child in graph.arcs:
        target[number[parent], number[child]] = 1.0
    for one, other in graph.edges if isinstance(graph, Pdag) else ():
        target[number[one], number[other]] = target[number[other], number[one]] = 0.5
    ordered = ~np.eye(len(names), dtype=np.bool_)
    pairs = np.triu(ordered)
    edge = np.minimum(matrix + matrix.T, 1.0)
    return TruthComparison(
        _measures(matrix[ordered], target[ordered]),
        _measures(edge[pairs], (target + target.T)[pairs]),
    )


def _measures(
    probabilities: npt.NDArray[np.float64], target: npt.NDArray[np.float64]
) -> TruthMeasures:
    is_true = target > 0
    place = np.minimum((probabilities * _N_BINS).astype(np.int64), _N_BINS - 1)
    bins = []
    for k in range(_N_BINS):
        here = place == k
        if here.any():
            mean, share = float(probabilities[here].mean()), float(is_true[here].mean())
            bins.append(CalibrationBin(int(here.sum()), mean, share))
    brier = float(np.mean((probabilities - target) ** 2)) if len(probabilities) else 0.0
    return TruthMeasures(
        _auc(probabilities, is_true), brier, int(is_true.sum()), len(probabilities), tuple(bins)
    )


def _auc(probabilities: npt.NDArray[np.float64], is_true: npt.NDArray[np.bool_]) -> float | None:
    """Work out the share of pairs (true, false) in which the true one is higher."""
    n_true, n_false = int(is_true.sum()), int((~is_true).sum())
    if not n_true or not n_false:
        return None
    _, inverse, counts = np.unique(probabilities, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2.0  # of equals the mean
    above = float(ranks[inverse][is_true].sum()) - n_true * (n_true + 1) / 2.0
    return above / (n_true * n_false)
