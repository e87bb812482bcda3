"""Exact numbers: fractions rounded to one side, and fingerprints of rows."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction

import numpy as np

from bestdag.data.dataset import Dataset

__all__ = ["at_least", "fingerprint_of", "power_below"]

_ROWS_AT_ONCE = 1 << 20


def at_least(value: Fraction) -> float:
    """Return the smallest float that is no less.

    Examples
    --------
    >>> at_least(Fraction(1, 2)), at_least(Fraction(1, 3)) >= Fraction(1, 3)
    (0.5, True)
    """
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def power_below(value: Fraction) -> int:
    """Return an exponent e with 2^e <= value < 2^(e + 2); 0 for 0.

    Examples
    --------
    >>> power_below(Fraction(5)), power_below(Fraction(0))
    (1, 0)
    """
    if not value:
        return 0
    return value.numerator.bit_length() - 1 - value.denominator.bit_length()


def fingerprint_of(dataset: Dataset) -> str | None:
    """Return a text that is the same for the same rows in any order, and hardly for others.

    Equal rows may be put together with a weight; columns and states may come in any order. None
    where the rows are on other machines.
    """
    if dataset.rows_in == "cluster":
        return None
    total, mask = 0, (1 << 64) - 1
    marks = {v.name: _marks(v.name, v.states) for v in dataset.variables}
    for begin in range(0, dataset.n_rows, _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        sums = np.zeros(len(dataset.codes(dataset.names[0])[rows]), np.uint64)
        for name, own in marks.items():
            sums += own[dataset.codes(name)[rows]]
        mixed = _mixed(sums)
        if dataset.weights is None:
            total += int(mixed.sum(dtype=np.uint64))
            continue
        weights = dataset.weights[rows].astype(np.float64)
        is_count = weights == np.floor(weights)
        counts = np.where(is_count & (weights < 2.0**63), weights, 0.0).astype(np.uint64)
        total += int((mixed * counts).sum(dtype=np.uint64))
        broken = ~is_count
        total += int(_mixed(mixed[broken] ^ weights[broken].view(np.uint64)).sum(dtype=np.uint64))
    return f"{total & mask:016x}"


def _marks(name: str, states: tuple[str, ...]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return a number for each state of a variable, the last for a missing value."""
    texts = [*(f"{name!r} = {state!r}" for state in states), f"{name!r} is missing"]
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.array([int.from_bytes(one, "little") for one in digests], np.uint64)


def _mixed(
    numbers: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Spread the bits of each number (the last steps of SplitMix64)."""
    z = numbers.copy()
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z
