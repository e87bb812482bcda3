"""The problem in whole units: costs, cuts, and the bound that multipliers on cuts prove.

Every child v chooses one of its parent sets f at a cost of (best score of v) - (score of f) >= 0;
cheapest acyclic choice wins. For any multipliers >= 0 on valid cuts ``sum a_f x_f >= b``,

    sum_c m_c b_c + sum_v min_{f of v} (cost_f - sum_c m_c a_cf)

is a lower bound of every acyclic choice (Lagrangian duality). It is computed here in integers, so
it holds without any trust in a solver: costs are rounded down to units, multipliers are whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import frexp, ldexp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestdag import _core
from bestdag.scores.table import ScoreTable

__all__ = ["LP_BITS", "Cut", "OrderCut", "Pricing", "Relaxation", "Sets"]

_UNIT_BITS = 48  # the first incumbent costs about 2^48 units; sums stay below 2^61
# 2^36 units are 1 in the linear programs, where the first incumbent costs about 2^12.
LP_BITS = 36
_FORBIDDEN = np.int64(2) ** 60  # what `reduce` says of sets that are not allowed


@dataclass(frozen=True, slots=True)
class Cut:
    """A valid inequality from clusters; see `cut_pool.hpp` for the two kinds.

    Attributes
    ----------
    terms : tuple of (members, k)
        Clusters; one, unless halved.
    equations : tuple of int
        Children whose equation is taken away before halving.
    halved : bool
        Whether the sum of the terms is halved and rounded up.
    """

    terms: tuple[tuple[tuple[int, ...], int], ...]
    equations: tuple[int, ...] = ()
    halved: bool = False

    @property
    def right_side(self) -> int:
        """Smallest value that acyclic choices give the left-hand side."""
        total = sum(k for _, k in self.terms) - len(self.equations)
        return -(-total // 2) if self.halved else total

    def without_parents(self, n: int) -> NDArray[np.int64]:
        """Coefficient of the empty parent set of each of n children."""
        total = np.zeros(n, dtype=np.int64)
        for members, _ in self.terms:
            total[list(members)] += 1
        total[list(self.equations)] -= 1
        return -(-total // 2) if self.halved else total


class OrderCut(NamedTuple):
    """A valid inequality on a few variables, of any form; see `order_cuts.hpp`.

    A tuple, and a `Cut` is none: so a file of a run can tell them apart.

    Attributes
    ----------
    members : tuple of int
        The variables, ascending.
    gains : tuple of tuple of int
        For each member what it gains from its parents among the members, by the bits of their
        positions: never less from more parents.
    most : int
        What acyclic choices gain in all, at most.

    Notes
    -----
    As every child chooses one set, "the gains are at most so much" is "what is forgone of each
    child's largest gain is at least so much", which has the form of other cuts.
    """

    members: tuple[int, ...]
    gains: tuple[tuple[int, ...], ...]
    most: int

    @property
    def right_side(self) -> int:
        """Least that acyclic choices forgo."""
        return sum(map(max, self.gains)) - self.most

    def without_parents(self, n: int) -> NDArray[np.int64]:
        """Coefficient of the empty parent set of each of n children."""
        total = np.zeros(n, dtype=np.int64)
        total[list(self.members)] = [max(row) - row[0] for row in self.gains]
        return total


class Sets:
    """The parent sets of all children in one row of arrays, child after child, best first."""

    def __init__(self, table: ScoreTable) -> None:
        children = [table.child(i) for i in range(len(table.names))]
        counts = [len(c.scores) for c in children]
        self.n = len(children)
        self.begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.scores = np.concatenate([c.scores for c in children]).astype(np.float64)
        starts = np.cumsum([0, *(len(c.members) for c in children)])
        self.offsets = np.concatenate(
            [np.asarray(c.offsets[:-1]) + s for c, s in zip(children, starts, strict=False)]
            + [starts[-1:]]
        ).astype(np.int64)
        self.members = np.concatenate([c.members for c in children]).astype(np.int32)
        self.child = np.repeat(np.arange(self.n), counts)
        # Differences of doubles, rounded once: relative error at most 2^-53.
        self.costs: NDArray[np.float64] = self.scores[self.begin[:-1]][self.child] - self.scores
        self._sizes = np.diff(self.offsets)
        self._owner = np.repeat(np.arange(len(self.scores)), self._sizes)

    def __len__(self) -> int:
        return len(self.scores)

    def parents(self, number: int) -> tuple[int, ...]:
        """Members of one set."""
        return tuple(self.members[self.offsets[number] : self.offsets[number + 1]].tolist())

    def having(self, parent: int) -> NDArray[np.bool_]:
        """Which sets contain this parent."""
        found = np.zeros(len(self), dtype=bool)
        found[self._owner[self.members == parent]] = True
        return found

    def arc_weights(
        self, support: NDArray[np.int64], x: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Weight of each arc, [parent, child], in a fractional choice."""
        weights = np.zeros((self.n, self.n))
        for number, value in zip(support.tolist(), x.tolist(), strict=True):
            members = self.members[self.offsets[number] : self.offsets[number + 1]]
            weights[members, self.child[number]] += value
        return weights


