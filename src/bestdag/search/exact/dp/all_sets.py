"""Dynamic programming over all subsets straight from data: no parent set is listed.

Every set of columns is counted once, and each local score is made from the values of two sets. So
the time is known beforehand, whatever the score prunes, and sets of every size are looked at
(Silander and Myllymäki 2006). It serves the scores that are sums over cells of functions of counts;
`kernels/scoring/every_set.hpp` and `kernels/exact/every_set_dp.hpp` say how.

Arithmetic. Costs are differences to a variable's best score, rounded down to whole units of which
the first structure costs about 2^51, as with cells of 8 bytes in `dp_problem`. A quotient may be
off by a unit; so no structure beats the one returned by more than 2 n + 2 units, and what rounding
does to the scores themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.machine import thread_count
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.limits import ParentLimits, limits_within, with_bonuses
from bestdag.scores.prior import ArcPrior
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.dp.engine import Forecast
from bestdag.search.exact.verification import VerificationError
from bestdag.search.problem import Problem

_Masks = npt.NDArray[np.uint64]
_Reals = npt.NDArray[np.float64]
_Rules = tuple[_Masks, _Masks, npt.NDArray[np.int64], _Reals, _Reals]

__all__ = [
    "WholeProof",
    "WholeResult",
    "can_share_sets",
    "forecast_whole",
    "solve_whole",
    "solve_whole_each",
]

MIN_VARIABLES, MAX_VARIABLES = 6, 30  # fewer are no trouble for any engine; more take too long
_NANOSECONDS_PER_STEP, _NANOSECONDS_PER_CHOICE = 4.0, 12.0  # of one thread
_NANOSECONDS_PER_CODE = 30.0
# Of the time that is left, for the forecast; where it takes more, nothing is proved in time.
_SHARE_TO_LOOK = 0.05
_MAX_LIMIT = 2.0**51 - 1
_EPSILON = 2.0**-50  # four roundings of a double
# With more variables the values of all sets by several scores at once take much memory.
_MOST_SHARED = 16
# Beyond this a check by scoring every family takes hours.
_MOST_VERIFIED = 20


@dataclass(frozen=True, slots=True, eq=False)
class WholeResult:
    """A structure, the sum of the best local scores, and a proof when there was time for one."""

    dag: Dag
    score: float
    best_scores: float | None  # their sum: nothing scores more
    proof: WholeProof | None


def forecast_whole(problem: Problem) -> Forecast | None:
    """Say what solving takes; None where the score, the prior or the sizes do not allow it."""
    n = len(problem.names)
    scorer = problem.scores
    if isinstance(scorer, ScoreTable) or not MIN_VARIABLES <= n <= MAX_VARIABLES:
        return None
    nodes = problem.nodes
    if nodes.required_edges or nodes.has_ancestral:
        return None
    limits, native = _limits(problem, scorer), scorer.native
    if (
        limits is None
        or native is None
        or _looking_takes(scorer) > _SHARE_TO_LOOK * problem.seconds_left
    ):
        return None
    needed = native.forecast_every_set(leave_out=_may_leave_out(limits))
    if needed is None:
        return None
    n_bytes, steps = needed
    work = _NANOSECONDS_PER_STEP * steps + _NANOSECONDS_PER_CHOICE * n * 2.0**n
    return Forecast(int(n_bytes), 1e-9 * work / thread_count(problem.threads, who="exact"))


def _looking_takes(scorer: LocalScores) -> float:
    """Seconds to bring the rows into order, which a forecast does."""
    return 1e-9 * _NANOSECONDS_PER_CODE * scorer.n_rows * len(scorer.names)


def solve_whole(
    problem: Problem, incumbent: Dag, *, progress: Callable[[float], None] | None = None
) -> WholeResult:
    """Find a best structure and prove it; for problems whose forecast is not None and has room.

    Parameters
    ----------
    problem : Problem
    incumbent : Dag
        A structure that obeys the knowledge. It is returned when time runs out; how good it is
        matters for the unit of the arithmetic alone.
    progress : callable, optional
        Called with the share of the work done.

    Raises
    ------
    KeyboardInterrupt
        Within a tenth of a second of Ctrl-C.
    """
    run = _Run(problem, problem.scorer("exact"), progress)
    if not _Run.count([run], _share(progress, 0.0, 0.8)):
        return run.unproved(incumbent)
    return run.result(incumbent)


def can_share_sets(problem: Problem) -> bool:
    """Whether `solve_whole_each` takes a problem: few variables, a score of the right form."""
    scorer, nodes = problem.scores, problem.nodes
    if isinstance(scorer, ScoreTable) or not 4 <= len(problem.names) <= _MOST_SHARED:
        return False
    native = scorer.native
    if native is None or nodes.required_edges or nodes.has_ancestral:
        return False
    return native.has_set_form() and _limits(problem, scorer) is not None


def solve_whole_each(problems: Sequence[Problem]) -> list[WholeResult]:
    """Solve problems that differ in the score alone: every set is counted once for all of them.

    Their scorers share their counts (`Scorer.by`), and `can_share_sets` holds for each.
    """
    runs = [_Run(problem, problem.scorer("exact"), None) for problem in problems]
    firsts = [problem.feasible_dag("exact") for problem in problems]
    if not _Run.count(runs, None):
        return [run.unproved(first) for run, first in zip(runs, firsts, strict=True)]
    return [run.result(first) for run, first in zip(runs, firsts, strict=True)]


class _Run:
    """The native program with the problem's limits and its clock."""

    def __init__(
        self, problem: Problem, scorer: LocalScores, progress: Callable[[float], None] | None
    ) -> None:
        self._problem = problem
        self._scorer = scorer
        self._names = problem.names
        self._threads = thread_count(problem.threads, who="exact")
        assert scorer.native is not None
        self._sets = scorer.native.every_set()
        limits = _limits(problem, scorer)
        assert limits is not None
        self.limits = limits
        self._progress = progress
        self._program: _core.EverySetProgram

    @staticmethod
    def count(runs: Sequence[_Run], progress: Callable[[float], None] | None) -> bool:
        """Count every set, for all runs at once; False when out of time."""
        return _core.compute_every_set(
            [run._sets for run in runs],
            all(_may_leave_out(run.limits) for run in runs),
            runs[0]._threads,
            min(run._problem.seconds_left for run in runs),
            progress,
        )

    def unproved(self, incumbent: Dag) -> WholeResult:
        """Return what was there before."""
        return WholeResult(incumbent, self._scorer.total(incumbent), None, None)

    def result(self, incumbent: Dag) -> WholeResult:
        """Find a best structure, once the sets are counted."""
        scorer, n = self._scorer, len(self._names)
        best = self._best_scores()
        if best is None:
            return self.unproved(incumbent)
        total = _sum_up(best)
        found = self._solve(best, incumbent)
        if found is None:
            return WholeResult(incumbent, scorer.total(incumbent), total, None)
        dag, units, unit = found
        value = scorer.total(dag)
        resolution = (2 * n + 2) * unit + n * _EPSILON * (abs(value) + _size_of_terms(scorer))
        proof = WholeProof(dag, value, resolution, unit, units, scorer, self.limits)
        return WholeResult(dag, value, max(total, value), proof)

    def _best_scores(self) -> npt.NDArray[np.float64] | None:
        """Find each variable's best score; None when out of time."""
        self._program = _core.EverySetProgram(self._sets, *_rules(self.limits))
        best = np.empty(len(self._names))
        if not self._program.best_scores(self._threads, self._problem.seconds_left, best):
            return None
        return best

    def _solve(
        self, best: npt.NDArray[np.float64], incumbent: Dag
    ) -> tuple[Dag, float, float] | None:
        """Return an optimal structure, its cost in units, and the unit in nats."""
        n, families = len(best), incumbent.families
        costs = [
            self._cost(float(best[v]), v, _mask(self._names, families[name]))
            for v, name in enumerate(self._names)
        ]
        cost = math.fsum(costs)
        unit = max(cost / (_MAX_LIMIT - 4 * n - 8), float(np.finfo(np.float64).tiny))
        limit = math.fsum(math.floor(c / unit) for c in costs) + 2 * n + 4
        parents = np.zeros(n, np.uint64)
        units = self._program.solve(
            best,
            unit,
            limit,
            self._threads,
            self._problem.seconds_left,
            _share(self._progress, 0.8, 1.0),
            parents,
        )
        if units is None:
            return None
        if math.isinf(units):
            raise AssertionError("exact: the first structure was lost; please report this")
        names = self._names
        chosen = {
            name: [p for k, p in enumerate(names) if int(parents[v]) >> k & 1]
            for v, name in enumerate(names)
        }
        return Dag.from_parents(chosen), units, unit

    def _cost(self, best: float, child: int, parents: int) -> float:
        """Cost of a family; of one that was left out, the cost of no parents, which is less."""
        score = self._program.score(child, parents)
        return max(0.0, best - (score if score > -math.inf else self._program.score(child, 0)))


