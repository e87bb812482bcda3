"""Scores of the changes of families, in bulk."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bestdag.graph.knowledge import NodeKnowledge
from bestdag.machine import memory_left, require_memory
from bestdag.scores.local_scores import LocalScores
from bestdag.wording import arg

__all__ = ["Family", "Row", "Rows", "screened"]

# The score of a family as it is, and after adding or dropping each candidate of its child.
Row = tuple[float, npt.NDArray[np.float64]]
# Child, ascending parents, and the score as it is where it is known.
Family = tuple[int, Sequence[int], float | None]

# Cells of data read by one native call, about: it takes a twentieth of a second.
_CELLS_PER_CALL = 200_000_000
# So many families take a score without a native kernel as long, or fewer where rows are many.
_FAMILIES_PER_CALL = 500
_ROWS_PER_CALL = 1_000_000
# Changes that share a pass over rows that are not in memory: next to counting them, reading the
# rows is little, and what is done here with their counts is no longer than limits may be missed.
_CHANGES_PER_PASS = 1 << 14
# Rows remembered, in bytes, and of the memory there is; a full memory is emptied.
_MAX_REMEMBERED, _SHARE_OF_MEMORY = 1 << 27, 0.1
# Of native state for each candidate, about.
_BYTES_PER_CANDIDATE = 48


class Rows:
    """Asks a scorer for rows of changes.

    Parameters
    ----------
    scorer : LocalScores
    candidates : list of int32 arrays
        For each variable its possible parents, ascending.
    max_parents : array of int32
        A family with as many parents has no scores for additions.
    remember : bool
        Whether rows are remembered for the next time.
    seconds_left : callable
        Says how long a pass over rows that are not in memory may take.
    check : callable, optional
        Called now and then while rows of a score without a native kernel are worked out, which
        takes long; what it raises ends the work.
    """

    def __init__(
        self,
        who: str,
        scorer: LocalScores,
        candidates: list[npt.NDArray[np.int32]],
        max_parents: npt.NDArray[np.int32],
        *,
        remember: bool,
        seconds_left: Callable[[], float] = lambda: math.inf,
        check: Callable[[], None] | None = None,
    ) -> None:
        n_candidates = sum(map(len, candidates))
        require_memory(
            who,
            f"a list of {n_candidates:,} arcs",
            _BYTES_PER_CANDIDATE * n_candidates,
            f"lower {arg('candidates')}",
        )
        self.candidates = candidates
        self._scorer = scorer
        self._limits = max_parents.tolist()
        self._per_call = max(1, _CELLS_PER_CALL // scorer.n_rows)
        native = scorer.native
        self._is_one_pass = native is not None and native.shares_passes
        self._seconds_left = seconds_left
        if self._is_one_pass:
            self._per_call = _CHANGES_PER_PASS
        elif native is None:
            fewer = _ROWS_PER_CALL // scorer.n_rows
            self._per_call = max(2, min(_FAMILIES_PER_CALL, fewer))
        self._check = check
        self._remembered: dict[tuple[int, ...], Row] | None = {} if remember else None
        self._n_bytes = 0
        self._most_bytes = min(_MAX_REMEMBERED, _SHARE_OF_MEMORY * memory_left())

    @property
    def remembers(self) -> bool:
        """Whether rows are remembered for the next time."""
        return self._remembered is not None

    def put(self, child: int, parents: Sequence[int], row: Row) -> None:
        """Remember a row."""
        if self._remembered is None:
            return
        self._n_bytes += row[1].nbytes + 300
        if self._n_bytes > self._most_bytes:
            self._remembered.clear()
            self._n_bytes = row[1].nbytes + 300
        self._remembered[child, *parents] = row

    def recall(self, child: int, parents: Sequence[int]) -> Row | None:
        """Return a row if it is remembered."""
        return None if self._remembered is None else self._remembered.get((child, *parents))

    def score(self, families: Sequence[Family]) -> Iterator[list[tuple[int, Row]]]:
        """Yield the rows of families with their children, some at a time, in this order."""
        waiting: list[Family] = []
        n_waiting = 0
        for family in families:
            waiting.append(family)
            n_waiting += len(self.candidates[family[0]])
            if n_waiting >= self._per_call:
                yield self._scored(waiting)
                waiting, n_waiting = [], 0
        if waiting:
            yield self._scored(waiting)

    def _scored(self, families: Sequence[Family]) -> list[tuple[int, Row]]:
        wanted = []
        for child, parents, score in families:
            full = len(parents) >= self._limits[child]
            group = np.array(parents, np.int32) if full else self.candidates[child]
            wanted.append(group if score is not None else np.append(group, np.int32(child)))
        changes = self._changes([(c, p) for c, p, _ in families], wanted)
        rows = []
        for (child, parents, score), scores in zip(families, changes, strict=True):
            own = scores[-1] if score is None else score
            row = (float(own), self._aligned(child, parents, scores))
            self.put(child, parents, row)
            rows.append((child, row))
        return rows

    def _changes(
        self, families: Sequence[tuple[int, Sequence[int]]], wanted: list[npt.NDArray[np.int32]]
    ) -> list[npt.NDArray[np.float64]]:
        """Score changes, a portion at a time where Python does it."""
        if self._is_one_pass and self._check is not None:
            changes = self._scorer.numbered_changes(families, wanted, self._seconds_left())
            self._check()  # after the limit they are not all there
            return changes
        if self._scorer.native is not None or self._check is None:
            return self._scorer.numbered_changes(families, wanted)
        changes = []
        for family, group in zip(families, wanted, strict=True):
            parts = []
            for first in range(0, max(1, len(group)), self._per_call):
                self._check()
                some = group[first : first + self._per_call]
                parts.extend(self._scorer.numbered_changes([family], [some]))
            changes.append(np.concatenate(parts))
        return changes

    def _aligned(
        self, child: int, parents: Sequence[int], scores: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        candidates = self.candidates[child]
        if len(parents) < self._limits[child]:
            return scores[: len(candidates)]
        row = np.full(len(candidates), -np.inf)
        row[np.searchsorted(candidates, parents)] = scores[: len(parents)]
        return row


def screened(
    scores: npt.NDArray[np.float64],
    nodes: NodeKnowledge,
    n_best: int,
    keep: Sequence[Sequence[int]],
) -> list[npt.NDArray[np.int32]]:
    """Return for each variable its best single parents, and all in `keep`.

    ``scores[p, c]`` is the score of c with the parent p alone. Of equal scores the first names
    win. Required parents always stay.
    """
    candidates = []
    for child in range(len(nodes.names)):
        allowed = nodes.allowed_parents(child).astype(np.int32)
        if len(allowed) > n_best:
            best = allowed[np.argsort(-scores[allowed, child], kind="stable")[:n_best]]
            stay = np.array([*nodes.required_parents(child), *keep[child]], np.int32)
            allowed = np.union1d(best, stay).astype(np.int32)
        candidates.append(allowed)
    return candidates
