"""The steps of a search."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bestdag.errors import InvalidParameterError
from bestdag.plots.axes import axes_for

if TYPE_CHECKING:
    from bestdag.search.result import SearchResult

__all__ = ["search_trace"]


def search_trace(result: SearchResult, ax: Any = None) -> Any:
    """Draw the score after each step, the best so far and, where it is known, the bound.

    Parameters
    ----------
    result : Result
        Of a search that takes steps: `result.trace` has them.
    ax : matplotlib Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes
    """
    if not result.trace:
        raise InvalidParameterError(f"search_trace: {result.search} took no steps to draw")
    ax = axes_for(ax, "search_trace")
    scores = [step.score for step in result.trace]
    numbers = range(1, len(scores) + 1)
    ax.plot(numbers, scores, label="score")
    ax.plot(numbers, list(accumulate(scores, max)), label="best so far")
    if result.bound is not None:
        ax.axhline(result.bound, color="grey", linestyle=":", label="no structure scores more")
    ax.set(xlabel="step", ylabel="score (natural logarithm)", title=result.search)
    ax.legend()
    return ax
