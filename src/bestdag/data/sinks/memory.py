"""Codes in memory: a Dataset."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.encoder import Encoded, WeightColumn, encode, translated
from bestdag.data.settings import ReadOptions
from bestdag.data.sources.base import Batch, RawColumn
from bestdag.data.table import Table

__all__ = ["MemorySink", "dataset_of", "read_collapsed", "read_into_memory"]

_Array = npt.NDArray[Any]


class MemorySink:
    """Columns in memory."""

    def __init__(self) -> None:
        self._parts: list[list[_Array]] = []
        self._weights: list[_Array] = []

    def begin(self, n_rows: int, types: Sequence[npt.DTypeLike], has_weights: bool) -> None:
        """Begin with no rows."""
        self._parts = [[] for _ in types]

    def append(self, columns: Sequence[_Array], weights: _Array | None) -> None:
        """Keep rows."""
        for part, column in zip(self._parts, columns, strict=True):
            part.append(column)
        if weights is not None:
            self._weights.append(weights)

    def recode(self, column: int, table: _Array) -> None:
        """Replace codes."""
        self._parts[column] = [translated(table, codes) for codes in self._parts[column]]

    def make_weights_whole(self) -> None:
        """Keep the weights as int64."""
        self._weights = [weights.astype(np.int64) for weights in self._weights]

    def dataset(self, encoded: Encoded) -> Dataset:
        """Return what was kept."""
        columns: list[_Array] = []
        for part in self._parts:
            columns.append(part[0] if len(part) == 1 else np.concatenate(part))
            part.clear()
        weights = None
        if self._weights:
            weights = self._weights[0] if len(self._weights) == 1 else np.concatenate(self._weights)
        return Dataset._adopt(encoded.variables, columns, weights)


def read_into_memory(table: Table) -> Dataset:
    """Read all columns of a table, every row as it is."""
    columns = table.discrete(table.names)
    return dataset_of(columns, table.weights(), table.options, weight=table.weight_column())


def read_collapsed(table: Table) -> tuple[Dataset, Encoded]:
    """Read a table with equal rows put together, and say how far that went."""
    sink = MemorySink()
    encoded = table.encode_into(sink, collapse=True)
    return sink.dataset(encoded), encoded


def dataset_of(
    columns: Sequence[RawColumn],
    weights: _Array | None,
    options: ReadOptions,
    *,
    weight: WeightColumn | None = None,
    cuts_are_chosen: bool = False,
) -> Dataset:
    """Encode whole columns; `weight` says where weights are from, if from a column."""
    sink = MemorySink()

    def rows() -> Generator[Batch, None, None]:
        # Codes that are not ours are copied as they are translated.
        codes = [c.codes if c.owned else _read_only(c.codes) for c in columns]
        yield Batch(codes, weights=weights)

    encoded = encode(
        columns,
        rows,
        len(columns[0].codes) if columns else 0,
        options,
        sink,
        has_weights=weights is not None,
        weight=weight,
        cuts_are_chosen=cuts_are_chosen,
    )
    return sink.dataset(encoded)


def _read_only(codes: _Array) -> _Array:
    view = codes.view()
    view.flags.writeable = False
    return view
