"""Codes in memory: a Dataset."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.encoder import Encoded, WeightColumn, encode, translated
from bestdag.data.settings import ReadOptions
from bestdag.data.sources.base import (
    LEAST_ROWS,
    LEAST_SHARE,
    SAMPLE_ROWS,
    Batch,
    RawColumn,
    promised_rows,
)
from bestdag.data.table import Table

__all__ = ["MemorySink", "dataset_of", "read_collapsed", "read_into_memory", "read_where_equal"]

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


def read_where_equal(table: Table) -> tuple[Dataset, Encoded | None]:
    """Read a table, and put equal rows together where at most one in eight is left.

    Rows with missing values are learned from one by one, and weights with fractions have sums that
    depend on the order: such tables stay as they are.
    """
    data = read_into_memory(table)
    is_real = data.weights is not None and data.weights.dtype.kind == "f"
    if data.n_rows < LEAST_ROWS or is_real or table.has_own_weights or data.has_missing:
        return data, None
    words = _packed(data)
    if promised_rows(*_groups([word[:SAMPLE_ROWS] for word in words])) * LEAST_SHARE > data.n_rows:
        return data, None
    order = np.lexsort(words)
    starts = np.flatnonzero(_is_new(words, order))
    if len(starts) * LEAST_SHARE > data.n_rows:
        return data, None
    counted = np.ones(data.n_rows, np.int64) if data.weights is None else data.weights[order]
    weights = np.add.reduceat(counted, starts)
    rows = order[starts]
    columns = [data.codes(name)[rows] for name in data.names]
    encoded = Encoded(data.variables, table.n_rows, len(rows), (), is_collapsed=True)
    return Dataset._adopt(data.variables, columns, weights), encoded


def _packed(data: Dataset) -> list[npt.NDArray[np.uint64]]:
    """Return rows as words of 64 bits, equal where the rows are."""
    words: list[npt.NDArray[np.uint64]] = []
    used = 64
    for name in data.names:
        codes = data.codes(name)
        bits = 8 * codes.itemsize
        if used + bits > 64:
            words.append(np.zeros(data.n_rows, np.uint64))
            used = 0
        words[-1] |= codes.astype(np.uint64) << np.uint64(used)
        used += bits
    return words


def _is_new(words: Sequence[_Array], order: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Which rows, in this order, differ from the one before."""
    new = np.zeros(len(order), np.bool_)
    new[0] = True
    for word in words:
        sorted_word = word[order]
        new[1:] |= sorted_word[1:] != sorted_word[:-1]
    return new


def _groups(words: Sequence[_Array]) -> tuple[int, int, int]:
    """Count the different rows, and how many of them occur once and twice."""
    starts = np.flatnonzero(_is_new(words, np.lexsort(words)))
    sizes = np.diff(np.append(starts, len(words[0])))
    return len(sizes), int((sizes == 1).sum()), int((sizes == 2).sum())


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
