"""The checks of scores that are defined for whole counts only."""

from __future__ import annotations

import numpy as np

from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError
from bestdag.scores.base import Score

__all__ = ["require_whole_counts", "require_whole_weights"]


def require_whole_counts(name: str, counts: FamilyCounts) -> None:
    """Refuse counts that are not whole numbers, in the name of the score."""
    if counts.table.dtype != np.int64:
        raise DataError(
            f"{name}: is defined for whole counts only, and some of these are not whole; "
            "use another score"
        )


def require_whole_weights(score: Score, dataset: Dataset) -> None:
    """Refuse data whose weights are not whole numbers where the score needs whole counts."""
    real = dataset.weights is not None and dataset.weights.dtype == np.float64
    if real and getattr(score, "needs_whole_counts", False):
        raise DataError(
            f"{score.name}: is defined for whole counts only, and the weights are not whole "
            "numbers; round them or use another score"
        )
