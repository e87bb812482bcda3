"""Engine ``dp``: dynamic programming over all subsets of the variables.

With costs c = (best score of the child) - score >= 0,

    R(S) = min over v in S of R(S minus v) + best_v(S minus v),    R of the empty set = 0,

where best_v(S) is the least cost of a candidate set of v inside S; R of all variables is the cost
of an optimum. The recursion is native. Each component of the table is a problem of its own, and
every problem has an incumbent before the first is solved: whatever happens, there is an answer.

References
----------
Silander, T. and Myllymäki, P. (2006). A simple approach for finding the globally optimal Bayesian
network structure. UAI, 445-452.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from bestdag import _core
from bestdag.errors import InvalidParameterError, require_choice
from bestdag.machine import has_memory, require_memory, thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.components import Component, decompose
from bestdag.search.exact.dp.component import DpComponent
from bestdag.search.exact.dp.proof import DpCertificate
from bestdag.search.exact.solution import Solution
from bestdag.search.result import Status

__all__ = ["MAX_VARIABLES", "Forecast", "Precision", "forecast", "solve_dp"]

Precision = Literal["auto", "single", "double"]

MAX_VARIABLES = 40  # the native limit: 4 TiB
_MAX_VARIABLES_DOUBLE = 16  # up to here cells of 8 bytes take half a MiB and a millisecond
_NANOSECONDS = {4: 12.0, 8: 24.0}  # per subset and thread, measured with thousands of sets
# A proof that leaves no more than this share of the score open is as good as an exact one.
_RELATIVE_RESOLUTION = 1e-9
# Rounds of the search for an incumbent: milliseconds, little beside the proof.
_FEW_ROUNDS, _MANY_ROUNDS = 30, 300
_MANY_VARIABLES = 26


class Forecast(NamedTuple):
    """What solving takes: bytes of memory, and seconds (within a factor of about two)."""

    n_bytes: int
    seconds: float

    @property
    def has_room(self) -> bool:
        """Whether the memory that may still be taken suffices."""
        return has_memory("dp", "dynamic programming", self.n_bytes)


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
    if n > MAX_VARIABLES:
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
) -> Solution:
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
        Cells of 4 bytes, or of 8 bytes with a unit 2^20 times smaller, twice the memory and
        three times the time: that decides between choices that are closer than the resolution.
        "auto" takes 8 bytes up to 16 variables. Above, it takes 4 bytes and compares the choices
        that are too close in units as small as those of 8. Where there are too many of them, and
        rounding may hide one that is better by 1e-9 of the score or more, it solves once more in
        8 bytes if the forecasts of memory and time say that there is room for it.

    Returns
    -------
    Solution
        With status "time limit" or "interrupted" (Ctrl-C), the choice of a quick order search
        where the proof is missing, and as bound the sum of the best scores there. Ctrl-C while
        choices that are too close are compared keeps the proof that there is.

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
    >>> result.status, result.score, result.chosen
    ('optimum proved', -5.75, (1, 0))
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
            problems.append(DpComponent.of(part, _rounds(part, deadline)))
        except KeyboardInterrupt:
            status = "interrupted"
            problems.append(DpComponent.of(part, 0))
    share = _Shares(problems, progress)
    for i, problem in enumerate(problems):
        if status == "optimum proved":
            cell = _cell_bytes(problem.n, precision)
            try:
                problems[i] = problem.solved(
                    cell, n_threads, deadline, share.of(i), decide=precision == "auto" and cell == 4
                )
                if problems[i].was_interrupted:
                    status = "interrupted"
                elif precision == "auto" and _is_worth_double(problems[i], n_threads, deadline):
                    problems[i] = problems[i].solved(8, n_threads, deadline, None)
            except KeyboardInterrupt:
                status = "interrupted"
        if problems[i].proof is None and status == "optimum proved":
            status = "time limit"
    return _result(table, problems, status, time.monotonic() - start)


def _rounds(part: Component, deadline: float | None) -> int:
    if deadline is not None and time.monotonic() >= deadline:
        return 0
    return _MANY_ROUNDS if len(part.variables) > _MANY_VARIABLES else _FEW_ROUNDS


def _cell_bytes(n: int, precision: Precision) -> int:
    if precision == "auto":
        return 8 if n <= _MAX_VARIABLES_DOUBLE else 4
    return 8 if precision == "double" else 4


def _is_worth_double(problem: DpComponent, threads: int, deadline: float | None) -> bool:
    """Whether cells of 8 bytes would tell more, and there is memory and time for them."""
    proof = problem.proof
    if proof is None or proof.is_fine:
        return False
    score = problem.score_of(problem.chosen)
    if proof.resolution <= _RELATIVE_RESOLUTION * max(1.0, abs(score)):
        return False
    n_sets = problem.part.table.n_sets
    needed = forecast(problem.n, n_sets=n_sets, threads=threads, precision="double")
    left = math.inf if deadline is None else deadline - time.monotonic()
    return needed.has_room and needed.seconds <= left


def _require_room(largest: Component, threads: int, precision: Precision) -> None:
    n = len(largest.variables)
    if n > MAX_VARIABLES:
        what = f"dp: at most {MAX_VARIABLES} variables that depend on each other, got {n}"
        raise InvalidParameterError(f"{what}; use engine='bnc'").with_option(
            f"{what}; use --engine bnc"
        )
    needed = forecast(n, n_sets=largest.table.n_sets, threads=threads, precision=precision)
    what = f"dynamic programming over the subsets of {n} variables"
    half = "precision='single' or " if _cell_bytes(n, precision) == 8 else ""
    remedy = f"use {half}engine='bnc'"
    require_memory("dp", what, needed.n_bytes, remedy, option="use --engine bnc")


class _Shares:
    """Turns the progress of one component into the progress of all."""

    def __init__(
        self, problems: list[DpComponent], progress: Callable[[float], None] | None
    ) -> None:
        self._work = [2.0**problem.n for problem in problems]
        self._progress = progress

    def of(self, i: int) -> Callable[[float], None] | None:
        progress = self._progress
        if progress is None:
            return None
        total = math.fsum(self._work)
        done, mine = math.fsum(self._work[:i]), self._work[i]
        return lambda share: progress((done + share * mine) / total)


def _result(
    table: ScoreTable, problems: list[DpComponent], status: Status, seconds: float
) -> Solution:
    chosen = [0] * len(table.names)
    for problem in problems:
        for v, origins, k in zip(
            problem.part.variables, problem.part.origins, problem.chosen.tolist(), strict=True
        ):
            chosen[v] = int(origins[k])
    score = math.fsum(float(table.child(v).scores[k]) for v, k in enumerate(chosen))
    proofs = [problem.proof for problem in problems if problem.proof is not None]
    is_proved = len(proofs) == len(problems)
    certificate = DpCertificate(tuple(proofs))
    bound = score
    if not is_proved:
        parts = [
            problem.best_scores()
            if problem.proof is None
            else problem.score_of(problem.chosen) + problem.proof.resolution
            for problem in problems
        ]
        bound = max(score, math.fsum(parts))
    return Solution(
        chosen=tuple(chosen),
        score=score,
        bound=bound,
        status="optimum proved" if is_proved else status,
        resolution=certificate.resolution,
        engines=("dp",),
        proofs=(certificate,) if is_proved else (),
        n_nodes=sum(2 ** len(proof.variables) for proof in proofs if proof.cell_bytes),
        seconds=seconds,
        was_interrupted=status == "interrupted",
    )
