"""Codes on their way out of DuckDB: several small columns packed into words of eight bytes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.duck_connection import sql_text

__all__ = ["code_widths", "unpacked", "word_sql", "words_of"]

_WORD = 8  # bytes of a packed word


def code_widths(keys: Sequence[Sequence[str]]) -> list[int]:
    """Return the bytes that positions in these lists of distinct texts need, and one for none."""
    return [1 if len(k) <= 255 else 2 if len(k) <= 65_535 else 4 for k in keys]


def words_of(widths: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Lay columns of 1, 2 and 4 bytes into words of 8: (column, byte offset) pairs, aligned."""
    words: list[list[tuple[int, int]]] = []
    used = _WORD
    for i in sorted(range(len(widths)), key=lambda i: -widths[i]):
        if used + widths[i] > _WORD:
            words.append([])
            used = 0
        words[-1].append((i, used))
        used += widths[i]
    return words


def word_sql(
    word: Sequence[tuple[int, int]], cells: Sequence[str], keys: Sequence[Sequence[str]]
) -> str:
    """Return SQL for one word: cells are SQL for texts, keys the distinct texts they have."""
    return " + ".join(
        f"{_code_sql(cells[i], keys[i])}::UBIGINT * {256**offset}::UBIGINT" for i, offset in word
    )


def _code_sql(cell: str, keys: Sequence[str]) -> str:
    if not keys:
        return "0"
    kind = f"ENUM({', '.join(map(sql_text, keys))})"
    # A cell that is not among the keys makes the cast fail: the source changed since it was asked.
    return f"coalesce(enum_code(CAST({cell} AS {kind})), {len(keys)})"


def unpacked(words: npt.NDArray[Any], offset: int, width: int) -> npt.NDArray[Any]:
    """Take one column out of its words."""
    plain = np.asarray(words)
    if sys.byteorder == "big":
        plain = plain.astype("<u8")
    parts = plain.view(f"<u{width}").reshape(len(plain), _WORD // width)
    return np.ascontiguousarray(parts[:, offset // width])
