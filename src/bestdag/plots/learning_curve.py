"""What more rows bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestdag.plots.axes import axes_for

if TYPE_CHECKING:
    from bestdag.validation.learning_curve import LearningCurve

__all__ = ["learning_curve"]


def learning_curve(curve: LearningCurve, ax: Any = None) -> Any:
    """Draw the log loss of held-out rows against the number of rows learned from.

    Parameters
    ----------
    curve : LearningCurve
        Of `bestdag.learning_curve`.
    ax : matplotlib Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes
        A line for each method: the mean over repeats; the band around it is from the least to
        the greatest.
    """
    ax = axes_for(ax, "learning_curve")
    for label, losses in curve.log_losses.items():
        ax.plot(curve.sizes, losses.mean(axis=0), marker="o", label=label)
        if len(losses) > 1:
            ax.fill_between(curve.sizes, losses.min(axis=0), losses.max(axis=0), alpha=0.2)
    ax.set(xscale="log", xlabel="rows learned from", ylabel="log loss of held-out rows (nats)")
    ax.legend()
    return ax
