"""Codes of a table that DuckDB scans, some rows at a time, or its different rows and their counts.

Equal rows are one row with a weight: DuckDB groups the packed codes, and spills to disk.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.arrow_stream import streamed
from bestdag.data.duck import DuckTable, Field
from bestdag.data.encode import ReadOptions
from bestdag.data.interrupts import interruptible
from bestdag.data.packing import code_widths, unpacked, word_sql, words_of
from bestdag.errors import DataError

__all__ = ["Batch", "code_batches"]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows: a column's codes are positions in its distinct texts, past the end for none.

    `n_equal` says how many rows of the source each of them is, where equal ones are together;
    `weights` are their weights, if the table has some.
    """

    codes: list[npt.NDArray[Any]]
    n_equal: npt.NDArray[np.int64] | None
    weights: npt.NDArray[np.float64] | None


def code_batches(
    table: DuckTable,
    fields: Sequence[Field],
    keys: Sequence[list[str]],
    weight: Field | None,
    options: ReadOptions,
    *,
    collapse: bool,
) -> Generator[Batch, None, None]:
    """Give the codes of all rows, in order; or with `collapse` of the different rows, by codes."""
    import duckdb

    widths = code_widths(keys)
    words = words_of(widths)
    cells = [field.sql for field in fields]
    names = [f"w{number}" for number in range(len(words))]
    parts = [f"{word_sql(word, cells, keys)} AS {n}" for n, word in zip(names, words, strict=True)]
    types = ["u8"] * len(words)
    if weight is not None:
        if collapse:
            _require_whole(table, weight, options)
        parts.append(f"coalesce(TRY_CAST({weight.sql} AS DOUBLE), 'nan'::DOUBLE) AS weight")
        types.append("f8")
    try:
        rows = table.projected(", ".join(parts))
        if collapse:
            listed = ", ".join(names)
            total = "" if weight is None else ", sum(weight) AS weight"
            counted = f"{listed}{total}, count(*)::BIGINT AS n"
            rows = interruptible(lambda: rows.aggregate(counted, listed).order(listed), table.con)
            types.append("i8")
        with closing(streamed(rows, types, table.con)) as stream:
            for arrays in stream:
                n_equal = arrays.pop() if collapse else None
                weights = arrays.pop() if weight is not None else None
                codes: list[npt.NDArray[Any]] = [np.empty(0)] * len(fields)
                for numbers, word in zip(arrays, words, strict=True):
                    for i, offset in word:
                        codes[i] = unpacked(numbers, offset, widths[i])
                yield Batch(codes, n_equal, weights)
    except duckdb.ConversionException:
        raise DataError(
            f"read: {options.source} changed while it was read; read a copy of it"
        ) from None


def _require_whole(table: DuckTable, weight: Field, options: ReadOptions) -> None:
    """Refuse weights whose sums would depend on the order of the rows."""
    number = f"TRY_CAST({weight.sql} AS DOUBLE)"
    no_number, n_fractions = table.select(
        f"count(*) FILTER ({number} IS NULL OR isnan({number})), "
        f"count(*) FILTER ({number} <> floor({number}))"
    )[0]
    if no_number:  # which row is it?
        found = table.arrays(f"{number} AS w")["w"]
        table.checked_weights(weight, found, options)
    if n_fractions:
        raise DataError(
            f"read: {options.source}: identical rows are combined by whole weights, column "
            f"{weight.name!r} has fractions"
        )
