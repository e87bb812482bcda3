"""Random DAGs over an order of the nodes: each arc for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.errors import InvalidParameterError, bad_setting, require_count
from bestdag.machine import require_memory
from bestdag.registry import setting
from bestdag.wording import arg

__all__ = ["OrderBased"]

_MEAN_DEGREE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderBased:
    """Arcs from earlier to later nodes of a random order, each for itself (Erdős and Rényi).

    Parameters
    ----------
    arc_probability : float, optional
        Of each pair of nodes; unless given, such that a node has four neighbours on average.
    n_arcs : int, optional
        Exactly so many arcs instead, each set of pairs with the same probability.
    max_parents : int, optional
        A node that has more parents keeps so many of them, drawn at random.

    Notes
    -----
    Not uniform over DAGs: those with many orders are drawn more often. Time and memory grow with
    the number of arcs.

    References
    ----------
    .. [1] Erdős and Rényi (1959). "On random graphs I." Publicationes Mathematicae Debrecen 6.

    Examples
    --------
    >>> OrderBased(n_arcs=3).arcs(4, seed=1).tolist()
    [[0, 1], [1, 3], [2, 3]]
    """

    name: ClassVar[str] = "order"

    arc_probability: float | None = setting(
        None, "Probability of each arc.  [default: four neighbors per node on average]"
    )
    n_arcs: int | None = setting(None, "Exact number of arcs.")
    max_parents: int | None = setting(None, "Maximum number of parents per node.")

    def __post_init__(self) -> None:
        p = self.arc_probability
        if p is not None and not (isinstance(p, int | float) and 0 <= p <= 1):
            raise bad_setting(self.name, "arc_probability", "a number between 0 and 1", p)
        if self.n_arcs is not None:
            require_count(self.name, "n_arcs", self.n_arcs)
        if self.max_parents is not None:
            require_count(self.name, "max_parents", self.max_parents)
        if self.n_arcs is not None and (p is not None or self.max_parents is not None):
            needed = "given alone: it says how many arcs there are"
            raise bad_setting(self.name, "n_arcs", needed, self.n_arcs)

    def arcs(self, n: int, seed: int) -> npt.NDArray[np.int64]:
        """Draw a DAG over the nodes 0 to n - 1."""
        rng = np.random.default_rng(seed)
        order = rng.permutation(n)
        n_pairs = n * (n - 1) // 2
        if self.n_arcs is not None:
            if self.n_arcs > n_pairs:
                raise InvalidParameterError(
                    f"{self.name}: {arg('n_arcs')}: {n:,} nodes have at most {n_pairs:,} arcs, got "
                    f"{self.n_arcs:,}"
                )
            is_dense = self.n_arcs * 50 > n_pairs
            _require_memory(self.name, 8 * n_pairs if is_dense else 64 * self.n_arcs)
            chosen = np.sort(rng.choice(n_pairs, self.n_arcs, replace=False, shuffle=False))
        else:
            p = self.arc_probability
            p = min(1.0, _MEAN_DEGREE / max(1, n - 1)) if p is None else float(p)
            _require_memory(self.name, 40 * p * n_pairs)
            chosen = _bernoulli(rng, n_pairs, p)
        # Pair number j (j - 1) / 2 + i is that of the places i < j.
        later = ((1 + np.sqrt(1 + 8 * chosen.astype(np.float64))) / 2).astype(np.int64)
        later -= later * (later - 1) // 2 > chosen
        later += (later + 1) * later // 2 <= chosen
        earlier = chosen - later * (later - 1) // 2
        arcs = np.column_stack([order[earlier], order[later]])
        return arcs if self.max_parents is None else _thinned(rng, arcs, self.max_parents)


def _bernoulli(rng: np.random.Generator, n: int, p: float) -> npt.NDArray[np.int64]:
    """Choose each of n numbers with probability p, by the gaps between those chosen."""
    if p <= 0 or n == 0:
        return np.empty(0, np.int64)
    parts, last = [], -1
    while last < n:
        # A gap longer than all numbers is as good as the longest.
        gaps = np.minimum(rng.geometric(p, int(p * n + 4 * np.sqrt(p * n)) + 16), n + 1)
        parts.append(last + np.cumsum(gaps))
        last = int(parts[-1][-1])
    chosen = np.concatenate(parts)
    return chosen[chosen < n]


def _thinned(
    rng: np.random.Generator, arcs: npt.NDArray[np.int64], most: int
) -> npt.NDArray[np.int64]:
    """Keep at most so many parents of each child: the first ones of a random order."""
    arcs = arcs[rng.permutation(len(arcs))]
    arcs = arcs[np.argsort(arcs[:, 1], kind="stable")]
    first = np.searchsorted(arcs[:, 1], arcs[:, 1])
    return arcs[np.arange(len(arcs)) - first < most]


def _require_memory(who: str, n_bytes: float) -> None:
    require_memory(
        who,
        "drawing the arcs",
        n_bytes,
        f"lower {arg('n')}, {arg('n_arcs')} or {arg('arc_probability')}",
    )
