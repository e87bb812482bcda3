"""Weights of rows that stream by: the checks of `checks.as_weights`, some rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import as_weights
from bestdag.data.duck import DuckTable, Field
from bestdag.data.encode import ReadOptions

__all__ = ["WeightChecks"]


class WeightChecks:
    """What is known of the weights so far; `field` is their column, unless an array was given."""

    def __init__(self, table: DuckTable, field: Field | None, options: ReadOptions) -> None:
        self._table, self._field, self._options = table, field, options
        self._total = 0.0
        self._are_whole = True
        self._wrong: tuple[npt.NDArray[Any], int] | None = None

    def add(self, weights: npt.NDArray[Any], start: int) -> bool:
        """Look at the next weights; False if one of them is none."""
        if not np.all(np.isfinite(weights) & (weights >= 0)):
            self._wrong = weights, start
            return False
        self._total += float(weights.sum())
        self._are_whole = self._are_whole and bool(np.all(weights == np.floor(weights)))
        return True

    def refuse_wrong(self) -> None:
        """Name the first row that has no weight, if there was one."""
        if self._wrong is None:
            return
        weights, start = self._wrong
        padded = np.zeros(start + len(weights))
        padded[start:] = weights
        if self._field is not None:
            self._table.checked_weights(self._field, padded, self._options)
        as_weights(padded, who=f"read: {self._options.source}")

    def are_whole(self) -> bool:
        """Whether all are whole numbers; refuse a sum that is zero or too large."""
        kind = np.array([self._total, 0.0 if self._are_whole else 0.5])
        return as_weights(kind, who=f"read: {self._options.source}").dtype == np.int64
