"""Being missing is a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.incomplete.base import CompleteRows
from bestdag.scores.base import Score

__all__ = ["MissingState"]


@dataclass(frozen=True, slots=True)
class MissingState(CompleteRows):
    """Give columns with missing values a last state ``missing``, as `read` does.

    For tables in which it says something that a value is missing: the network is then one of what
    was recorded, not of what there is.
    """

    name: ClassVar[str] = "state"
    reads_as: ClassVar[str] = "state"

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the data with one more state where values are missing."""
        return read(dataset, missing="state") if dataset.has_missing else dataset
