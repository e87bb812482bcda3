"""How probable each arc is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestdag.plots.axes import axes_for, name_sides

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities

__all__ = ["arc_probabilities"]


def arc_probabilities(probabilities: ArcProbabilities, ax: Any = None) -> Any:
    """Draw the matrix of arcs: parents from above to below, children from left to right.

    Parameters
    ----------
    probabilities : ArcProbabilities
        Of `bootstrap` or `posterior`.
    ax : matplotlib Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes
    """
    ax = axes_for(ax, "arc_probabilities")
    image = ax.imshow(probabilities.matrix, vmin=0.0, vmax=1.0, cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label="probability of the arc")
    name_sides(ax, probabilities.names)
    ax.set(xlabel="child", ylabel="parent", title=probabilities.method)
    return ax
