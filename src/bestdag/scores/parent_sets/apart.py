"""Parent sets listed by others: some children to each task."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from bestdag.scores.parent_sets.limits import ParentLimits
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.workers import run_all

__all__ = ["Listing", "listed_apart"]

# Children in one task, at most: so many tasks at least, where there are enough variables.
_TASKS = 64


@dataclass(frozen=True, slots=True)
class Listing:
    """How parent sets are listed; the scorer has all rows with it, wherever it goes."""

    scorer: Scorer
    prune: bool
    margin: float
    anytime: bool

    def table(self, limits: Sequence[ParentLimits], seconds: float) -> ScoreTable:
        """List the sets within the limits, for so long at most."""
        listing = ParentSetListing(self.scorer, limits, prune=self.prune, margin=self.margin)
        listing.run(seconds, anytime=self.anytime)
        return listing.table(finish=True)


@dataclass(frozen=True, slots=True)
class _Share:
    """Lists the sets of some children."""

    listing: Listing
    limits: Sequence[ParentLimits]
    seconds: float

    def __call__(self, children: Sequence[int], threads: int) -> ScoreTable:
        own = set(children)
        nobody = np.empty(0, np.int32)
        limits = [
            # Of the others the smallest set alone, which costs next to nothing.
            limit if i in own else ParentLimits(limit.required, nobody, len(limit.required))
            for i, limit in enumerate(self.limits)
        ]
        return self.listing.table(limits, self.seconds)


def listed_apart(
    listing: Listing, limits: Sequence[ParentLimits], seconds: float, executor: Executor
) -> ScoreTable:
    """List all sets, a share of the children at a time, as `executor` has it."""
    n = len(limits)
    step = -(-n // _TASKS)
    # Children next to each other are often alike: those of a task are far from each other.
    shares = [range(first, n, -(-n // step)) for first in range(-(-n // step))]
    found = run_all(
        _Share(listing, limits, seconds), shares, threads=None, who="score table", executor=executor
    )
    whose = {child: table for share, table in zip(shares, found, strict=True) for child in share}
    complete = all(table.complete for table in found)
    n_scored = sum(table.n_scored - (n - len(s)) for table, s in zip(found, shares, strict=True))
    return ScoreTable(
        found[0].names,
        [whose[child].child(child) for child in range(n)],
        complete=complete,
        n_scored=n_scored,
        open_sets=None if complete else [whose[child].open_sets(child) for child in range(n)],
    )
