"""Which class was taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestdag.plots.axes import axes_for, name_sides

if TYPE_CHECKING:
    from bestdag.evaluation.classification import Evaluation

__all__ = ["confusion_matrix"]

# Above, the numbers in the cells run into each other.
_MOST_WITH_NUMBERS = 20


def confusion_matrix(evaluation: Evaluation, ax: Any = None) -> Any:
    """Draw how many rows of each true class were predicted to be in which class.

    Parameters
    ----------
    evaluation : Evaluation
        Of a classifier: what `Trial.run` gives.
    ax : matplotlib Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes
        The colour of a cell is its share of the row: of the rows with that true class.
    """
    ax = axes_for(ax, "confusion_matrix")
    counts = evaluation.confusion
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    image = ax.imshow(shares, vmin=0.0, vmax=1.0, cmap="Blues")
    ax.figure.colorbar(image, ax=ax, label="share of the true class")
    if len(evaluation.classes) <= _MOST_WITH_NUMBERS:
        for (row, column), count in np.ndenumerate(counts):
            colour = "white" if shares[row, column] > 0.5 else "black"
            ax.text(column, row, f"{count:,}", ha="center", va="center", color=colour)
    name_sides(ax, evaluation.classes)
    low, high = evaluation.interval
    ax.set(xlabel="predicted", ylabel="true")
    ax.set_title(
        f"{evaluation.n_right:,} of {evaluation.n_rows:,} right: "
        f"{100 * evaluation.accuracy:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
    )
    return ax