@dataclass(frozen=True, slots=True)
class Pricing:
    """What multipliers prove about the allowed sets; all in units."""

    bound: int
    reduced: NDArray[np.int64]
    least: NDArray[np.int64]


class Relaxation:
    """Costs in units, the cuts, and their bound."""

    def __init__(
        self, sets: Sets, kernels: _core.BranchAndCutKernels, incumbent_cost: float
    ) -> None:
        self.sets = sets
        self.kernels = kernels
        exponent = max(frexp(incumbent_cost)[1] - _UNIT_BITS, -1000)
        self.exponent = exponent  # one unit is 2**exponent nats
        # Rounded down, less 1/8 of a unit for the rounding of `costs`: for costs up to 2^49 units
        # that rounding is at most 2^-5. Larger costs are cut to 2^49, which is rounding down too.
        scaled = np.ldexp(np.minimum(sets.costs, ldexp(1.0, exponent + 49)), -exponent)
        self.units = np.maximum(np.floor(scaled - 0.125), 0.0).astype(np.int64)
        self.lp_costs = np.ldexp(self.units.astype(np.float64), -LP_BITS)
        self.cuts: list[Cut | OrderCut] = []
        self._right: list[int] = []

    @property
    def rounding(self) -> int:
        """Units that rounding down can take off the cost of a choice."""
        return 2 * self.sets.n

    def nats(self, units: int) -> float:
        """Units in nats."""
        return ldexp(float(units), self.exponent)

    def cost_units(self, choice: NDArray[np.int64]) -> int:
        """Cost of a choice of one set per child."""
        return int(self.units[choice].sum())

    def add(self, cut: Cut | OrderCut) -> int:
        """Take in a cut; returns its number."""
        if isinstance(cut, OrderCut):
            number = self.kernels.add_order_cut(cut.members, list(chain(*cut.gains)), cut.most)
        elif cut.halved:
            number = self.kernels.add_halved([(list(m), k) for m, k in cut.terms], cut.equations)
        else:
            members, k = cut.terms[0]
            number = self.kernels.add_cluster(list(members), k)
        self.cuts.append(cut)
        self._right.append(cut.right_side)
        return number

    def multipliers(self, cuts: Sequence[int], duals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Duals of linear programs as multipliers: whole units, never negative, one per cut."""
        result = np.zeros(len(self.cuts), dtype=np.int64)
        clipped = np.clip(np.nan_to_num(duals), 0.0, 2.0**16)
        result[np.asarray(cuts, dtype=np.int64)] = np.floor(np.ldexp(clipped, LP_BITS))
        # Coefficients are below 2^5: sums stay below 2^61. A proof may use any multipliers >= 0.
        while sum(result.tolist()) >= 2**56:
            result //= 2
        return result

    def price(self, multipliers: NDArray[np.int64], allowed: NDArray[np.bool_]) -> Pricing:
        """Bound the cost over the allowed sets; the reduced cost of the others is 2^60."""
        reduced = np.empty(len(self.sets), dtype=np.int64)
        younger = len(self.cuts) - len(multipliers)  # cuts that came later: multiplier 0
        multipliers = np.pad(multipliers, (0, younger))
        self.kernels.reduce(self.units, multipliers, allowed, reduced)
        least = np.minimum.reduceat(reduced, self.sets.begin[:-1])
        if (least == _FORBIDDEN).any():
            return Pricing(int(_FORBIDDEN), reduced, least)
        used = np.flatnonzero(multipliers).tolist()
        paid = sum(int(multipliers[c]) * self._right[c] for c in used)
        return Pricing(paid + sum(least.tolist()), reduced, least)

    def fixed_at_zero(self, pricing: Pricing, cutoff: int) -> NDArray[np.bool_]:
        """Mark the sets that no choice below the cutoff has (reduced-cost fixing)."""
        slack = cutoff - pricing.bound
        return (pricing.reduced - pricing.least[self.sets.child]) >= slack
