"""The rank of a structure among all structures over a few variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import isinf
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.errors import GraphError, InvalidParameterError, require_choice
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import n_dags
from bestdag.plots.axes import axes_for
from bestdag.scores.scorer import Scorer
from bestdag.search.ties import tie_width
from bestdag.tabular import Table, Tabular, measures
from bestdag.wording import first_names

__all__ = ["StructuralRank", "every_structure", "scores_of_structures", "structural_rank"]

_MAX_NODES = 5  # 29,281 DAGs; 6 nodes have 3.8 million

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StructuralRank(Tabular):
    """Where a structure stands among all structures, by score.

    Attributes
    ----------
    rank : int
        1 + the number of strictly better structures.
    mid_rank : float
        The middle of the ranks that it shares with those of the same score.
    n_better, n_equal, n_structures : int
        `n_equal` has the structure itself.
    among : {"dags", "classes"}
        What was ranked.
    score : float
        Of the structure, or the best of its class.
    best_score : float
        Of all structures.
    best : Dag
        One that has it.
    """

    rank: int
    mid_rank: float
    n_better: int
    n_equal: int
    n_structures: int
    among: Literal["dags", "classes"]
    score: float
    best_score: float
    best: Dag

    def _table(self) -> Table:
        numbers = self.to_dict()
        del numbers["best"]
        return measures(numbers, "rank of a structure")

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["best"] = [list(arc) for arc in self.best.arcs]
        return {
            name: None if isinstance(value, float) and isinf(value) else value
            for name, value in values.items()
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw how many structures are better, equal and worse; needs matplotlib."""
        ax = axes_for(ax, "plot")
        n_worse = self.n_structures - self.n_better - self.n_equal
        shown = {"better": self.n_better, "equal": self.n_equal, "worse": n_worse}
        bars = ax.barh(list(shown), list(shown.values()))
        ax.bar_label(bars, [f"{number:,}" for number in shown.values()])
        ax.set(xlabel="structures", title=f"rank {self.rank:,} of {self.n_structures:,}")
        return ax

    def __str__(self) -> str:
        what = {"dags": "DAGs", "classes": "equivalence classes"}[self.among]
        return (
            f"rank {self.rank:,} (mid-rank {self.mid_rank:,g}) of {self.n_structures:,} {what}: "
            f"{self.n_better:,} better, {self.n_equal - 1:,} others equal"
        )


def structural_rank(
    dag: Dag | Any, scorer: Scorer, *, among: Literal["dags", "classes"] = "dags"
) -> StructuralRank:
    """Rank a structure among all structures over at most five variables.

    Parameters
    ----------
    dag : Dag or Network
        The structure, over all variables of the scorer.
    scorer : Scorer
        The data, the score and the structure prior. Every family is scored in one native call.
    among : {"dags", "classes"}, default "dags"
        All DAGs (29,281 over five nodes) or all classes of equivalent ones (8,782), each with the
        score of its best member.

    Returns
    -------
    StructuralRank

    Raises
    ------
    InvalidParameterError
        More than five variables.
    GraphError
        A structure over other variables.

    Notes
    -----
    Scores that differ by rounding alone are equal: equivalent DAGs share their ranks under a score
    that is score equivalent. The rank of the structure that the data come from compares scores
    without regard to any search [1]_.

    References
    ----------
    .. [1] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." International Journal of Approximate Reasoning 51, section 5.1.

    Examples
    --------
    >>> from bestdag import read
    >>> from bestdag.examples import example
    >>> data = read(example("asia.csv")).select(["bronc", "dysp", "lung", "smoke"])
    >>> truth = Dag(data.names, [("smoke", "bronc"), ("smoke", "lung"), ("bronc", "dysp"),
    ...                          ("lung", "dysp")])
    >>> print(structural_rank(truth, Scorer(data)))
    rank 1 (mid-rank 2) of 543 DAGs: 0 better, 2 others equal
    >>> print(structural_rank(truth, Scorer(data), among="classes"))
    rank 1 (mid-rank 1) of 185 equivalence classes: 0 better, 0 others equal
    """
    require_choice("structural_rank", "among", among, ["dags", "classes"])
    dag = getattr(dag, "dag", dag)
    names = [variable.name for variable in scorer.variables]
    if len(names) > _MAX_NODES:
        raise InvalidParameterError(
            f"structural_rank: at most {_MAX_NODES} variables can be enumerated, got {len(names)}"
            f"{f', which have {n_dags(len(names)):,} DAGs' if len(names) < 9 else ''}; "
            "choose some of the columns"
        )
    if not isinstance(dag, Dag) or set(dag.nodes) != set(names):
        shown = first_names(dag.nodes) if isinstance(dag, Dag) else f"{dag!r:.60}"
        raise GraphError(
            f"structural_rank: needs a structure over the variables {first_names(names)}, "
            f"got {shown}"
        )
    totals, scales = scores_of_structures(scorer)
    every = every_structure(len(names))
    place = {name: k for k, name in enumerate(names)}
    masks = [sum(1 << place[parent] for parent in dag.parents(name)) for name in names]
    own = int(np.flatnonzero(every.keys == _keys(np.array(masks)))[0])
    parents = zip(names, every.masks[int(totals.argmax())].tolist(), strict=True)
    best_arcs = [(p, child) for child, mask in parents for p in names if mask >> place[p] & 1]
    if among == "classes":
        best = np.full(every.n_classes, -np.inf)
        np.maximum.at(best, every.classes, totals)
        totals, own = best, int(every.classes[own])
    score = float(totals[own])
    width = max(tie_width(score), 1e-12 * float(scales))
    n_better = int(np.count_nonzero(totals > score + width))
    n_equal = int(np.count_nonzero((totals >= score - width) & (totals <= score + width)))
    if isinf(score):  # minus infinity: impossible structures are equal to each other
        n_equal = int(np.count_nonzero(np.isneginf(totals)))
    return StructuralRank(
        rank=1 + n_better,
        mid_rank=1 + n_better + (n_equal - 1) / 2,
        n_better=n_better,
        n_equal=n_equal,
        n_structures=len(totals),
        among=among,
        score=score,
        best_score=float(totals.max()),
        best=Dag(names, best_arcs),
    )


