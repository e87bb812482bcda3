"""What one more parent brings, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from bestdag.errors import InvalidParameterError, require_count, require_known
from bestdag.plots.axes import axes_for

if TYPE_CHECKING:
    from bestdag.scores.scorer import Scorer

__all__ = ["best_by_size", "score_by_parents"]

# Sets of parents that are scored for a figure, at most; some seconds.
_MOST_SETS = 1_000_000


def score_by_parents(
    scorers: Scorer | Sequence[Scorer], child: str, *, max_parents: int = 4, ax: Any = None
) -> Any:
    """Draw the best score of one variable against its number of parents.

    Where the line stops rising, more parents are not worth their parameters; a line that rises to
    the end says that the score overfits, or that `max_parents` cuts off what it could find.

    Parameters
    ----------
    scorers : Scorer or sequence of Scorer
        One line for each: several scores of the same data show how much each charges.
    child : str
    max_parents : int, default 4
        All sets of up to so many parents are scored, :math:`O(n^k)` of them for n variables.
    ax : matplotlib Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes
        Scores are shown as the gain over no parents, in nats, so that lines of different scores
        can be compared. The highest point of a line is filled: without regard to cycles, so many
        parents are best.
    """
    listed = list(scorers) if isinstance(scorers, Sequence) else [scorers]
    if not listed:
        raise InvalidParameterError("score_by_parents: at least one scorer is needed, got none")
    ax = axes_for(ax, "score_by_parents")
    for scorer in listed:
        best = best_by_size(scorer, child, max_parents)
        gains = [score - best[0] for score in best]
        (line,) = ax.plot(
            range(len(gains)), gains, marker="o", fillstyle="none", label=scorer.score.name
        )
        top = max(range(len(gains)), key=gains.__getitem__)
        ax.plot([top], [gains[top]], marker="o", color=line.get_color())
    ax.axhline(0.0, color="grey", linewidth=0.8)
    ax.set_xticks(range(len(gains)))
    ax.set(xlabel="parents", ylabel="gain over no parents (nats)")
    ax.set_title(f"best parent sets of {child}", parse_math=False)
    ax.legend()
    return ax


def best_by_size(scorer: Scorer, child: str, max_parents: int) -> list[float]:
    """Return the best score of the variable with 0, 1, ... parents."""
    who = "score_by_parents"
    names = [variable.name for variable in scorer.variables]
    require_known("variable", child, names, who=who)
    others = [name for name in names if name != child]
    most = min(require_count(who, "max_parents", max_parents), len(others))
    n_sets = sum(comb(len(others), size) for size in range(most + 1))
    if n_sets > _MOST_SETS:
        raise InvalidParameterError(
            f"{who}: up to {most} parents are {n_sets:,} sets, more than {_MOST_SETS:,}; "
            "take fewer parents"
        )
    return [
        float(scorer.families((child, chosen) for chosen in combinations(others, size)).max())
        for size in range(most + 1)
    ]
