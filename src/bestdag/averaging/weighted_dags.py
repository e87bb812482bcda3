"""Structures with weights: what was drawn from a posterior, or learned from replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.graph.dag import Dag
from bestdag.tabular import Table, Tabular

__all__ = ["WeightedDags"]

_MOST_LISTED = 10
_AT_ONCE = 1024  # structures


@dataclass(frozen=True, slots=True, eq=False)
class WeightedDags(Tabular):
    """Distinct structures over the same variables, the heaviest first.

    Attributes
    ----------
    names : tuple of str
        The variables in name order.
    parents : bool array, structures x n x n
        ``parents[k, i, j]`` tells whether structure k has the arc from variable i to variable j.
    weights : float64 array
        They sum to 1.
    effective_size : float
        Independent draws that would be as good; the number of draws where they have equal weights.
    covered_mass : float or None
        The share of the posterior probability that these structures have, estimated where
        it is not known.
    """

    names: tuple[str, ...]
    parents: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.float64]
    effective_size: float
    covered_mass: float | None = None

    @classmethod
    def of_draws(cls, names: Sequence[str], draws: npt.NDArray[np.bool_]) -> WeightedDags:
        """Count equal structures: each gets its share of the draws as its weight.

        Parameters
        ----------
        names : sequence of str
            In name order.
        draws : bool array, draws x n x n
            ``draws[k, i, j]``: draw k has the arc from variable i to variable j.
        """
        n = len(names)
        packed = np.packbits(draws.reshape(len(draws), n * n), axis=1)
        _, first, counts = np.unique(packed, axis=0, return_index=True, return_counts=True)
        order = np.lexsort((first, -counts))
        weights = counts[order] / len(draws)
        return cls(tuple(names), draws[first[order]], weights, float(len(draws)))

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[tuple[Dag, float]]:
        for k in range(len(self)):
            yield self.dag(k), float(self.weights[k])

    def dag(self, k: int) -> Dag:
        """Return structure number k; number 0 has the greatest weight."""
        names = self.names
        pairs = zip(*(numbers.tolist() for numbers in np.nonzero(self.parents[k])), strict=True)
        return Dag(names, [(names[i], names[j]) for i, j in pairs])

    def arcs(self) -> npt.NDArray[np.float64]:
        """Return the total weight of the structures that have each arc, as a matrix n x n."""
        return self._shares(lambda parents: parents)

    def ancestors(self) -> npt.NDArray[np.float64]:
        """Return the total weight of the structures with each directed path, as a matrix n x n.

        By Warshall's closure of all structures at once, in O(n^3) for each.
        """

        def paths(parents: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
            reaches = parents.copy()
            for k in range(len(self.names)):  # paths over variable k
                reaches |= reaches[:, :, k, None] & reaches[:, k, None, :]
            return reaches

        return self._shares(paths)

    def _shares(
        self, relation: Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.bool_]]
    ) -> npt.NDArray[np.float64]:
        sums = np.zeros(self.parents.shape[1:])
        for first in range(0, len(self), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            held = relation(self.parents[some]).astype(np.float64)
            sums += np.tensordot(self.weights[some], held, axes=1)
        return np.asarray(np.clip(sums, 0.0, 1.0))  # rounding may lead above 1

    def _table(self) -> Table:
        return Table(
            names=("number", "weight", "arcs"),
            rows=(
                (k, weight, [f"{a} -> {b}" for a, b in dag.arcs])
                for k, (dag, weight) in enumerate(self)
            ),
            n_rows=len(self),
            n_labels=1,
            title="structures by weight",
            bars="weight",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: the number of structures and the heaviest ones."""
        return {
            "n": len(self),
            "effective_size": self.effective_size,
            "covered_mass": self.covered_mass,
            "heaviest": [
                {"weight": float(self.weights[k]), "arcs": [list(arc) for arc in self.dag(k).arcs]}
                for k in range(min(len(self), _MOST_LISTED))
            ],
        }
