"""The checks of scores that are defined for whole counts only."""

from __future__ import annotations

import numpy as np

from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError, InvalidParameterError
from bestdag.scores.base import Score

__all__ = [
    "require_fractional_counts",
    "require_whole_counts",
    "require_whole_weights",
    "whole_total",
]

# By how much a sum of expected counts may miss a whole number, relatively.
_ROUNDING = 1e-9


def require_whole_counts(name: str, counts: FamilyCounts) -> None:
    """Refuse counts that are not whole numbers, in the name of the score."""
    if counts.table.dtype != np.int64:
        raise DataError(
            f"{name}: is defined for whole counts only, and some of these are not whole; "
            "use another score"
        )


def whole_total(name: str, counts: FamilyCounts) -> int:
    """Return the number of cases, or refuse one that is not whole, in the name of the score.

    Cells need not be whole: the expected counts of an incomplete table add up to a whole number.
    """
    if counts.table.dtype == np.int64:
        return int(counts.total)
    total = float(counts.total)
    whole = round(total)
    if abs(total - whole) > _ROUNDING * max(1.0, total):
        raise DataError(
            f"{name}: is defined for whole numbers of cases only, got {total:g}; use another score"
        )
    return whole


def require_fractional_counts(score: Score, dataset: Dataset) -> None:
    """Refuse a score that cannot be worked out from the expected counts of an incomplete table."""
    if getattr(score, "needs_whole_total", False):
        require_whole_weights(score, dataset)
    elif getattr(score, "needs_whole_counts", False):
        raise InvalidParameterError(
            f"{score.name}: is defined for whole counts only, and the expected counts of rows with "
            "missing values are not whole; use qnml, bic or bdeu"
        )


def require_whole_weights(score: Score, dataset: Dataset) -> None:
    """Refuse data whose weights are not whole numbers where the score needs whole counts."""
    real = dataset.weights is not None and dataset.weights.dtype == np.float64
    if real and getattr(score, "needs_whole_counts", False):
        raise DataError(
            f"{score.name}: is defined for whole counts only, and the weights are not whole "
            "numbers; round them or use another score"
        )
