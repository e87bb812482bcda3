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

from bestdag.errors import InvalidParameterError, require_choice
from bestdag.machine import require_memory, thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.components import Component, Solution, decompose
from bestdag.search.exact.dp.component import DpCertificate, DpComponent
from bestdag.search.exact.dp.gpu import Gpu
from bestdag.search.exact.dp.plan import (
    MAX_VARIABLES,
    Forecast,
    Precision,
    cell_bytes,
    forecast,
)
from bestdag.search.result import Status
from bestdag.wording import arg, by_reader

__all__ = ["MAX_VARIABLES", "Forecast", "Precision", "forecast", "solve_dp"]

# A proof that leaves no more than this share of the score open is as good as an exact one.
_RELATIVE_RESOLUTION = 1e-9
# Rounds of the search for an incumbent: milliseconds, little beside the proof.
_FEW_ROUNDS, _MANY_ROUNDS = 30, 300
_MANY_VARIABLES = 26
# Work that takes more seconds than this is announced.
_LONG = 10.0


def solve_dp(
    table: ScoreTable,
    *,
    threads: int | None = None,
    deadline: float | None = None,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
    precision: Precision = "auto",
    gpu: Gpu | None = None,
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
    tell : callable, optional
        Called with a line of text before work that takes long, saying how long, and at the
        beginning of each run of several.
    precision : {"auto", "single", "double"}
        Cells of 4 bytes, or of 8 bytes with a unit 2^20 times smaller, twice the memory and
        three times the time: that decides between choices that are closer than the resolution.
        "auto" takes 8 bytes up to 16 variables. Above, it takes 4 bytes and compares the choices
        that are too close in units as small as those of 8. Where there are too many of them, and
        rounding may hide one that is better by 1e-9 of the score or more, it solves once more in
        8 bytes if the forecasts of memory and time say that there is room for it.
    gpu : Gpu, optional
        Where cells of 4 bytes are kept and computed (`find_gpu`); those of 8 bytes stay here.

    Returns
    -------
    Solution
        With status "time limit" or "interrupted" (Ctrl-C), the choice of a quick order search
        where the proof is missing, and as bound the sum of the best scores there. Ctrl-C while
        choices that are too close are compared keeps the proof that there is.

    Raises
    ------
    NotEnoughMemoryError
        Even with many ordered pairs the cells would take more than four fifths of the memory that
        is available, or more than the memory limit.
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
    _require_room(parts[-1], n_threads, precision, gpu)
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
            cell = cell_bytes(problem.n, precision)
            needed = _needed(problem.n, len(problem.masks), n_threads, precision, gpu)
            watch = _Runs(needed, share.of(i), _teller(problem, needed, tell))
            try:
                problems[i] = problem.solved(
                    cell,
                    n_threads,
                    deadline,
                    watch.callback,
                    decide=precision == "auto" and cell == 4,
                    gpu=gpu,
                )
                if problems[i].was_interrupted:
                    status = "interrupted"
                elif precision == "auto" and _is_worth_double(problems[i], n_threads, deadline):
                    problems[i] = problems[i].solved(8, n_threads, deadline, None)
            except KeyboardInterrupt:
                status = "interrupted"
        if problems[i].proof is None and status == "optimum proved":
            status = "time limit"
    name = "dp" if gpu is None else "gpu"
    return _result(table, problems, status, time.monotonic() - start, name)


def _rounds(part: Component, deadline: float | None) -> int:
    if deadline is not None and time.monotonic() >= deadline:
        return 0
    return _MANY_ROUNDS if len(part.variables) > _MANY_VARIABLES else _FEW_ROUNDS


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
    return needed.has_room and not needed.n_pairs and needed.seconds <= left


def _needed(n: int, n_sets: int, threads: int, precision: Precision, gpu: Gpu | None) -> Forecast:
    if gpu is not None and cell_bytes(n, precision) == 4:
        return gpu.forecast(n, n_sets)
    return forecast(n, n_sets=n_sets, threads=threads, precision=precision)


def _require_room(largest: Component, threads: int, precision: Precision, gpu: Gpu | None) -> None:
    n = len(largest.variables)
    if n > MAX_VARIABLES:
        raise InvalidParameterError(
            f"dp: at most {MAX_VARIABLES} variables that depend on each other, got {n}; use "
            f"{arg('engine', 'bnc')}"
        )
    needed = _needed(n, largest.table.n_sets, threads, precision, gpu)
    if gpu is not None and cell_bytes(n, precision) == 4:
        gpu.require_room(n, needed)
        return
    what = f"dynamic programming over the subsets of {n} variables"
    half = "precision='single' or " if cell_bytes(n, precision) == 8 else ""
    remedy = f"use {by_reader(half, '')}{arg('engine', 'bnc')}"
    require_memory("dp", what, needed.n_bytes, remedy)


def _teller(
    problem: DpComponent, needed: Forecast, tell: Callable[[str], None] | None
) -> Callable[[str], None] | None:
    """Say what is about to begin, where it takes long; None where nobody is told anything."""
    if tell is None or (needed.seconds < _LONG and not needed.n_pairs):
        return None
    tell(f"dynamic programming over {problem.n} variables, {needed}")
    return tell


class _Runs:
    """Tells of each run as it begins, beside the share of the work."""

    def __init__(
        self,
        needed: Forecast,
        progress: Callable[[float], None] | None,
        tell: Callable[[str], None] | None,
    ) -> None:
        self._n_runs = 2**needed.n_pairs
        self._progress = progress
        self._tell = tell if self._n_runs > 1 else None
        self._run = 0
        self.callback = None if progress is None and self._tell is None else self._report

    def _report(self, share: float) -> None:
        run = min(int(share * self._n_runs) + 1, self._n_runs)
        if self._tell is not None and run != self._run:
            self._run = run
            self._tell(f"dynamic programming: run {run:,} of {self._n_runs:,}")
        if self._progress is not None:
            self._progress(share)


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
    table: ScoreTable, problems: list[DpComponent], status: Status, seconds: float, name: str
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
        engines=(name,),
        proofs=(certificate,) if is_proved else (),
        n_nodes=sum(proof.visited for proof in proofs),
        seconds=seconds,
        was_interrupted=status == "interrupted",
    )