def scores_of_structures(scorer: Scorer) -> tuple[npt.NDArray[np.float64], float]:
    """Return the score of every DAG, and the size of the sums that made them.

    The DAGs are those of `every_structure`, variables numbered in name order; at most five.
    """
    n = len(scorer.variables)
    families = scorer.all_families(n - 1)
    places = _listed_sets(n)
    local = np.zeros((n, 1 << n))
    for i, variable in enumerate(scorer.variables):
        local[i, places[i]] = families[variable.name]
    every = every_structure(n)
    totals = np.zeros(len(every.masks))
    for i in range(n):
        totals += local[i, every.masks[:, i]]
    finite = local[np.isfinite(local)]
    return totals, float(n * np.abs(finite).max(initial=0.0))


@cache
def _listed_sets(n: int) -> list[_Ints]:
    """Return for each child the sets of parents, as bits, in the order of `all_families`."""
    sets = sorted(range(1 << n), key=lambda mask: (mask.bit_count(), mask))
    return [np.array([mask for mask in sets if not mask >> child & 1]) for child in range(n)]


class Structures(NamedTuple):
    """All DAGs over numbered nodes: the sets of parents as bits, and the class of each."""

    masks: _Ints
    keys: _Ints  # the sets of all nodes in one number
    classes: _Ints
    n_classes: int


def _keys(masks: _Ints) -> _Ints:
    keys: _Ints = masks @ (1 << _MAX_NODES) ** np.arange(masks.shape[-1])
    return keys


@cache
def every_structure(n: int) -> Structures:
    """List all DAGs over n nodes and tell their classes by skeleton and v-structures."""
    pairs = list(combinations(range(n), 2))
    codes = np.arange(3 ** len(pairs))
    masks = np.zeros((len(codes), n), np.int64)
    joined = np.zeros(len(codes), np.int64)
    for k, (i, j) in enumerate(pairs):
        direction = codes // 3**k % 3
        masks[:, j] |= (direction == 1) << i
        masks[:, i] |= (direction == 2) << j
        joined |= (direction > 0).astype(np.int64) << k
    left = np.full(len(codes), (1 << n) - 1)
    for _ in range(n):
        rootless = np.zeros(len(codes), np.int64)
        for i in range(n):
            rootless |= ((masks[:, i] & left) != 0).astype(np.int64) << i
        left &= rootless
    is_acyclic = left == 0
    masks, joined = masks[is_acyclic], joined[is_acyclic]
    key = joined
    for k, (i, j) in enumerate(pairs):
        both = (1 << i) | (1 << j)
        unlinked = (joined >> k & 1) == 0
        for z in range(n):
            is_collider = unlinked & ((masks[:, z] & both) == both)
            key = key | is_collider.astype(np.int64) << (len(pairs) * (1 + z) + k)
    kinds, classes = np.unique(key, return_inverse=True)
    return Structures(masks, _keys(masks), classes.reshape(-1), len(kinds))
