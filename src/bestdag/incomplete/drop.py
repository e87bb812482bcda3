"""Rows with missing values are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.incomplete.base import CompleteRows
from bestdag.scores.base import Score

__all__ = ["DropRows"]


@dataclass(frozen=True, slots=True)
class DropRows(CompleteRows):
    """Learn from the rows without missing values, as `read` with ``missing="drop"`` leaves them.

    Right when values are missing completely at random; it wastes what the other rows show.
    """

    name: ClassVar[str] = "drop"
    reads_as: ClassVar[str] = "drop"

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the complete rows."""
        return read(dataset, missing="drop") if dataset.has_missing else dataset
