"""What a score is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol, runtime_checkable

from bestdag.counts.family import FamilyCounts
from bestdag.data.schema import Variable
from bestdag.errors import InvalidParameterError

if TYPE_CHECKING:
    from bestdag import _core

__all__ = ["BoundScore", "RefusingScore", "Score", "checked_value", "kernel_for"]


@runtime_checkable
class Score(Protocol):
    """Settings and a formula: counts of a family in, its local score out.

    Natural logarithms; higher is better; the score of a network is the sum over its families.
    A score of your own needs these members and nothing else; without a native twin, `kernel`
    returns None and everything works, only slower. It may also have ``terms(counts)``, the
    named parts whose sum is ``family(counts)``: `Scorer.explain` shows them. And it may have
    ``upper_bound(counts)``, a number that no family of the same child with these parents and at
    least one more exceeds; without it, a search that could not score every family says nothing
    about how far from the best its structure may be. A score that is defined for whole counts only
    says ``needs_whole_counts = True`` and is never given others.
    """

    name: ClassVar[str]
    is_score_equivalent: ClassVar[bool]

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        ...

    def kernel(self) -> _core.Kernel | None:
        """Return the native twin, or None."""
        ...


@runtime_checkable
class BoundScore(Score, Protocol):
    """A score whose settings name variables: its native twin is bound to those of the data."""

    def kernel_for(self, variables: Sequence[Variable]) -> _core.Kernel | None:
        """Return the native twin for data with these variables, in name order, or None."""
        ...


@runtime_checkable
class RefusingScore(BoundScore, Protocol):
    """One whose native twin may refuse families."""

    def refuse(self, child: Variable, parents: Sequence[Variable], n_bytes: float) -> NoReturn:
        """Raise what is wrong with a family the twin refused; it would have needed `n_bytes`."""
        ...


def checked_value(score: Score, counts: FamilyCounts) -> float:
    """Score one family by the formula; a value that is no number below infinity is refused."""
    value = score.family(counts)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number < math.inf:  # nan too
        parents = ", ".join(repr(parent.name) for parent in counts.parents) or "no parents"
        raise InvalidParameterError(
            f"{score.name}: family() must give a number below infinity, got {value!r:.60} for "
            f"{counts.child.name!r} given {parents}"
        )
    return number


def kernel_for(score: Score, variables: Sequence[Variable]) -> _core.Kernel | None:
    """Return the native twin of any score for data with these variables, in name order, or None."""
    return score.kernel_for(variables) if isinstance(score, BoundScore) else score.kernel()
