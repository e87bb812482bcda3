"""One component as the engine ``dp`` sees it: scores as whole numbers, and what that is worth.

Arithmetic. Costs are rounded down to whole units and clipped at ``limit``, n + 2 units above the
incumbent: what costs more cannot matter. All sums are then exact. The unit is as small as the
cells allow: the incumbent's cost over 2^31 in cells of 4 bytes (1e-7 nats when the incumbent is
200 nats below the sum of the best scores), over 2^51 in cells of 8.

Resolution. Let Q(G) be the cost of an acyclic choice G in units after rounding, n the number of
variables. Rounding down gives Q(G) u <= cost(G) < (Q(G) + n) u. The choice G* that is returned has
the least Q, so for every G

    cost(G*) < (Q(G*) + n) u <= (Q(G) + n) u <= cost(G) + n u.

The double precision arithmetic before the rounding (a difference and a quotient) adds at most half
a unit on either side, so no acyclic choice beats G* by more than n + 1 units. Often it is less: G
costs at least Q(G*) u, so what rounding took off G* is all that it can hide, and a unit for the
arithmetic.

Rivals. So whatever is better than G* costs at most n + 1 units more than G* after rounding. In
cells of 4 bytes the choices that close to the optimum are compared once more, in the units of
cells of 8 bytes (`kernels/exact/subset_descent.hpp`); the proof is then worth the same as with
those.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import GraphError, InvalidParameterError
from bestdag.machine import memory_left
from bestdag.search.exact.bnc.relaxation import Sets
from bestdag.search.exact.components import Component
from bestdag.search.exact.dp.gpu import Gpu, GpuCells
from bestdag.search.exact.dp.plan import plan_for

__all__ = ["DpCertificate", "DpComponent", "SubsetProof"]

_MAX_LIMIT = {4: 2.0**31 - 1, 8: 2.0**51 - 1}  # the sum of two costs fits in a cell


@dataclass(frozen=True, slots=True)
class SubsetProof:
    """What the dynamic program did for one component.

    Attributes
    ----------
    variables : tuple of int
        Numbers in the table.
    cell_bytes : int
        4 or 8; 0 when every child gets its best set and there was nothing to search.
    unit : float
        One unit of the whole-number costs that decided, in nats.
    limit : float
        Where costs were clipped, in units.
    value : float
        The least cost of all acyclic choices, in units.
    resolution : float
        What rounding can hide, in nats: at most n + 1 units; 0 when there was nothing to search.
    visited : int
        Subsets whose value was computed, over all runs; 2^n when all were in memory at once and
        nothing was known about the order.
    """

    variables: tuple[int, ...]
    cell_bytes: int
    unit: float
    limit: float
    value: float
    resolution: float
    visited: int = 0

    @property
    def is_fine(self) -> bool:
        """Whether the units are those of cells of 8 bytes, or were not needed."""
        return self.cell_bytes != 4 or self.limit >= 2.0**32


@dataclass(frozen=True, slots=True)
class DpCertificate:
    """The proof in brief: which cells, units and values each component was solved with."""

    components: tuple[SubsetProof, ...]

    @property
    def resolution(self) -> float:
        """What rounding can hide, in nats: the sum over the components."""
        return math.fsum(component.resolution for component in self.components)


@dataclass(frozen=True, eq=False)
class DpComponent:
    """One component: its sets as masks, an acyclic choice, and a proof when there is one."""

    part: Component
    first: npt.NDArray[np.int64]  # where the sets of each child begin
    masks: npt.NDArray[np.uint64]
    scores: npt.NDArray[np.float64]
    costs: npt.NDArray[np.float64]  # nats, ascending for each child
    chosen: npt.NDArray[np.int64]  # positions among the child's sets
    proof: SubsetProof | None = None
    was_interrupted: bool = False  # by Ctrl-C that came when there was an answer already

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.first) - 1

    @classmethod
    def of(cls, part: Component, rounds: int) -> DpComponent:
        """Collect a component's sets and find an incumbent by order search."""
        with np.errstate(over="ignore"):
            sets = Sets(part.table)
        largest = np.maximum.reduceat(np.abs([sets.costs, sets.scores]), sets.begin[:-1], axis=1)
        with np.errstate(over="ignore"):
            sums = largest.sum(axis=1)
        if not np.isfinite(sums).all():
            raise InvalidParameterError(
                "dp: the scores, or their differences, add up to more than a number can hold"
            )
        masks = np.zeros(len(sets), np.uint64)
        _core.parent_masks(sets.offsets, sets.members, masks)
        search = _core.OrderSearch(sets.begin, sets.costs, sets.offsets, sets.members, 0, 1)
        if not search.is_feasible:
            names = ", ".join(part.table.names[:5]) + (", ..." if sets.n > 5 else "")
            raise GraphError(
                f"dp: every choice of candidate parent sets closes a cycle among {names}; "
                "the table needs more sets, the empty ones for example"
            )
        search.descend_from(list(range(sets.n)), math.inf)
        search.improve(rounds, 1, math.inf)
        chosen = np.zeros(sets.n, np.int64)
        search.best(chosen)
        return cls(part, sets.begin, masks, sets.scores, sets.costs, chosen - sets.begin[:-1])

    def score_of(self, chosen: npt.NDArray[np.int64]) -> float:
        """Sum of the chosen sets' scores."""
        return math.fsum(self.scores[self.first[:-1] + chosen].tolist())

    def _exact_score(self, chosen: npt.NDArray[np.int64]) -> Fraction:
        return sum(map(Fraction, self.scores[self.first[:-1] + chosen].tolist()), Fraction())

    def best_scores(self) -> float:
        """Sum of the best scores: nothing is better."""
        return math.fsum(self.scores[self.first[:-1]].tolist())

    def solved(
        self,
        cell: int,
        threads: int,
        deadline: float | None,
        progress: Callable[[float], None] | None,
        *,
        decide: bool = False,
        gpu: Gpu | None = None,
    ) -> DpComponent:
        """Return the problem with an optimum and its proof, or as it is when time runs out.

        When there are several runs, time may run out between them: the best choice of those that
        were done is kept, without a proof. Ctrl-C then, and while rivals are compared, is
        remembered; before, it is raised.

        A problem that has a proof is solved again, which is worth it for larger cells. `decide`
        compares the rivals in finer units where they are few. Cells of 4 bytes are those of
        the GPU, where one is given.
        """
        incumbent = self.costs[self.first[:-1] + self.chosen]
        total, n = math.fsum(incumbent.tolist()), self.n
        variables = self.part.variables
        if total == 0:
            return replace(self, proof=SubsetProof(variables, 0, 0.0, 0.0, 0.0, 0.0))
        seconds = math.inf if deadline is None else deadline - time.monotonic()
        if seconds <= 0:
            return self
        unit, fine_unit = (_unit(total, n, size) for size in (cell, 8))
        limit = math.fsum(np.floor(incumbent / unit).tolist()) + n + 2
        units = _whole(self.costs, unit, limit)
        fine = _whole(self.costs, fine_unit, _MAX_LIMIT[8]) if decide else None
        chosen = np.zeros(n, np.int64)
        given = (self.first, self.masks, units, fine, limit)
        watched = (threads, seconds, progress, chosen)
        if gpu is not None and cell == 4:
            plan = gpu.plan(n, len(self.masks))
            cells = GpuCells(gpu, int(plan.cells))
            found = _core.best_by_engine(*given, plan, cells, *watched)
        else:
            plan = plan_for(n, len(self.masks), threads, cell, memory_left())
            found = _core.best_by_subsets(*given, cell, plan, *watched)
        if found is None:
            return self
        value, fine_value, was_interrupted, is_complete, visited = found
        if value >= limit or value != math.fsum(units[self.first[:-1] + chosen].tolist()):
            raise AssertionError("dp: the recursion and its walk back disagree; please report this")
        if fine_value is not None:
            limit, unit, value = limit * (unit / fine_unit), fine_unit, fine_value
        # The incumbent may be better by a part of the resolution; sums in doubles may not tell.
        if self._exact_score(self.chosen) >= self._exact_score(chosen):
            chosen = self.chosen
        if not is_complete:
            return replace(self, chosen=chosen, was_interrupted=was_interrupted)
        cost = math.fsum(self.costs[self.first[:-1] + chosen].tolist())
        hidden = min(n * unit, max(0.0, cost - value * unit)) + unit
        proof = SubsetProof(variables, cell, unit, limit, value, hidden, int(visited))
        return replace(self, chosen=chosen, proof=proof, was_interrupted=was_interrupted)


def _unit(cost: float, n: int, cell: int) -> float:
    """Return the smallest unit in which the limit above a cost fits, whatever rounding does."""
    return max(cost / (_MAX_LIMIT[cell] - 2 * n - 4), float(np.finfo(np.float64).tiny))


def _whole(costs: npt.NDArray[np.float64], unit: float, limit: float) -> npt.NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.minimum(np.floor(costs / unit), limit)