@dataclass(frozen=True, slots=True, eq=False)
class WholeProof:
    """What was proven, and what a check by other means needs.

    Attributes
    ----------
    dag, score
        The structure, and its score.
    resolution : float
        What the arithmetic can hide, in nats.
    unit, value : float
        A unit of the whole-number costs in nats, and the least cost of all structures in units.
    """

    dag: Dag
    score: float
    resolution: float
    unit: float
    value: float
    scorer: LocalScores = field(repr=False)
    limits: list[ParentLimits] = field(repr=False)

    @property
    def slack(self) -> float:
        """How much more a structure may score when each family is scored on its own."""
        return self.resolution + len(self.limits) * _EPSILON * _size_of_terms(self.scorer)

    def verify(self) -> None:
        """Score every family on its own and solve again, in Python and by another recursion."""
        names = list(self.scorer.names)
        n = len(names)
        if n > _MOST_VERIFIED:
            raise InvalidParameterError(
                f"verify: a proof over all parent sets is checked for up to {_MOST_VERIFIED} "
                f"variables, got {n}"
            )
        best = _best_score(self.scorer, self.limits)
        if best > self.score + self.slack:
            raise VerificationError(
                f"verify: a structure scores {best!r}, more than {self.score!r}"
            )


def _best_score(scorer: LocalScores, limits: list[ParentLimits]) -> float:
    """Best score of all structures, from the scores of all families."""
    n = len(limits)
    families = scorer.all_families(n - 1)
    sets = np.arange(1 << (n - 1))
    sizes = _popcount(sets)
    by_size = np.argsort(sizes, kind="stable")  # the order in which families are listed
    inside = []
    for v, name in enumerate(scorer.names):
        local = np.empty(len(sets))
        local[by_size] = families[name]
        local[~_allowed(limits[v], v, sets, sizes)] = -math.inf
        for bit in range(n - 1):  # the best of all subsets
            pairs = local.reshape(-1, 2, 1 << bit)
            np.maximum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        inside.append(local)
    best = np.full(1 << n, -math.inf)
    best[0] = 0.0
    subsets = np.arange(1 << n)
    counts = _popcount(subsets)
    for size in range(1, n + 1):
        layer = subsets[counts == size]
        for v in range(n):
            mine = layer[layer >> v & 1 == 1]
            rest = mine ^ (1 << v)
            others = (rest & ((1 << v) - 1)) | (rest >> (v + 1) << v)
            best[mine] = np.maximum(best[mine], best[rest] + inside[v][others])
    return float(best[-1])


