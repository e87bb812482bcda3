"""The candidate parent sets of one child, and those of many in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ParentSets", "split_sets"]


@dataclass(frozen=True, slots=True, eq=False)
class ParentSets:
    """The candidate parent sets of one child, best first.

    Equal scores: fewer parents first, then the set that comes first when the ascending parent
    numbers are compared one by one. The arrays cannot be written to.

    Attributes
    ----------
    scores : float64 array of length m
        Local scores, finite, highest first.
    offsets : int64 array of length m + 1
        Set k is ``members[offsets[k]:offsets[k + 1]]``.
    members : int32 array
        Parent numbers (positions in the table's names), ascending within each set.

    Examples
    --------
    >>> sets = ParentSets.of([-3.0, -2.5], [[], [0, 2]])
    >>> sets.scores.tolist(), sets.parents(0)
    ([-2.5, -3.0], (0, 2))
    """

    scores: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        for array in (self.scores, self.offsets, self.members):
            array.setflags(write=False)

    @classmethod
    def of(cls, scores: Sequence[float], sets: Sequence[Sequence[int]]) -> ParentSets:
        """Make from scores and sets in any order; each set's members are distinct."""
        ordered = sorted(
            (-float(score), len(members), sorted(members))
            for score, members in zip(scores, sets, strict=True)
        )
        offsets = np.zeros(len(ordered) + 1, np.int64)
        np.cumsum([size for _, size, _ in ordered], out=offsets[1:])
        return cls(
            # Adding zero turns the -0.0 of a negated score of 0 back into 0.
            np.array([-score + 0.0 for score, _, _ in ordered], np.float64),
            offsets,
            np.array([m for _, _, members in ordered for m in members], np.int32),
        )

    def parents(self, k: int) -> tuple[int, ...]:
        """Return the parent numbers of the k-th best set, ascending."""
        first, last = self.offsets[k], self.offsets[k + 1]
        return tuple(self.members[first:last].tolist())

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Go through (score, parent numbers), best first."""
        members, offsets = self.members.tolist(), self.offsets.tolist()
        for k, score in enumerate(self.scores.tolist()):
            yield score, tuple(members[offsets[k] : offsets[k + 1]])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParentSets):
            return NotImplemented
        return (
            np.array_equal(self.scores, other.scores)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.members, other.members)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[ParentSets], tuple[Any, ...]]:
        return ParentSets, (self.scores, self.offsets, self.members)

    def __repr__(self) -> str:
        return f"<ParentSets: {len(self):,} sets>"


def split_sets(
    first_sets: npt.NDArray[np.int64],
    scores: npt.NDArray[np.float64],
    offsets: npt.NDArray[np.int64],
    members: npt.NDArray[np.int32],
) -> list[ParentSets]:
    """Make one list for each child of flat arrays.

    Child i has the sets ``first_sets[i]`` to ``first_sets[i + 1]``, and set k the parents
    ``members[offsets[k]:offsets[k + 1]]``.
    """
    starts = first_sets.tolist()
    ends = offsets[first_sets].tolist()
    return [
        ParentSets(
            scores[starts[i] : starts[i + 1]],
            offsets[starts[i] : starts[i + 1] + 1] - ends[i],
            members[ends[i] : ends[i + 1]],
        )
        for i in range(len(starts) - 1)
    ]
