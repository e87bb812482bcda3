"""Engine ``frontier``: dynamic programming over those subsets alone where an optimum may be.

A bound from multipliers on clusters (see `duals`) says for each subset of the variables what all
choices that have it first in an order cost at least; where that is no less than the incumbent's
cost, the subset is dropped (`kernels/exact/frontier_search.hpp`). Of the millions of subsets,
hundreds to some hundred thousands are left where variables depend on each other much, as in most
real tables of up to 35 columns. In samples of large sparse networks too many are left; that shows
early.

The search is done again and again with more subsets of each size. The first times are beam searches
whose better networks, and bounds, make the next ones smaller; the first in which nothing is left
out is a proof.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray

from bestdag import _core
from bestdag.errors import GraphError, InvalidParameterError
from bestdag.machine import do_without, memory_left
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.relaxation import Relaxation, Sets
from bestdag.search.exact.components import Interim, Solution
from bestdag.search.exact.duals import Duals, find_duals, score_of
from bestdag.search.exact.frontier.certificate import FrontierCertificate
from bestdag.search.result import Status
from bestdag.search.steps import result_of
from bestdag.wording import arg

__all__ = ["MAX_VARIABLES", "Frontier", "solve_frontier"]

MAX_VARIABLES = 64  # the native limit
# Subsets of each size that are followed, and the share of the gap that must be closed for the next
# width to be worth its time: closer to 1 the longer that takes.
_WIDTHS = ((100, 0.0), (800, 0.1), (6_400, 0.2), (51_200, 0.4), (409_600, 0.6))
_GROWTH = 8
# Less memory than this is no reason to stop.
_LITTLE_MEMORY = 32 << 20
# Rounds of the volume algorithm: as many as are done in about two seconds.
_MOST_ROUNDS, _SETS_TIMES_ROUNDS = 300, 30_000_000
# Costs that differ by less, 1e-10 of the first incumbent's, are not told apart (see `Relaxation`).
_RESOLUTION_UNITS = 28147
# Local search ends after so many rounds in a row without a better network.
_PATIENCE, _PATIENCE_PER_VARIABLE, _ROUNDS_PER_CALL = 100, 5, 50


def solve_frontier(
    table: ScoreTable, *, deadline: float | None = None, patient: bool = True
) -> Solution:
    """Find the acyclic choice of parent sets with the highest score, and prove it.

    The arguments are those of `Frontier`, whose steps this runs to their end.

    Examples
    --------
    >>> table = ScoreTable.from_lists(
    ...     ["a", "b"], {"a": [(-2.0, []), (-1.0, ["b"])], "b": [(-3.0, []), (-1.5, ["a"])]}
    ... )
    >>> result = solve_frontier(table)
    >>> result.score, result.chosen, result.status
    (-3.5, (1, 0), 'optimum proved')
    """
    return Frontier(table, deadline=deadline, patient=patient).run()


class Frontier:
    """One run of the engine.

    Parameters
    ----------
    table : ScoreTable
        The candidate sets of at most 64 variables.
    deadline : float or None
        A `time.monotonic()` value to stop at.
    patient : bool, default True
        Whether to go on, with status "step limit" when memory runs out, where it shows that there
        are too many subsets for it to be the best engine.
    incumbent : sequence of int or None
        A known acyclic choice to start from: for each child the position of its set.

    Raises
    ------
    GraphError
        When every choice of sets has a cycle.
    InvalidParameterError
        For more than 64 variables.
    """

    def __init__(
        self,
        table: ScoreTable,
        *,
        deadline: float | None = None,
        patient: bool = True,
        incumbent: Sequence[int] | None = None,
    ) -> None:
        if table.n_variables > MAX_VARIABLES:
            raise InvalidParameterError(
                f"frontier: at most {MAX_VARIABLES} variables that depend on each other, got "
                f"{table.n_variables}; use {arg('engine', 'bnc')}"
            )
        self._start = time.monotonic()
        self._deadline = inf if deadline is None else deadline
        self._patient = patient
        self._sets = sets = Sets(table)
        self._kernels = _core.BranchAndCutKernels(
            sets.begin, sets.costs, sets.offsets, sets.members, 0
        )
        if not self._kernels.is_feasible:
            raise GraphError("exact: every choice of parent sets in the table has a cycle")
        self._masks = np.zeros(len(sets), np.uint64)
        _core.parent_masks(sets.offsets, sets.members, self._masks)
        self._kernels.descend_from(list(range(sets.n)))
        if incumbent is not None:
            known = sets.begin[:-1] + np.array(incumbent, np.int64)
            self._kernels.descend_from(self._order_of(known))
        self._choice = self._kernels.best()
        self._relaxation: Relaxation | None = None
        self._duals = Duals(np.zeros(0, np.int64), 0)
        self._bound = 0  # units that every choice costs, or the incumbent within the resolution
        self._expanded = 0
        self._status: Status = "optimum proved"

    def run(self) -> Solution:
        """Work to the end."""
        return result_of(self.steps())

    def steps(self) -> Generator[Interim, None, Solution]:
        """Search with more and more subsets, and say after each time what is known.

        "optimum proved" means that no acyclic choice scores more than ``score + resolution``.
        """
        try:
            self._first_networks()
            if self._cost > 0 and self._status == "optimum proved":
                self._relaxation = Relaxation(self._sets, self._kernels, self._cost)
                yield from self._searches(self._relaxation)
        except KeyboardInterrupt:
            self._status = "interrupted"
        return self._solution()

    @property
    def _cost(self) -> float:
        return float(self._sets.costs[self._choice].sum())

    @property
    def _is_late(self) -> bool:
        return time.monotonic() >= self._deadline

    def _first_networks(self) -> None:
        idle = 0
        while self._cost > 0 and idle < _PATIENCE + _PATIENCE_PER_VARIABLE * self._sets.n:
            if self._is_late:
                self._status = "time limit"
                return
            idle = 0 if self._kernels.improve(_ROUNDS_PER_CALL) else idle + _ROUNDS_PER_CALL
            self._choice = self._kernels.best()

    def _searches(self, relaxation: Relaxation) -> Generator[Interim, None, None]:
        rounds = min(_MOST_ROUNDS, _SETS_TIMES_ROUNDS // len(self._sets))
        self._duals = find_duals(
            relaxation,
            relaxation.cost_units(self._choice),
            rounds=rounds,
            should_stop=lambda: self._is_late,
        )
        self._bound = self._duals.bound
        yield self._interim()
        schedule = iter(_WIDTHS)
        width, needed = next(schedule)
        while self._bound < self._cutoff(relaxation):
            gap = self._cutoff(relaxation) - self._duals.bound
            n_bytes = self._search(relaxation, width)
            yield self._interim()
            if n_bytes is None:
                self._status = "time limit"
                return
            share = (self._bound - self._duals.bound) / gap
            if share < needed and not self._patient:
                self._status = "step limit"
                return
            if _GROWTH * n_bytes > max(_LITTLE_MEMORY, memory_left()):
                do_without("frontier", "the search over subsets ended early")
                self._status = "step limit"
                return
            width, needed = next(schedule, (_GROWTH * width, needed))

    def _cutoff(self, relaxation: Relaxation) -> int:
        """Units from which on nothing is better than the incumbent by the resolution."""
        return relaxation.cost_units(self._choice) - _RESOLUTION_UNITS

    def _search(self, relaxation: Relaxation, width: int) -> int | None:
        """Follow so many subsets of each size; returns the bytes that took, None when late."""
        sets, duals, cutoff = self._sets, self._duals, self._cutoff(relaxation)
        pricing = relaxation.price(duals.multipliers, np.ones(len(sets), dtype=bool))
        needed = np.flatnonzero(~relaxation.fixed_at_zero(pricing, cutoff))
        order = np.lexsort((relaxation.units[needed], sets.child[needed]))
        needed = needed[order]
        answer = _core.search_frontier(
            np.searchsorted(sets.child[needed], np.arange(sets.n + 1)).astype(np.int64),
            self._masks[needed],
            relaxation.units[needed],
            pricing.least,
            [(_mask(members), k, value) for members, k, value in duals.positive],
            cutoff,
            width,
            min(self._deadline - time.monotonic(), 1e8),
        )
        if answer is None:
            return None
        chosen, _, bound, is_complete, expanded, n_bytes = answer
        self._expanded += expanded
        if chosen:
            self._take(needed[chosen])
        self._bound = max(self._bound, self._cutoff(relaxation) if is_complete else bound)
        return n_bytes

    def _take(self, choice: NDArray[np.int64]) -> None:
        """Make a better choice the incumbent, or one that local search finds from it."""
        self._choice = choice
        if self._kernels.descend_from(self._order_of(choice)):
            polished = self._kernels.best()
            if self._sets.costs[polished].sum() < self._sets.costs[choice].sum():
                self._choice = polished

    def _order_of(self, choice: NDArray[np.int64]) -> list[int]:
        """Return the variables of an acyclic choice, parents first."""
        parents = [set(self._sets.parents(f)) for f in choice.tolist()]
        order: list[int] = []
        while len(order) < len(parents):
            placed = set(order)
            order += [v for v, own in enumerate(parents) if v not in placed and own <= placed]
        return order

    def _interim(self) -> Interim:
        score, bound = self._known()
        return Interim(bound, score, tuple((self._choice - self._sets.begin[:-1]).tolist()))

    def _known(self) -> tuple[float, float]:
        """Score of the best choice so far, and the bound."""
        score = fsum(self._sets.scores[self._choice].tolist())
        exponent = 0 if self._relaxation is None else self._relaxation.exponent
        return score, max(score, score_of(self._sets, self._bound, exponent))

    def _solution(self) -> Solution:
        relaxation = self._relaxation
        score, bound = self._known()
        chosen = tuple((self._choice - self._sets.begin[:-1]).tolist())
        resolution, exponent = 0.0, 0
        is_proved = not self._cost > 0
        if relaxation is not None:
            is_proved = self._bound >= self._cutoff(relaxation)
            resolution = relaxation.nats(_RESOLUTION_UNITS + relaxation.rounding)
            exponent = relaxation.exponent
        proof = FrontierCertificate(
            chosen, score, resolution, exponent, tuple(self._duals.positive)
        )
        return Solution(
            chosen=chosen,
            score=score,
            bound=score if is_proved else bound,
            status="optimum proved" if is_proved else self._status,
            resolution=resolution,
            engines=("frontier",),
            proofs=(proof,) if is_proved else (),
            n_nodes=self._expanded,
            seconds=time.monotonic() - self._start,
            was_interrupted=self._status == "interrupted",
        )


def _mask(members: Sequence[int]) -> int:
    return sum(1 << v for v in members)
