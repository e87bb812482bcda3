"""The check of scores that are defined for whole counts only."""

from __future__ import annotations

import numpy as np

from bestdag.counts.family import FamilyCounts
from bestdag.errors import DataError

__all__ = ["require_whole_counts"]


def require_whole_counts(name: str, counts: FamilyCounts) -> None:
    """Refuse counts that are not whole numbers, in the name of the score."""
    if counts.table.dtype != np.int64:
        raise DataError(
            f"{name}: is defined for whole counts only, and some of these are not whole; "
            "use another score"
        )
