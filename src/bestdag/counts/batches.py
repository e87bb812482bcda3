"""Many families in batches whose counts fit into memory together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestdag.counts.provider import FamilyArrays
from bestdag.machine import memory_left

__all__ = ["Batch", "batches"]

# Where a batch begins and ends, and its families.
Batch = tuple[int, int, FamilyArrays]

# Of the memory there is; the rest is left to whoever counts.
_SHARE_OF_MEMORY = 0.25
_ALWAYS = 4e6
# Of a family beside its counts, and of a cell: the count where it is summed up and where it is
# handed over.
_BYTES_PER_FAMILY, _BYTES_PER_CELL = 600, 16


def batches(families: FamilyArrays, arities: Sequence[int], n_rows: int) -> Iterator[Batch]:
    """Go through families in batches, as few as the memory for their counts allows.

    Examples
    --------
    >>> two = np.array([0, 1], np.int32), np.array([0, 0, 1]), np.array([0], np.int32)
    >>> [(begin, end) for begin, end, _ in batches(two, [2, 3], 100)]
    [(0, 2)]
    """
    children, offsets, parents = families
    logs = np.log(np.array(arities, np.float64))
    sums = np.concatenate([[0.0], np.cumsum(logs[parents])])
    with np.errstate(over="ignore"):
        q = np.exp(sums[offsets[1:]] - sums[offsets[:-1]])
    n_seen = np.minimum(q, float(n_rows))
    own = np.array(arities, np.float64)[children]
    needed = _BYTES_PER_FAMILY + n_seen * (_BYTES_PER_CELL * own + 2.0 * np.diff(offsets))
    taken = np.cumsum(needed)
    begin = 0
    while begin < len(children):
        room = max(_SHARE_OF_MEMORY * memory_left(), _ALWAYS)
        before = taken[begin - 1] if begin else 0.0
        end = max(begin + 1, int(np.searchsorted(taken, before + room, side="right")))
        first, last = int(offsets[begin]), int(offsets[end])
        some = children[begin:end], offsets[begin : end + 1] - first, parents[first:last]
        yield begin, end, some
        begin = end
