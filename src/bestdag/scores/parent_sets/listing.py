"""Parent sets listed bit by bit, by one native lister: from rows, or fed with scores."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import InvalidParameterError, NotEnoughMemoryError
from bestdag.graph._names import show
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.machine import do_without, memory_left, readable_size
from bestdag.progress import OutOfTimeError, until
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.limits import (
    ParentLimits,
    flat_limits,
    largest_bonuses,
    limits_within,
    with_bonuses,
)
from bestdag.scores.prior import ArcPrior
from bestdag.scores.table import ScoreTable, split_sets
from bestdag.wording import arg
from bestdag.workers import run_all

__all__ = ["Listing", "ListingForecast", "ParentSetListing", "listed_apart"]

_WHO = "score table"
# Open sets: so many in all, and for each child at least and at most.
_OPEN_IN_ALL, _LEAST_OPEN, _MOST_OPEN = 400_000, 32, 2_000
# Of the memory there is: lists are copied while they grow, and once more into a table.
_SHARE_OF_MEMORY = 0.45
# No limit beyond those of the variables.
_ANY_PARENTS = 2**64 - 1
# A family scored, roughly; and the set if it stays, once in the lists and once in a table.
_NANOSECONDS_PER_FAMILY, _BYTES_PER_FAMILY = 1000.0, 60.0
# Rounding in scores and bounds, of N ln N.
_RELATIVE_SLACK = 1e-13
# Children in one task, at most: so many tasks at least, where there are enough variables.
_TASKS = 64

_Floats = npt.NDArray[np.float64]
_Families = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]


class ListingForecast(NamedTuple):
    """What it takes to list sets: families to score at most; seconds and bytes, roughly."""

    n_families: int
    seconds: float
    n_bytes: float


class ParentSetListing:
    """The parent sets of every variable that a best network may need, listed bit by bit.

    Parameters
    ----------
    scores : LocalScores
        Their native kernel is asked, where there is one, else they score each set that is wanted.
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
    Sets are listed by size. A native kernel on rows in memory counts and scores in one go. As long
    as at most three parents are asked for, sets of columns are counted once for all variables, and
    no family is scored twice however often a listing is cut short; larger sets are listed for each
    variable by itself, from the start. Then, while time is limited, the child that has had the
    least time goes next, so that time one child does not need is left to the others. Everything
    else is fed: the lister
    says which sets it wants, all children's of one size before larger ones, and gets their scores
    with bounds on all sets that contain them.

    Examples
    --------
    >>> from bestdag import Scorer, read
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
        scores: LocalScores,
        limits: NodeKnowledge | Sequence[ParentLimits] | None = None,
        *,
        prune: bool = True,
        margin: float = 0.0,
    ) -> None:
        self._scores = scores
        self._names = scores.names
        self._threads = 1 if scores.native is None else scores.native.threads
        if limits is None or isinstance(limits, NodeKnowledge):
            limits = limits_within(limits, len(self._names))
        self._limits = limits
        prior = scores.structure_prior
        native: _core.CandidateListing | None = None
        self._feed: _Feed | None = None
        if scores.native is not None and (prior is None or isinstance(prior, ArcPrior)):
            limits = with_bonuses(limits, self._names, prior)
            native = scores.native.listing(*flat_limits(limits), prune, margin)
            if native is None:
                self._feed = _CountedFeed(scores, limits)
        else:
            self._feed = _ScoresFeed(scores, limits, prune)
        if self._feed is not None:
            n = float(scores.total_weight or scores.n_rows)
            slack = _RELATIVE_SLACK * n * math.log(n + 2.0)
            native = _core.CandidateListing(*flat_limits(limits), prune, margin, slack)
        assert native is not None
        self._native = native

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to go on with: all is listed, or memory ran out."""
        return self._native.is_over

    def is_complete_at(self, max_parents: int) -> bool:
        """Whether all sets of at most so many parents are listed, of every variable."""
        return self._native.is_complete_within(max_parents)

    def forecast(self, max_parents: int) -> ListingForecast:
        """Return what it takes to list all sets of at most so many parents, beyond what is listed.

        Examples
        --------
        >>> from bestdag import Scorer, read
        >>> from bestdag.examples import example
        >>> listing = ParentSetListing(Scorer(read(example("asia.csv")), "bic"))
        >>> listing.forecast(2).n_families
        232
        >>> listing.run(max_parents=2)
        >>> listing.forecast(2).n_families, listing.forecast(3).n_families
        (0, 280)
        """
        if self.is_complete_at(max_parents):
            return ListingForecast(0, 0.0, 0.0)
        first = 0
        while self.is_complete_at(first):
            first += 1
        n_families = sum(
            math.comb(len(limit.allowed), size - len(limit.required))
            for limit in self._limits
            for size in range(max(first, len(limit.required)), max_parents + 1)
            if size <= limit.max_parents
        )
        seconds, n_bytes = self._native.forecast(max_parents)
        if seconds == 0.0:  # not shared: by families
            seconds = n_families * _NANOSECONDS_PER_FAMILY * 1e-9
            n_bytes = n_families * _BYTES_PER_FAMILY
        return ListingForecast(n_families, seconds / self._threads, n_bytes)

    def run(
        self,
        seconds: float = math.inf,
        *,
        max_parents: int | None = None,
        memory_limit: float | None = None,
        anytime: bool = True,
    ) -> None:
        """Go on listing; every variable gets its smallest set, however little time there is.

        Parameters
        ----------
        seconds : float
        max_parents : int, optional
            Go no further than sets of so many parents: a later call goes on from there. A variable
            with more required parents gets its smallest set all the same.
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
        room = _SHARE_OF_MEMORY * (memory_left() + self._native.n_bytes)
        if memory_limit is not None:
            room = memory_limit
        try:
            with self._scores.refusals():
                if self._feed is None:
                    most = _ANY_PARENTS if max_parents is None else max_parents
                    self._native.run(seconds, room, anytime, most, self._threads)
                else:
                    self._run_fed(self._feed, seconds, max_parents, room, anytime=anytime)
        except _core.TooManySetsError as error:
            child, size = error.args
            of_child = "" if child is None else f" of {show(self._names[child])}"
            raise NotEnoughMemoryError(
                f"{_WHO}: the sets of {size} parents{of_child} need more than "
                f"{readable_size(room)}; pass {arg('max_parents', max(0, size - 1))} or less"
            ) from None
        if self._native.is_full:
            do_without("sets", f"parent sets are listed up to {readable_size(room)}")

    def _run_fed(
        self, feed: _Feed, seconds: float, max_parents: int | None, room: float, *, anytime: bool
    ) -> None:
        """Score what is wanted, a batch at a time, until all is listed or the time is up."""
        end = time.monotonic() + seconds
        while not self._native.is_over:
            if max_parents is not None and self.is_complete_at(max_parents):
                return
            *families, size = self._native.wanted(feed.batch_size(math.isinf(seconds)))
            start = time.monotonic()
            left = math.inf if size == 0 else end - start
            if not len(families[0]) or left <= 0:
                return
            scores, bounds = feed.score(tuple(families), size, left)
            n_done = len(scores)
            if np.isnan(scores).any():
                n_done = int(np.argmax(np.isnan(scores)))
            self._native.take(scores[:n_done].copy(), bounds[:n_done].copy())
            if n_done < len(scores):
                if time.monotonic() - start >= left:
                    return
                raise InvalidParameterError(f"{_WHO}: a score is not a number")
            feed.took(time.monotonic() - start)
            if size > 0 and self._native.n_bytes > room:
                if not anytime:
                    raise _core.TooManySetsError(None, size)
                self._native.stop()

    def table(self, *, finish: bool = False) -> ScoreTable:
        """Return what is listed, with the open sets that cover the rest.

        With `finish` the listing is emptied, which saves memory.
        """
        return self._table(None, finish=finish)

    def table_at(self, max_parents: int) -> ScoreTable:
        """Return what is listed of the sets of at most so many parents.

        It is complete, within that limit, where `is_complete_at` says so; otherwise open sets cover
        the sets within the limit that it lacks.
        """
        return self._table(max_parents, finish=False)

    def _table(self, max_parents: int | None, *, finish: bool) -> ScoreTable:
        most = min(max(_OPEN_IN_ALL // len(self._names), _LEAST_OPEN), _MOST_OPEN)
        arrays, n_scored, complete, open_arrays, bounded = self._native.result(
            most, finish, _ANY_PARENTS if max_parents is None else max_parents, self._threads
        )
        is_complete = bool(complete.all())
        if is_complete:
            self._require_sets(np.diff(arrays[0]).tolist())
        open_sets = None
        if not is_complete:
            open_sets = [
                sets if known else None
                for sets, known in zip(split_sets(*open_arrays), bounded.tolist(), strict=True)
            ]
        return ScoreTable.from_arrays(
            self._names,
            *arrays,
            complete=is_complete,
            n_scored=int(n_scored.sum()),
            open_sets=open_sets,
            max_parents=max_parents,
        )

    def _require_sets(self, n_sets: Sequence[int]) -> None:
        """Refuse a child that no parent set is left for."""
        for name, n in zip(self._names, n_sets, strict=True):
            if n == 0:
                raise InvalidParameterError(
                    f"{_WHO}: every parent set of {show(name)} scores minus infinity; the score or "
                    "the prior over structures forbids them all"
                )


class _Feed:
    """Scores the families that a listing wants, and bounds those that contain them.

    Batches grow until each takes `seconds`: enough families to share the way into native code or a
    pass over rows, and few enough to look at the clock now and then.
    """

    fewest, most, seconds, growth = 16, 2048, 0.02, 2.0

    def __init__(self) -> None:
        self._n_together = self.fewest

    def batch_size(self, is_unlimited: bool) -> int:
        """Say how many families to ask for."""
        return self._n_together

    def took(self, seconds: float) -> None:
        """Learn from how long the last batch took."""
        n = self._n_together * min(self.growth, self.seconds / max(seconds, 1e-9))
        self._n_together = int(min(max(n, self.fewest), self.most))

    def score(self, families: Any, size: int, seconds: float) -> tuple[_Floats, _Floats]:
        """Return scores, nan from where time ran out, and bounds; sets have `size` free parents."""
        raise NotImplementedError


class _CountedFeed(_Feed):
    """A native kernel on counts that are asked for: a level of all children in few passes."""

    fewest, most, seconds, growth = 256, 1 << 17, 0.5, 8.0

    def __init__(self, scores: LocalScores, limits: Sequence[ParentLimits]) -> None:
        super().__init__()
        kernel: Any = scores.native
        self._kernel = kernel
        self._n_together = max(self.fewest, len(scores.names))
        arities = np.array(kernel.arities, np.float64)
        self._growth = np.array(
            [arities[x.allowed].min() if len(x.allowed) else 1.0 for x in limits], np.float64
        )
        self._has_support = bool(scores.support)

    def batch_size(self, is_unlimited: bool) -> int:
        return self.most if is_unlimited else self._n_together

    def score(self, families: _Families, size: int, seconds: float) -> tuple[_Floats, _Floats]:
        bounds = np.full(len(families[0]), math.inf)
        growth = self._growth[families[0]]
        scores = self._kernel.numbered(families, time_limit=seconds, growth=growth, bounds=bounds)
        if self._has_support:  # what lacks it ends the listing of all that contain it
            bounds[scores == -math.inf] = -math.inf
        return scores, bounds


class _ScoresFeed(_Feed):
    """Scores of any kind, the prior over structures included."""

    def __init__(self, scores: LocalScores, limits: Sequence[ParentLimits], prune: bool) -> None:
        super().__init__()
        self._scores = scores
        self._is_one_pass = scores.passes is not None
        if self._is_one_pass:
            self.fewest = self.most = self._n_together = 1 << 15
        prior = scores.structure_prior
        self._bonuses: _Floats | None = None
        if prune and (prior is None or isinstance(prior, ArcPrior)):
            self._bonuses = np.array(largest_bonuses(limits, scores.names, prior))

    def score(self, families: _Families, size: int, seconds: float) -> tuple[_Floats, _Floats]:
        names, scorer = self._scores.names, self._scores
        children, offsets, parents = (array.tolist() for array in families)
        named = [
            (names[c], frozenset(names[p] for p in parents[a:b]))
            for c, a, b in zip(children, offsets, offsets[1:], strict=False)
        ]
        bounds = np.full(len(named), math.inf)
        end = time.monotonic() + seconds if self._is_one_pass else math.inf
        try:
            with until(end):
                scores = scorer.families(named)
        except OutOfTimeError:
            return np.full(len(named), math.nan), bounds
        if self._bonuses is not None and (size == 0 or scorer.bounds_every_set):
            known = scorer.upper_bounds(named)
            if known is not None:
                bounds = known + self._bonuses[families[0]]
                bounds[np.isnan(bounds)] = math.inf
        nothing = np.flatnonzero(scores == -math.inf).tolist()
        if nothing and scorer.support:
            lacking = set(scorer.lacking_support(named[i] for i in nothing))
            bounds[[i for i in nothing if named[i] in lacking]] = -math.inf
        return scores, bounds


@dataclass(frozen=True, slots=True)
class Listing:
    """How parent sets are listed; the scores have all rows with them, wherever they go."""

    scores: LocalScores
    prune: bool
    margin: float
    anytime: bool

    def table(self, limits: Sequence[ParentLimits], seconds: float) -> ScoreTable:
        """List the sets within the limits, for so long at most."""
        listing = ParentSetListing(self.scores, limits, prune=self.prune, margin=self.margin)
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
        none = np.empty(0, np.int32)
        limits = [
            # Of the others the smallest set alone, which costs next to nothing.
            limit if i in own else ParentLimits(limit.required, none, len(limit.required))
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
