"""Groups of numbers in flat arrays, as native code takes them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Sized

import numpy as np
import numpy.typing as npt

__all__ = ["flat_groups", "group_ends", "joined_groups"]


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


def joined_groups(
    groups: Sequence[npt.NDArray[np.int32]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Do the same with groups that are arrays.

    Examples
    --------
    >>> joined_groups([np.array([3, 1], np.int32), np.array([2], np.int32)])
    (array([0, 2, 3]), array([3, 1, 2], dtype=int32))
    """
    ends = group_ends(groups)
    members = np.empty(int(ends[-1]), np.int32)
    for start, end, group in zip(ends, ends[1:], groups, strict=False):  # Ctrl-C in between
        members[start:end] = group
    return ends, members


def group_ends(groups: Sequence[Sized]) -> npt.NDArray[np.int64]:
    """Return where the groups end, 0 first."""
    return np.array([0, *itertools.accumulate(map(len, groups))], np.int64)
