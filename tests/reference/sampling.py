"""Ancestral sampling, literally: one row and one variable at a time, exact fractions.

The random numbers come from NumPy's own Philox; thresholds are compared as fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from hashlib import blake2b

import numpy as np


def stream(seed: int, name: str, n_rows: int) -> list[int]:
    """The 63-bit draws of one variable."""
    text = f"{seed}:{name}".encode("utf-8", "surrogatepass")
    digest = blake2b(text, digest_size=16, person=b"bestdag.sample").digest()
    generator = np.random.Philox(key=np.frombuffer(digest, dtype="<u8").astype(np.uint64))
    return [int(x) >> 1 for x in generator.random_raw(n_rows)]


def sample(
    names: Sequence[str],
    tables: Sequence[np.ndarray],
    parents: Sequence[Sequence[int]],
    n_rows: int,
    seed: int,
) -> list[list[int]]:
    """Codes of each variable, as lists."""
    columns: list[list[int]] = []
    for name, table, group in zip(names, tables, parents, strict=True):
        codes = []
        for i, draw in enumerate(stream(seed, name, n_rows)):
            row = table[tuple(columns[p][i] for p in group)].tolist()
            codes.append(state_of(Fraction(draw, 2**63), row))
        columns.append(codes)
    return columns


def state_of(point: Fraction, row: Sequence[float]) -> int:
    """The state whose share of [0, 1) holds the point."""
    total = sum(map(Fraction, row))
    below = Fraction(0)
    for state, share in enumerate(row):
        below += Fraction(share) / total
        if point < below:
            return state
    raise AssertionError("the shares add up to one")