def _allowed(
    limit: ParentLimits, child: int, sets: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which sets of the other variables may be parents."""

    def mask(numbers: Sequence[int]) -> int:
        return sum(1 << (p - (p > child)) for p in numbers)

    required = mask(limit.required)
    outside = ~(required | mask(limit.allowed.tolist()))
    allowed: npt.NDArray[np.bool_] = (
        (sets & outside == 0) & (sets & required == required) & (sizes <= limit.max_parents)
    )
    return allowed


def _popcount(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    counts = np.zeros(len(numbers), np.int64)
    left = numbers.copy()
    while left.any():
        counts += left & 1
        left >>= 1
    return counts


def _limits(problem: Problem, scorer: LocalScores) -> list[ParentLimits] | None:
    """Return what the parents of each variable may be; None where the prior is no sum over arcs."""
    prior = scorer.structure_prior
    if prior is not None and not isinstance(prior, ArcPrior):
        return None
    return with_bonuses(limits_within(problem.nodes, len(problem.names)), problem.names, prior)


def _may_leave_out(limits: list[ParentLimits]) -> bool:
    """Whether each variable may be without parents, and no parent adds to the scores."""
    return not any(limit.required or (limit.bonuses > 0).any() for limit in limits)


def _rules(limits: list[ParentLimits]) -> _Rules:
    """Limits as arrays: masks of required and allowed, most parents, and the prior's terms."""
    n = len(limits)
    bonuses = np.zeros((n, n))
    for v, limit in enumerate(limits):
        if len(limit.bonuses):
            bonuses[v, limit.allowed] = limit.bonuses
    return (
        np.array([sum(1 << p for p in limit.required) for limit in limits], np.uint64),
        np.array([sum(1 << p for p in limit.allowed.tolist()) for limit in limits], np.uint64),
        np.array([limit.max_parents for limit in limits], np.int64),
        np.array([limit.bonus for limit in limits], np.float64),
        bonuses if bonuses.any() else np.zeros((0, 0)),
    )


def _mask(names: tuple[str, ...], parents: tuple[str, ...]) -> int:
    return sum(1 << k for k, name in enumerate(names) if name in parents)


def _sum_up(values: npt.NDArray[np.float64]) -> float:
    return math.nextafter(math.fsum(values.tolist()), math.inf)


def _size_of_terms(scorer: LocalScores) -> float:
    """How large the values of sets are whose differences the scores are."""
    total = float(scorer.total_weight or 1.0)
    return total * math.log(total + 2.0)


def _share(
    progress: Callable[[float], None] | None, begin: float, end: float
) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress(begin + share * (end - begin))
