"""Families in flat arrays, and where their counts come from: one question to the provider."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Sized
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import NotEnoughMemoryError
from bestdag.machine import memory_left

__all__ = [
    "Batch",
    "CountProvider",
    "FamilyArrays",
    "ObservedCounts",
    "RowsIn",
    "batches",
    "flat_groups",
    "group_ends",
    "too_many_cells",
]

RowsIn = Literal["memory", "disk", "cluster"]

# Families by number: children, where the parents of each end, all parents.
FamilyArrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]

# The observed configurations of one family, as codes, in lexicographic order, and a row of counts
# for each: int64, or float64 where row weights are not whole numbers.
ObservedCounts = tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64] | npt.NDArray[np.float64]]

# Where a batch begins and ends, and its families.
Batch = tuple[int, int, FamilyArrays]

# Of the memory there is; the rest is left to the counting.
_SHARE_OF_MEMORY = 0.25
_ALWAYS = 4e6
# Of a family beside its counts, and of a cell: the count where it is summed up and where it is
# handed over.
_BYTES_PER_FAMILY, _BYTES_PER_CELL = 600, 16


class CountProvider(Protocol):
    """A place that holds rows, and counts families over them.

    Scores, tests and estimators need counts alone. So rows may lie on disk, on a cluster or in a
    database: whatever answers `count` serves every search.

    Attributes
    ----------
    variables : tuple of Variable
        In name order; their places are the numbers of families.
    n_rows : int
        Rows held, wherever they are.
    total_weight : int or float
        The number N of cases.
    has_real_weights : bool
        Whether weights are not whole numbers; counts are then float64.
    rows_in : {"memory", "disk", "cluster"}
        Where they are.
    passes : int
        How often all rows were read so far.
    workers : int
        How many processes hold rows; 1 where it is this one.
    """

    variables: tuple[Variable, ...]
    n_rows: int
    total_weight: int | float
    has_real_weights: bool
    rows_in: RowsIn
    passes: int
    workers: int

    def count(self, families: FamilyArrays, *, max_cells: float) -> list[ObservedCounts]:
        """Count families, all in one pass over the rows if memory allows it.

        Parameters
        ----------
        families : arrays
            By numbers in name order, parents ascending: the children, where the parents of each
            end, and all parents one after the other. In a column with missing values these are one
            more state, the last.
        max_cells : float
            Cells that the observed counts of one family may have; more is a
            `NotEnoughMemoryError`.

        Returns
        -------
        list of (configurations, table)
            For each family its observed configurations in lexicographic order, and a row of counts
            for each. The same for any division of the rows and any number of threads.
        """
        ...


def too_many_cells() -> NotEnoughMemoryError:
    """Say that the counts of a family do not fit."""
    return NotEnoughMemoryError(
        "counts: the observed configurations of a family do not fit into memory; "
        "use fewer parents, or score the family instead of counting it"
    )


def flat_groups(
    groups: Sequence[Sequence[int]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return where the groups end, 0 first, and their members one after the other.

    Examples
    --------
    >>> flat_groups([[3, 1], [], [2]])
    (array([0, 2, 2, 3]), array([3, 1, 2], dtype=int32))
    """
    return group_ends(groups), np.fromiter(itertools.chain.from_iterable(groups), np.int32)


def group_ends(groups: Sequence[Sized]) -> npt.NDArray[np.int64]:
    """Return where the groups end, 0 first."""
    return np.array([0, *itertools.accumulate(map(len, groups))], np.int64)


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
