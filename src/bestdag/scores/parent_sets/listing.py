"""Parent sets listed bit by bit: for a while, looked at, and gone on with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bestdag import _core
from bestdag.errors import NotEnoughMemoryError
from bestdag.graph._names import show
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.machine import do_without, memory_left, readable_size
from bestdag.scores.child_sets import split_sets
from bestdag.scores.parent_sets.counted_listing import CountedListing
from bestdag.scores.parent_sets.limits import (
    ParentLimits,
    largest_bonuses,
    limits_within,
    with_bonuses,
)
from bestdag.scores.parent_sets.native_listing import NativeListing
from bestdag.scores.parent_sets.python_listing import PythonListing, require_sets
from bestdag.scores.prior import ArcPrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable

__all__ = ["ParentSetListing"]

_WHO = "score table"
# Open sets: so many in all, and for each child at least and at most.
_OPEN_IN_ALL, _LEAST_OPEN, _MOST_OPEN = 400_000, 32, 2_000
# Of the memory there is: lists are copied while they grow, and once more into a table.
_SHARE_OF_MEMORY = 0.45


class ParentSetListing:
    """The parent sets of every variable that a best network may need, listed bit by bit.

    Parameters
    ----------
    scorer : Scorer
        The data, the score and the prior over structures.
    limits : NodeKnowledge or sequence of ParentLimits, optional
        What the parents of each variable may be; anything by default. Of knowledge the arcs and
        the numbers of parents are kept to. Statements about paths, and edges that may run either
        way, are not looked at: dominated sets are left out as if there were none.
    prune : bool, default True
        Leave out every set that scores no more than one of its subsets.
    margin : float, default 0.0
        Where it is positive, leave out only those that a subset beats by more than this: networks
        that are worse than the best by no more may need the others.

    Notes
    -----
    Sets are listed by size. While time is limited, the child that has had the least time goes
    next, so that time one child does not need is left to the others. No set is scored twice.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.examples import example
    >>> listing = ParentSetListing(Scorer(read(example("asia.csv")), "bic"))
    >>> listing.run(1e-9)
    >>> listing.is_over, listing.table().n_sets  # the smallest set of each variable
    (False, 8)
    >>> listing.run()
    >>> listing.is_over, listing.table().complete
    (True, True)
    """

    def __init__(
        self,
        scorer: Scorer,
        limits: NodeKnowledge | Sequence[ParentLimits] | None = None,
        *,
        prune: bool = True,
        margin: float = 0.0,
    ) -> None:
        self._scorer = scorer
        self._names = [variable.name for variable in scorer.variables]
        if limits is None or isinstance(limits, NodeKnowledge):
            limits = limits_within(limits, len(self._names))
        prior = scorer.structure_prior
        self._native: NativeListing | None = None
        self._in_python: PythonListing | CountedListing | None = None
        twin = scorer.bulk.native
        if twin is not None and (prior is None or isinstance(prior, ArcPrior)):
            within = with_bonuses(limits, self._names, prior)
            self._native = twin.candidate_listing(within, prune=prune, margin=margin)
            if self._native is None:
                self._in_python = CountedListing(
                    scorer, self._names, within, prune=prune, margin=margin
                )
        else:
            bonuses = None
            if prior is None or isinstance(prior, ArcPrior):
                bonuses = largest_bonuses(limits, self._names, prior)
            self._in_python = PythonListing(
                scorer, self._names, limits, prune=prune, margin=margin, bonuses=bonuses
            )

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to go on with: all is listed, or memory ran out."""
        return (self._native or self._python).is_over

    def run(
        self,
        seconds: float = math.inf,
        *,
        memory_limit: float | None = None,
        anytime: bool = True,
    ) -> None:
        """Go on listing; every variable gets its smallest set, however little time there is.

        Parameters
        ----------
        seconds : float
        memory_limit : float, optional
            Bytes for the sets that are listed and those under way; by default what the limit on
            memory allows (see `bestdag.machine`).
        anytime : bool, default True
            Where memory runs out, end the listing of the variable at hand as it is. Otherwise
            raise.

        Raises
        ------
        NotEnoughMemoryError
        KeyboardInterrupt
            Within a tenth of a second of Ctrl-C; what is listed stays listed.
        """
        room = self._room(memory_limit)
        if self._native is None:
            self._python.run(seconds, room, anytime=anytime)
        else:
            try:
                with self._scorer.bulk.refusals():
                    self._native.run(seconds=seconds, max_bytes=room, stops_at_memory=anytime)
            except _core.TooManySetsError as error:
                child, size = error.args
                what = (
                    f"{_WHO}: the sets of {size} parents of {show(self._names[child])} need more "
                    f"than {readable_size(room)}"
                )
                raise NotEnoughMemoryError(
                    f"{what}; set max_parents to {size - 1} or less"
                ).with_option(f"{what}; pass --max-parents {size - 1} or less") from None
        if (self._native or self._python).is_full:
            do_without("sets", f"parent sets are listed up to {readable_size(room)}")

    def table(self, *, finish: bool = False) -> ScoreTable:
        """Return what is listed, with the open sets that cover the rest.

        With `finish` the listing is emptied, which saves memory.
        """
        if self._native is None:
            return self._python.table()
        most = min(max(_OPEN_IN_ALL // len(self._names), _LEAST_OPEN), _MOST_OPEN)
        found = self._native.result(most_open=most, finish=finish)
        is_complete = bool(found.is_complete.all())
        if is_complete:
            require_sets(self._names, np.diff(found.arrays[0]).tolist())
        open_sets = None
        if not is_complete:
            open_sets = [
                sets if known else None
                for sets, known in zip(
                    split_sets(*found.open_arrays), found.is_bounded.tolist(), strict=True
                )
            ]
        return ScoreTable.from_arrays(
            self._names,
            *found.arrays,
            complete=is_complete,
            n_scored=found.n_scored,
            open_sets=open_sets,
        )

    def _room(self, memory_limit: float | None) -> float:
        """Bytes for all that is listed and under way."""
        if memory_limit is not None:
            return memory_limit
        return _SHARE_OF_MEMORY * (memory_left() + (self._native or self._python).n_bytes)

    @property
    def _python(self) -> PythonListing | CountedListing:
        assert self._in_python is not None
        return self._in_python
