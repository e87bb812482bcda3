"""Which families of a table have support."""

from __future__ import annotations

import math
from collections.abc import Iterable

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.scores.counted import CountedScores
from bestdag.scores.native import NativeScores
from bestdag.scores.support import Family, Support

__all__ = ["FamilySupport"]


class FamilySupport:
    """Says which families lack support, whatever the score.

    Parameters
    ----------
    counts : CountingEngine
        The table. Where values are missing, being missing counts as a value.
    support : Support
    """

    def __init__(self, counts: CountingEngine, support: Support) -> None:
        self.support = support
        kind = NativeScores if counts.provider is None else CountedScores
        kernel = support.kernel(_core.ll(), counts.variables, counts.dataset.total_weight)
        self._scores = kind(counts, kernel)  # finite for admissible families alone

    def lacking(self, families: Iterable[Family]) -> list[Family]:
        """Return those of the families that are not admissible, each once."""
        listed = [family for family in dict.fromkeys(families) if family[1]]
        if not self.support or not listed:
            return []
        scores = self._scores.families(listed).tolist()
        return [family for family, score in zip(listed, scores, strict=True) if score == -math.inf]
