"""Rows in memory, counted in blocks of 97."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bestdag.counts.blocks import BlockCounts
from bestdag.data.dataset import Dataset

__all__ = ["BLOCK_ROWS", "BlockRows"]

BLOCK_ROWS = 97


class BlockRows(Dataset):
    """A data set that is counted block by block, and gives out no table."""

    __slots__ = ()

    @property
    def rows_in(self) -> Any:
        """As if they were on disk."""
        return "disk"

    def count_provider(self, threads: int) -> BlockCounts:
        """Count in blocks of few rows."""
        variables = sorted(self.variables, key=lambda v: v.name)
        columns = [self.codes(v.name) for v in variables]
        return BlockCounts(
            variables, columns, self.weights, BLOCK_ROWS, threads, missing=self.missing_counts
        )

    def select(self, columns: str | Iterable[str] | None = None, rows: Any = None) -> Dataset:
        """Take some columns; they are counted in the same way."""
        return in_blocks(super().select(columns, rows))


def in_blocks(dataset: Dataset) -> BlockRows:
    """Return the data set as one that is counted in blocks."""
    columns = [dataset.codes(name) for name in dataset.names]
    return BlockRows(dataset.variables, columns, dataset.weights)
