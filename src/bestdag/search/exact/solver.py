"""A whole table solved by components, each by the engine that suits it."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.components import Component, decompose
from bestdag.search.exact.dp.engine import MAX_VARIABLES, forecast, solve_dp
from bestdag.search.exact.solution import Solution
from bestdag.search.exact.verification import verify_solution
from bestdag.search.result import Status

__all__ = ["ComponentProof", "EngineChoice", "Solver"]

EngineChoice = Literal["auto", "dp", "bnc"]

# Up to here 2^n steps take about a tenth of a second, and nothing is faster for sure.
_SURELY_DP = 25
# With so many candidate sets linear programs grow slow, and 2^30 steps are the better bet.
_MANY_SETS, _PERHAPS_DP = 5_000, 30
# Otherwise `bnc` gets about as long as `dp` would take on one thread, counted in steps of the
# simplex method, so that the outcome does not depend on the machine.
_PIVOTS_PER_SECOND, _LEAST_PIVOTS = 5_000, 5_000
# The most that is set aside for `dp` of the time that is left.
_SHARE_FOR_DP = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class ComponentProof:
    """What was proven about one component of the problem."""

    component: Component
    result: Solution

    def verify(self) -> None:
        """Check the claim by other means than those that found it."""
        verify_solution(self.component.table, self.result)


class Told(Protocol):
    """Who is told how far the solution of a table is: score and bound of all components."""

    def __call__(self, *, score: float | None, bound: float | None, share: float | None) -> None:
        """Take what is known."""
        ...


class Solver:
    """Solves tables; a component that comes again is not solved again."""

    def __init__(
        self,
        engine: EngineChoice,
        threads: int | None,
        deadline: float | None,
        told: Told | None = None,
    ) -> None:
        self._engine = engine
        self._threads = threads
        self._deadline = deadline
        self._told = told
        self._known: dict[bytes, Solution] = {}
        self.was_interrupted = False  # by Ctrl-C, whatever was proved

    def solve(self, table: ScoreTable, *, stopped: Status | None = None) -> Solution:
        """Find a best acyclic choice; there must be an acyclic one.

        With `stopped`, and once an engine has been stopped, the rest gets no time: engines then
        give their first structure.
        """
        chosen = [0] * len(table.names)
        proofs: list[ComponentProof] = []
        status: Status = stopped or "optimum proved"
        parts = sorted(decompose(table), key=lambda part: len(part.variables))
        for number, part in enumerate(parts):
            is_over = self.was_interrupted or status != "optimum proved"
            heard = None
            if self._told is not None and len(part.variables) > 1:
                heard = _Heard(self._told, proofs, parts[number + 1 :])
            solved = self._solve_part(part, is_over, heard)
            proofs.append(ComponentProof(part, solved))
            for place, variable in enumerate(part.variables):
                chosen[variable] = int(part.origins[place][solved.chosen[place]])
            if status == "optimum proved" and not solved.is_proved:
                status = "interrupted" if self.was_interrupted else solved.status
        score = math.fsum(float(table.child(i).scores[k]) for i, k in enumerate(chosen))
        large = [proof.result for proof in proofs if len(proof.component.variables) > 1]
        return Solution(
            chosen=tuple(chosen),
            score=score,
            bound=max(score, math.fsum(proof.result.bound for proof in proofs)),
            resolution=math.fsum(proof.result.resolution for proof in proofs),
            status=status,
            engines=tuple(sorted({"+".join(result.engines) for result in large})),
            proofs=tuple(proofs),
        )

    def _solve_part(self, part: Component, stopped: bool, heard: _Heard | None) -> Solution:
        if len(part.variables) == 1:
            return _best_set(part.table)
        key = _key(part)
        known = self._known.get(key)
        if known is not None:
            return known
        deadline = time.monotonic() if stopped else self._deadline
        solve = _solve_by_either if self._engine == "auto" else _ENGINES[self._engine]
        solved = solve(part.table, self._threads, deadline, heard)
        self.was_interrupted = self.was_interrupted or solved.was_interrupted
        if solved.is_proved:
            self._known[key] = solved
        return solved


class _Heard:
    """Turns what engines say of one component into what is known of all."""

    def __init__(
        self, told: Told, solved: Sequence[ComponentProof], others: Sequence[Component]
    ) -> None:
        self._told = told
        tables = [other.table for other in others]
        self._score = None if others else math.fsum(proof.result.score for proof in solved)
        self._bound = math.fsum(
            [
                *(proof.result.bound for proof in solved),
                *(float(t.child(i).scores[0]) for t in tables for i in range(t.n_variables)),
            ]
        )

    def bnc(self, score: float, bound: float) -> None:
        """Take the score and the bound of the component."""
        total = None if self._score is None else self._score + score
        self._told(score=total, bound=self._bound + bound, share=None)

    def dp(self, share: float) -> None:
        """Take how much of the work is done."""
        self._told(score=None, bound=None, share=share)


def _best_set(table: ScoreTable) -> Solution:
    """Solve a problem of one variable: nothing is in the way of its best set."""
    score = float(table.child(0).scores[0])
    return Solution(chosen=(0,), score=score, bound=score, status="optimum proved")


def _key(part: Component) -> bytes:
    digest = hashlib.blake2b(repr(part.variables).encode())
    for i in range(len(part.variables)):
        sets = part.table.child(i)
        for array in (sets.offsets, sets.members, sets.scores):
            digest.update(array.tobytes())
    return digest.digest()


def _dp(
    table: ScoreTable, threads: int | None, deadline: float | None, heard: _Heard | None
) -> Solution:
    progress = None if heard is None else heard.dp
    return solve_dp(table, threads=threads, deadline=deadline, progress=progress)


def _bnc(
    table: ScoreTable,
    threads: int | None,
    deadline: float | None,
    heard: _Heard | None,
    max_pivots: float = math.inf,
) -> Solution:
    progress = None if heard is None else heard.bnc
    return solve_bnc(
        table,
        threads=threads or 1,
        deadline=deadline,
        max_pivots=max_pivots,
        progress=progress,
    )


_ENGINES: dict[str, Callable[[ScoreTable, int | None, float | None, _Heard | None], Solution]] = {
    "dp": _dp,
    "bnc": _bnc,
}


def _solve_by_either(
    table: ScoreTable, threads: int | None, deadline: float | None, heard: _Heard | None
) -> Solution:
    """Solve by the engine that is surely good, or by `bnc` first and then by `dp`."""
    n = table.n_variables
    room = n <= MAX_VARIABLES and forecast(n, n_sets=table.n_sets).has_room
    if room and (n <= _SURELY_DP or (n <= _PERHAPS_DP and table.n_sets >= _MANY_SETS)):
        return _dp(table, threads, deadline, heard)
    # Twice the forecast: it is good to a factor of two.
    reserve = 2.0 * forecast(n, threads=threads).seconds
    left = math.inf if deadline is None else deadline - time.monotonic()
    if not room or reserve > _SHARE_FOR_DP * left:
        return _bnc(table, threads, deadline, heard)
    pivots = max(_LEAST_PIVOTS, _PIVOTS_PER_SECOND * forecast(n, threads=1).seconds)
    until = None if deadline is None else deadline - reserve
    first = _bnc(table, None, until, heard, pivots)
    if first.is_proved or first.status == "interrupted":
        return first
    second = _dp(table, threads, deadline, heard)
    return second if second.is_proved else _together(first, second)


def _together(first: Solution, second: Solution) -> Solution:
    """Join what two engines know when neither has proved its structure."""
    best = max(first, second, key=lambda result: result.score)
    bound = min(first.bound + first.resolution, second.bound + second.resolution)
    return replace(
        second,
        chosen=best.chosen,
        score=best.score,
        bound=max(bound, best.score),
        engines=("bnc", "dp"),
        proofs=(),
        seconds=first.seconds + second.seconds,
    )
