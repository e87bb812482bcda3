"""Engine ``dp``: dynamic programming over all subsets of the variables.

With costs c = (best score of the child) - score >= 0,

    R(S) = min over v in S of R(S minus v) + best_v(S minus v),    R of the empty set = 0,

where best_v(S) is the least cost of a candidate set of v inside S; R of all variables is the cost
of an optimum. The recursion is native; this file turns scores into whole numbers and back, and
says what the answer is worth.

Arithmetic. Costs are rounded down to whole units and clipped at ``limit``, one unit more than the
incumbent: what costs more cannot matter. All sums are then exact. The unit is as small as the
cells allow: the incumbent's cost over 2^31 in cells of 4 bytes (1e-7 nats when the incumbent is
200 nats below the sum of the best scores), over 2^51 in cells of 8.

Resolution. Let Q(G) be the cost of an acyclic choice G in units after rounding, n the number of
variables. Rounding down gives Q(G) u <= cost(G) < (Q(G) + n) u. The choice G* that is returned has
the least Q, so for every G

    cost(G*) < (Q(G*) + n) u <= (Q(G) + n) u <= cost(G) + n u.

The double precision arithmetic before the rounding (a difference and a quotient) adds at most half
a unit on either side, so no acyclic choice beats G* by more than n + 1 units.

References
----------
Silander, T. and Myllymäki, P. (2006). A simple approach for finding the globally optimal Bayesian
network structure. UAI, 445-452.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import GraphError, InvalidParameterError, require_choice
from bestdag.machine import require_memory, thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.components import Component, decompose
from bestdag.search.exact.engine import EngineResult, Status

__all__ = ["ComponentProof", "DpCertificate", "Forecast", "Precision", "forecast", "solve_dp"]

Precision = Literal["auto", "single", "double"]

_MAX_VARIABLES = 40  # the native limit: 4 TiB
_MAX_VARIABLES_DOUBLE = 24  # up to here cells of 8 bytes cost a fraction of a second
_MAX_LIMIT = {4: 2.0**31 - 1, 8: 2.0**51 - 1}  # the sum of two costs fits in a cell
_NANOSECONDS = {4: 10.0, 8: 20.0}  # per subset and thread, measured with thousands of sets
_CLIMBS = 10  # restarts of the search for an incumbent: milliseconds


class Forecast(NamedTuple):
    """What solving takes: bytes of memory, and seconds (within a factor of about two)."""

    n_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ComponentProof:
    """What the dynamic program did for one component.

    Attributes
    ----------
    variables : tuple of int
        Numbers in the table.
    cell_bytes : int
        4 or 8; 0 when every child gets its best set and there was nothing to search.
    unit : float
        One unit of the whole-number costs, in nats.
    limit : float
        Where costs were clipped, in units: one more than the incumbent.
    value : float
        The least cost of all acyclic choices, in units.
    resolution : float
        n + 1 units, in nats; 0 when there was nothing to search.
    """

    variables: tuple[int, ...]
    cell_bytes: int
    unit: float
    limit: float
    value: float
    resolution: float


@dataclass(frozen=True, slots=True)
class DpCertificate:
    """The proof in brief: which cells, units and values each component was solved with."""

    components: tuple[ComponentProof, ...]

    @property
    def resolution(self) -> float:
        """What rounding can hide, in nats: the sum over the components."""
        return math.fsum(component.resolution for component in self.components)


def forecast(
    n: int, *, n_sets: int = 0, threads: int | None = None, precision: Precision = "auto"
) -> Forecast:
    """Say what a problem of n variables that depend on each other takes.

    Parameters
    ----------
    n : int
        Number of variables.
    n_sets : int, default 0
        Number of candidate sets; they matter little.
    threads : int, optional
        One per processor unless given.
    precision : {"auto", "single", "double"}
        As in `solve_dp`.

    Examples
    --------
    >>> forecast(32, threads=1).n_bytes >= 2**32 * 4
    True
    """
    cell = _cell_bytes(n, precision)
    n_threads = thread_count(threads, who="dp")
    if n > _MAX_VARIABLES:
        return Forecast(cell << n, math.inf)
    n_bytes = int(_core.subset_bytes(n, n_sets, n_threads, cell))
    return Forecast(n_bytes, 1e-9 * _NANOSECONDS[cell] * 2.0**n / n_threads)


def solve_dp(
    table: ScoreTable,
    *,
    threads: int | None = None,
    deadline: float | None = None,
    progress: Callable[[float], None] | None = None,
    precision: Precision = "auto",
) -> EngineResult:
    """Find a best acyclic choice of one candidate set per child, and prove it.

    Parameters
    ----------
    table : ScoreTable
        Any table; what counts is the size of its largest component (see `decompose`).
    threads : int, optional
        One per processor unless given; the result does not depend on it.
    deadline : float, optional
        A value of `time.monotonic` to stop at.
    progress : callable, optional
        Called about every 20 ms with the share of the work done, from 0 to 1.
    precision : {"auto", "single", "double"}
        Cells of 4 bytes, or of 8 bytes with a unit 2^20 times smaller and twice the memory and
        time: that decides between choices that are closer than the resolution. "auto" takes
        8 bytes up to 24 variables.

    Returns
    -------
    EngineResult
        With status "time limit" or "interrupted" (Ctrl-C), the choice of a quick order search
        where the proof is missing, and as bound the sum of the best scores there.

    Raises
    ------
    NotEnoughMemoryError
        The cells would take more than four fifths of the memory that is available.
    InvalidParameterError
        More than 40 variables depend on each other.
    GraphError
        No acyclic choice exists.

    Examples
    --------
    >>> table = ScoreTable.from_lists(
    ...     ["rain", "wet"],
    ...     {"rain": [(-2.0, ["wet"]), (-2.5, [])], "wet": [(-3.25, ["rain"]), (-4.0, [])]},
    ... )
    >>> result = solve_dp(table)
    >>> result.status, result.score, result.parents
    ('optimum proved', -5.75, [1, 0])
    """
    start = time.monotonic()
    require_choice("dp", "precision", precision, ("auto", "single", "double"))
    n_threads = thread_count(threads, who="dp")
    parts = sorted(decompose(table), key=lambda part: len(part.variables))
    _require_room(parts[-1], n_threads, precision)
    status: Status = "optimum proved"
    problems = []
    for part in parts:
        try:
            problems.append(_Problem.of(part, 0 if _is_over(deadline) else _CLIMBS))
        except KeyboardInterrupt:
            status = "interrupted"
            problems.append(_Problem.of(part, 0))
    share = _Shares(problems, progress)
    for i, problem in enumerate(problems):
        if status == "optimum proved":
            cell = _cell_bytes(len(problem.first) - 1, precision)
            try:
                problems[i] = problem.solved(cell, n_threads, deadline, share.of(i))
            except KeyboardInterrupt:
                status = "interrupted"
        if problems[i].proof is None and status == "optimum proved":
            status = "time limit"
    return _result(table, problems, status, time.monotonic() - start)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _cell_bytes(n: int, precision: Precision) -> int:
    if precision == "auto":
        return 8 if n <= _MAX_VARIABLES_DOUBLE else 4
    return 8 if precision == "double" else 4


def _require_room(largest: Component, threads: int, precision: Precision) -> None:
    n = len(largest.variables)
    if n > _MAX_VARIABLES:
        raise InvalidParameterError(
            f"dp: at most {_MAX_VARIABLES} variables that depend on each other, got {n}; "
            "use engine='bnc'"
        )
    needed = forecast(n, n_sets=largest.table.n_sets, threads=threads, precision=precision)
    what = f"dynamic programming over the subsets of {n} variables"
    require_memory("dp", what, needed.n_bytes, "use engine='bnc'")


class _Shares:
    """Turns the progress of one component into the progress of all."""

    def __init__(
        self, problems: list[_Problem], progress: Callable[[float], None] | None
    ) -> None:
        self._work = [2.0 ** (len(problem.first) - 1) for problem in problems]
        self._progress = progress

    def of(self, i: int) -> Callable[[float], None] | None:
        progress = self._progress
        if progress is None:
            return None
        total = math.fsum(self._work)
        done, mine = math.fsum(self._work[:i]), self._work[i]
        return lambda share: progress((done + share * mine) / total)


@dataclass(frozen=True, eq=False)
class _Problem:
    """One component: its sets as masks, an acyclic choice, and a proof when there is one."""

    part: Component
    first: npt.NDArray[np.int64]  # where the sets of each child begin
    masks: npt.NDArray[np.uint64]
    scores: npt.NDArray[np.float64]
    costs: npt.NDArray[np.float64]  # nats, ascending for each child
    chosen: npt.NDArray[np.int64]  # positions among the child's sets
    proof: ComponentProof | None = None

    @classmethod
    def of(cls, part: Component, climbs: int) -> _Problem:
        """Collect a component's sets and find an incumbent."""
        children = [part.table.child(i) for i in range(len(part.variables))]
        first = np.zeros(len(children) + 1, np.int64)
        np.cumsum([len(child) for child in children], out=first[1:])
        masks = np.zeros(first[-1], np.uint64)
        for i, child in enumerate(children):
            _core.parent_masks(child.offsets, child.members, masks[first[i] : first[i + 1]])
        scores = np.concatenate([child.scores for child in children])
        with np.errstate(over="ignore"):
            costs = np.repeat(scores[first[:-1]], np.diff(first)) - scores
        if not np.isfinite(costs).all():
            raise InvalidParameterError(
                "dp: the scores of a child differ by more than a number can hold"
            )
        chosen = np.zeros(len(children), np.int64)
        if not _core.climb_orders(first, masks, costs, climbs, chosen):
            names = ", ".join(part.table.names[:5]) + (", ..." if len(children) > 5 else "")
            raise GraphError(
                f"dp: every choice of candidate parent sets closes a cycle among {names}; "
                "the table needs more sets, the empty ones for example"
            )
        return cls(part, first, masks, scores, costs, chosen)

    def score_of(self, chosen: npt.NDArray[np.int64]) -> float:
        return math.fsum(self.scores[self.first[:-1] + chosen].tolist())

    def best_scores(self) -> float:
        """Sum of the best scores: nothing is better."""
        return math.fsum(self.scores[self.first[:-1]].tolist())

    def solved(
        self,
        cell: int,
        threads: int,
        deadline: float | None,
        progress: Callable[[float], None] | None,
    ) -> _Problem:
        """Return the problem with an optimum and its proof, or as it is when time runs out."""
        incumbent = self.costs[self.first[:-1] + self.chosen]
        total, n = math.fsum(incumbent.tolist()), len(incumbent)
        variables = self.part.variables
        if total == 0:
            return replace(self, proof=ComponentProof(variables, 0, 0.0, 0.0, 0.0, 0.0))
        seconds = math.inf if deadline is None else deadline - time.monotonic()
        if seconds <= 0:
            return self
        # n + 2 units of room: rounding must not lift the incumbent's sum above the limit.
        unit = max(total / (_MAX_LIMIT[cell] - n - 2), float(np.finfo(np.float64).tiny))
        limit = math.fsum(np.floor(incumbent / unit).tolist()) + 1
        with np.errstate(over="ignore"):
            units = np.minimum(np.floor(self.costs / unit), limit)
        chosen = np.zeros(n, np.int64)
        value = _core.best_by_subsets(
            self.first, self.masks, units, limit, cell, threads, seconds, progress, chosen
        )
        if value is None:
            return self
        # The incumbent may be better by a part of the resolution.
        if self.score_of(self.chosen) >= self.score_of(chosen):
            chosen = self.chosen
        proof = ComponentProof(variables, cell, unit, limit, value, (n + 1) * unit)
        return replace(self, chosen=chosen, proof=proof)


def _result(
    table: ScoreTable, problems: list[_Problem], status: Status, seconds: float
) -> EngineResult:
    parents = [0] * len(table.names)
    for problem in problems:
        for v, origins, k in zip(
            problem.part.variables, problem.part.origins, problem.chosen.tolist(), strict=True
        ):
            parents[v] = int(origins[k])
    score = math.fsum(float(table.child(v).scores[k]) for v, k in enumerate(parents))
    proofs = [problem.proof for problem in problems if problem.proof is not None]
    proved = len(proofs) == len(problems)
    certificate = DpCertificate(tuple(proofs))
    bound = score
    if not proved:
        parts = [
            problem.best_scores()
            if problem.proof is None
            else problem.score_of(problem.chosen) + problem.proof.resolution
            for problem in problems
        ]
        bound = max(score, math.fsum(parts))
    return EngineResult(
        parents=parents,
        score=score,
        bound=bound,
        proved=proved,
        status=status,
        resolution=certificate.resolution,
        certificate=certificate if proved else None,
        nodes=sum(2 ** len(proof.variables) for proof in proofs if proof.cell_bytes),
        seconds=seconds,
    )
