"""Multipliers on cluster cuts without linear programs: bounds in milliseconds to a second.

Two ways, one after the other. `ascend` raises one multiplier after another while that raises the
bound (Trösser, de Givry and Katsirelos 2021); it takes milliseconds for hundreds of variables. Then
the volume algorithm (Barahona and Anbil 2000) moves all multipliers along what an average of the
cheapest sets violates, and the clusters that this average violates most join: a bound about as good
as that of the linear program over the same cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf, nextafter

import numpy as np
from numpy.typing import NDArray

from bestdag import _core
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.relaxation import Cut, Pricing, Relaxation, Sets

__all__ = ["Duals", "dual_bound", "find_duals"]

_SHARE_OF_NEW = 0.05  # of the last cheapest sets in the average
_FIRST_STEP, _LONGEST_STEP = 0.1, 2.0
_LONGER, _SHORTER = 1.1, 0.67  # the step after a better bound, and after some without
_PATIENCE = 10  # rounds without a better bound before steps are shorter
_ROUNDS_PER_SEPARATION = 10
_LEAST_VIOLATION = 0.05
_LEAST_WEIGHT = 1e-2  # of a set that separation looks at
_CUTS_AT_ONCE = 30
# Rounds end when the last so many have closed less than this share of what was open.
_STALL_ROUNDS, _STALL_SHARE = 60, 0.02
# The ascent ends where no step along a direction helps at first; a little below steps do.
_BELOW = 0.9


@dataclass(frozen=True, slots=True)
class Duals:
    """Multipliers >= 0, one per cut of the relaxation, and the bound that they prove, in units.

    Attributes
    ----------
    clusters : tuple of (members, k)
        The cuts, one after another.
    """

    multipliers: NDArray[np.int64]
    bound: int
    clusters: tuple[tuple[tuple[int, ...], int], ...] = ()

    @property
    def positive(self) -> list[tuple[tuple[int, ...], int, int]]:
        """Members, k and multiplier of each cluster whose multiplier is not 0."""
        pairs = zip(self.clusters, self.multipliers.tolist(), strict=True)
        return [(*cluster, value) for cluster, value in pairs if value]


def find_duals(
    relaxation: Relaxation,
    enough: int,
    *,
    rounds: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> Duals:
    """Return good multipliers; the cuts join those of the relaxation, which has none before.

    Parameters
    ----------
    relaxation : Relaxation
        Costs and cuts.
    enough : int
        Units at which a higher bound is of no use: the cost of an incumbent.
    rounds : int
        Of the volume algorithm, at most; 0 leaves it at the ascent.
    should_stop : callable
        Asked in each round; what is known by then is returned.
    """
    return _Volume(relaxation, enough).run(rounds, should_stop)


def dual_bound(table: ScoreTable, *, rounds: int = 0) -> float:
    """Bound the scores of all acyclic choices from a table.

    Examples
    --------
    >>> table = ScoreTable.from_lists(
    ...     ["a", "b"], {"a": [(-2.0, []), (-1.0, ["b"])], "b": [(-3.0, []), (-1.5, ["a"])]}
    ... )
    >>> round(dual_bound(table), 6)
    -3.5
    """
    sets = Sets(table)
    kernels = _core.BranchAndCutKernels(sets.begin, sets.costs, sets.offsets, sets.members, 0)
    kernels.descend_from(list(range(sets.n)))
    cost = float(sets.costs[kernels.best()].sum()) if kernels.is_feasible else fsum(sets.costs)
    if not cost > 0:
        return score_of(sets, 0, 0)
    relaxation = Relaxation(sets, kernels, cost)
    enough = relaxation.cost_units(kernels.best()) if kernels.is_feasible else 2**50
    duals = find_duals(relaxation, enough, rounds=rounds)
    return score_of(sets, duals.bound, relaxation.exponent)


def score_of(sets: Sets, units: int, exponent: int) -> float:
    """Return the score that a cost of so many units leaves at most, rounded up."""
    exact = sum(map(Fraction, sets.scores[sets.begin[:-1]].tolist()), Fraction())
    exact -= units * Fraction(2) ** exponent
    score = float(exact)
    return score if Fraction(score) >= exact else nextafter(score, inf)


class _Volume:
    """The volume algorithm: `best` proves `bound`, `average` weighs the sets that were cheapest."""

    def __init__(self, relaxation: Relaxation, enough: int) -> None:
        self._relaxation = relaxation
        self._kernels = relaxation.kernels
        self._enough = enough
        self._everything = np.ones(len(relaxation.sets), dtype=bool)
        self._numbers: dict[Cut, int] = {}
        self._best: NDArray[np.float64] = np.zeros(0)
        self._bound = 0
        self._average = np.zeros(len(relaxation.sets))

    def run(self, rounds: int, should_stop: Callable[[], bool]) -> Duals:
        ascended = self._ascended()
        if rounds == 0 or ascended.bound >= self._enough:
            return ascended
        self._best = _BELOW * ascended.multipliers.astype(np.float64)
        pricing = self._price(self._best)
        self._bound = pricing.bound
        self._average[self._cheapest(pricing.reduced)] = 1.0
        self._walk(rounds, should_stop)
        return max(self._ascended(), ascended, key=lambda duals: duals.bound)

    def _walk(self, rounds: int, should_stop: Callable[[], bool]) -> None:
        step, idle, earlier = _FIRST_STEP, 0, [self._bound]
        for number in range(1, rounds + 1):
            if self._bound >= self._enough or should_stop():
                break
            direction = self._direction()
            length = float(direction @ direction)
            if length < 1e-12:
                break
            way = step * (1.02 * self._enough - self._bound) / length
            # More than an incumbent costs proves nothing else, and sums must stay below 2^62.
            moved = self._best + way * direction
            multipliers: NDArray[np.float64] = np.clip(moved, 0.0, float(self._enough))
            pricing = self._price(multipliers)
            cheapest = self._cheapest(pricing.reduced)
            self._average *= 1.0 - _SHARE_OF_NEW
            self._average[cheapest] += _SHARE_OF_NEW
            if pricing.bound > self._bound:
                self._best, self._bound, idle = multipliers, pricing.bound, 0
                if float(self._violations(cheapest, np.ones(len(cheapest))) @ direction) > 0:
                    step = min(_LONGEST_STEP, _LONGER * step)
            else:
                idle += 1
                if idle % _PATIENCE == 0:
                    step *= _SHORTER
            if number % _ROUNDS_PER_SEPARATION == 0:
                self._separate()
            earlier.append(self._bound)
            if self._has_stalled(earlier):
                break

    def _has_stalled(self, earlier: list[int]) -> bool:
        if len(earlier) <= 2 * _STALL_ROUNDS:
            return False
        before = earlier[-1 - _STALL_ROUNDS]
        return self._bound - before < _STALL_SHARE * (self._enough - before)

    def _number(self, members: list[int], k: int) -> int:
        cut = Cut(((tuple(members), k),))
        number = self._numbers.get(cut)
        if number is None:
            number = self._numbers[cut] = self._relaxation.add(cut)
            self._best = np.append(self._best, 0.0)
        return number

    def _price(self, multipliers: NDArray[np.float64]) -> Pricing:
        return self._relaxation.price(_whole(multipliers), self._everything)

    def _cheapest(self, reduced: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each child its first set of least reduced cost."""
        begin = self._relaxation.sets.begin
        least = np.minimum.reduceat(reduced, begin[:-1])
        cheap = np.flatnonzero(reduced == least[self._relaxation.sets.child])
        children = self._relaxation.sets.child[cheap]
        first: NDArray[np.int64] = cheap[np.searchsorted(children, np.arange(len(begin) - 1))]
        return first

    def _violations(
        self, sets: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Right-hand side less left-hand side of each cut."""
        n_cuts = len(self._best)
        coefficients = np.empty((n_cuts, len(sets)), dtype=np.int8)
        self._kernels.coefficients(np.arange(n_cuts), sets, coefficients)
        right = np.array([cut.right_side for cut in self._numbers], dtype=float)
        violations: NDArray[np.float64] = right - coefficients @ weights
        return violations

    def _direction(self) -> NDArray[np.float64]:
        """Return what the average violates: below 0 only where a multiplier may fall."""
        support = np.flatnonzero(self._average > 1e-3)
        violations = self._violations(support, self._average[support])
        violations[(violations < 0) & (self._best <= 0)] = 0.0
        return violations

    def _separate(self) -> None:
        """Let clusters join that the average violates."""
        support = np.flatnonzero(self._average > _LEAST_WEIGHT)
        weights = np.ascontiguousarray(self._average[support])
        for k in (1, 2):
            violated = self._kernels.separate(
                support, weights, k, [], _LEAST_VIOLATION, _CUTS_AT_ONCE
            )
            for members, _ in violated:
                self._number(members, k)

    def _ascended(self) -> Duals:
        """Return the best multipliers raised one by one."""
        pricing = self._price(self._best)
        paid = pricing.bound - sum(pricing.least.tolist())
        bound, raised = self._kernels.ascend(pricing.reduced, self._enough - paid)
        numbers = [self._number(members, 1) for members, _ in raised]
        multipliers = _whole(self._best)
        for number, (_, value) in zip(numbers, raised, strict=True):
            multipliers[number] += value
        clusters = tuple(cut.terms[0] for cut in self._numbers)
        return Duals(multipliers, bound + paid, clusters)


def _whole(multipliers: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.floor(multipliers).astype(np.int64)
