"""What a score is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from bestdag.counts.family import FamilyCounts

if TYPE_CHECKING:
    from bestdag import _core

__all__ = ["Score"]


@runtime_checkable
class Score(Protocol):
    """Settings and a formula: counts of a family in, its local score out.

    Natural logarithms; higher is better; the score of a network is the sum over its families.
    A score of your own needs these members and nothing else; without a native twin, `kernel`
    returns None and everything works, only slower. It may also have ``terms(counts)``, the
    named parts whose sum is ``family(counts)``: `Scorer.explain` shows them. A score that is
    defined for whole counts only says ``needs_whole_counts = True`` and is never given others.
    """

    name: ClassVar[str]
    is_score_equivalent: ClassVar[bool]

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        ...

    def kernel(self) -> _core.Kernel | None:
        """Return the native twin, or None."""
        ...
