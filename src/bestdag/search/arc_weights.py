"""What each arc of a tree is worth, as a value that can be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.errors import require_known
from bestdag.plots.axes import axes_for, name_sides

__all__ = ["ArcWeights"]


@dataclass(frozen=True, slots=True, eq=False)
class ArcWeights:
    """What each arc adds to the score: score(child | parent, given) - score(child | given).

    Attributes
    ----------
    names : tuple of str
        The variables, in name order.
    matrix : array of float, n x n
        ``matrix[i, j]`` is the weight of the arc from variable i to variable j, in nats; zero
        on the diagonal, nan where a time limit or Ctrl-C came first. It cannot be written to.
    given : tuple of str
        Parents that every variable has beside: the class, for TAN.

    Examples
    --------
    >>> scores = np.array([[-3.0, -1.0], [-1.5, -2.0]])  # [parent, child]; alone on the diagonal
    >>> ArcWeights.of(("a", "b"), scores).matrix
    array([[0. , 1. ],
           [1.5, 0. ]])
    """

    names: tuple[str, ...]
    matrix: npt.NDArray[np.float64]
    given: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.matrix.setflags(write=False)

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        scores: npt.NDArray[np.float64],
        given: tuple[str, ...] = (),
        *,
        symmetric: bool = False,
    ) -> ArcWeights:
        """Build from `Scorer.pair_scores`.

        Parameters
        ----------
        names : tuple of str
            The variables, in name order.
        scores : array of float, n x n
            ``scores[i, j]`` is the score of j with the parent i, and of j without it for i = j.
        given : tuple of str
            Parents that all these families have.
        symmetric : bool, default False
            Take the mean of both directions, which rounding alone makes different.
        """
        with np.errstate(invalid="ignore"):  # a prior may forbid a family: minus infinity
            matrix = scores - np.diag(scores)
        matrix[np.isneginf(scores)] = -np.inf
        np.fill_diagonal(matrix, 0.0)
        if symmetric:
            matrix = (matrix + matrix.T) / 2
        return cls(names, matrix, given)

    def weight(self, parent: str, child: str) -> float:
        """Return the weight of one arc, in nats.

        Raises
        ------
        UnknownNameError
            A name that is not a variable.
        """
        for name in (parent, child):
            require_known("variable", name, self.names, who="ArcWeights.weight")
        return float(self.matrix[self.names.index(parent), self.names.index(child)])

    def plot(self, ax: Any = None) -> Any:
        """Draw the matrix as a heat map: parents down the side, children along the bottom."""
        ax = axes_for(ax, "ArcWeights.plot")
        shown = np.where(np.isfinite(self.matrix), self.matrix, np.nan)
        np.fill_diagonal(shown, np.nan)
        image = ax.imshow(shown)
        condition = f" | {', '.join(self.given)}" if self.given else ""
        ax.figure.colorbar(image, ax=ax, label=f"weight{condition} (nats)")
        ax.set_xlabel("child")
        ax.set_ylabel("parent")
        name_sides(ax, self.names)
        return ax

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the matrix stays read-only.
        return ArcWeights, (self.names, self.matrix, self.given)
