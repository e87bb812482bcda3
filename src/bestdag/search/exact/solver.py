"""A whole table solved by components, each by the engine that suits it."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal, Protocol

from bestdag.checkpoint import RunState
from bestdag.errors import BestdagError, NotEnoughMemoryError
from bestdag.machine import thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.components import Component, Solution, decompose
from bestdag.search.exact.dp.component import DpCertificate
from bestdag.search.exact.dp.engine import MAX_VARIABLES, Forecast, forecast, solve_dp
from bestdag.search.exact.dp.gpu import DeviceError, Gpu, find_gpu
from bestdag.search.exact.verification import verify_solution
from bestdag.search.result import Status

__all__ = ["ComponentProof", "EngineChoice", "Solver"]

EngineChoice = Literal["auto", "dp", "gpu", "bnc"]

# Up to here 2^n steps take about a tenth of a second, and nothing is faster for sure.
_SURELY_DP = 25
# With so many candidate sets linear programs grow slow, and 2^30 steps are the better bet.
_MANY_SETS, _PERHAPS_DP = 5_000, 30
# Otherwise `bnc` gets about as long as `dp` would take on one thread, counted in steps of the
# simplex method, so that the outcome does not depend on the machine.
_PIVOTS_PER_SECOND, _LEAST_PIVOTS = 5_000, 5_000
# Work that takes more seconds than this is begun for those alone who ask for it.
_LONGEST_DP = 3600.0
# Below so many seconds on the processor a GPU is not even looked for.
_WORTH_A_GPU = 10.0
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


@dataclass(frozen=True, slots=True, eq=False)
class SolvedComponent:
    """A solved component as it is saved, with the proof of one engine or the other."""

    solution: Solution
    certificate: Certificate | None
    subsets: DpCertificate | None

    @classmethod
    def of(cls, solved: Solution) -> SolvedComponent:
        """Take the proof out of a solution."""
        (proof,) = solved.proofs
        by_cuts = proof if isinstance(proof, Certificate) else None
        by_subsets = proof if isinstance(proof, DpCertificate) else None
        return cls(replace(solved, proofs=()), by_cuts, by_subsets)

    def whole(self) -> Solution:
        """Return the solution with its proof, which is not checked here."""
        return replace(self.solution, proofs=(self.certificate or self.subsets,))


class Means:
    """With what engines work: threads, and where what they have proved is saved."""

    def __init__(self, threads: int | None, nodes_at_once: int, state: RunState | None) -> None:
        self.threads = threads
        self.nodes_at_once = nodes_at_once
        self.state = RunState() if state is None else state


class Listener(Protocol):
    """Who is told how far the solution of a table is: score and bound of all components."""

    def __call__(
        self,
        *,
        score: float | None = None,
        bound: float | None = None,
        share: float | None = None,
        detail: str | None = None,
    ) -> None:
        """Take what is known, and what is done at present where that is worth a line."""
        ...


class Solver:
    """Solves tables; a component that comes again is not solved again."""

    def __init__(
        self,
        engine: EngineChoice,
        threads: int | None,
        deadline: float | None,
        told: Listener | None = None,
        nodes_at_once: int = 1,
        state: RunState | None = None,
    ) -> None:
        self._engine = engine
        self._means = Means(threads, nodes_at_once, state)
        self._deadline = deadline
        self._told = told
        self._known: dict[str, Solution] = {}
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
            notes=tuple(dict.fromkeys(note for result in large for note in result.notes)),
            proofs=tuple(proofs),
        )

    def _solve_part(self, part: Component, stopped: bool, heard: _Heard | None) -> Solution:
        if len(part.variables) == 1:
            return _best_set(part.table)
        name, state = f"component {_key(part).hex()}", self._means.state
        known = self._known.get(name)
        if known is not None:
            return known
        before = state.get(name, SolvedComponent)
        if before is not None:
            self._known[name] = before.whole()
            return self._known[name]
        deadline = time.monotonic() if stopped else self._deadline
        solve = _solve_by_either if self._engine == "auto" else _ENGINES[self._engine]
        solved = solve(part.table, self._means, deadline, heard)
        self.was_interrupted = self.was_interrupted or solved.was_interrupted
        if solved.is_proved:
            self._known[name] = solved
            state.put(name, SolvedComponent.of(solved))
            state.keep()
        return solved


class _Heard:
    """Turns what engines say of one component into what is known of all."""

    def __init__(
        self, told: Listener, solved: Sequence[ComponentProof], others: Sequence[Component]
    ) -> None:
        self._told = told
        self._line: str | None = None
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
        self._told(score=total, bound=self._bound + bound)

    def dp(self, share: float) -> None:
        """Take how much of the work is done."""
        self._told(share=share, detail=self._line)

    def line(self, text: str) -> None:
        """Take a line about long work."""
        self._line = text
        self._told(detail=text)


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
    table: ScoreTable,
    means: Means,
    deadline: float | None,
    heard: _Heard | None,
    gpu: Gpu | None = None,
) -> Solution:
    if heard is None:
        return solve_dp(table, threads=means.threads, deadline=deadline, gpu=gpu)
    return solve_dp(
        table,
        threads=means.threads,
        deadline=deadline,
        progress=heard.dp,
        tell=heard.line,
        gpu=gpu,
    )


def _gpu(table: ScoreTable, means: Means, deadline: float | None, heard: _Heard | None) -> Solution:
    return _dp(table, means, deadline, heard, find_gpu())


def _bnc(
    table: ScoreTable,
    means: Means,
    deadline: float | None,
    heard: _Heard | None,
    max_pivots: float = math.inf,
) -> Solution:
    progress = None if heard is None else heard.bnc
    return solve_bnc(
        table,
        threads=1 if means.nodes_at_once == 1 else thread_count(means.threads, who="exact"),
        deadline=deadline,
        max_pivots=max_pivots,
        progress=progress,
        nodes_at_once=means.nodes_at_once,
    )


_ENGINES: dict[str, Callable[[ScoreTable, Means, float | None, _Heard | None], Solution]] = {
    "dp": _dp,
    "gpu": _gpu,
    "bnc": _bnc,
}


def _solve_by_either(
    table: ScoreTable, means: Means, deadline: float | None, heard: _Heard | None
) -> Solution:
    """Solve by the engine that is surely good, or by `bnc` first and then by `dp`."""
    n = table.n_variables
    needed = forecast(n, n_sets=table.n_sets, threads=means.threads)
    room = n <= MAX_VARIABLES and needed.has_room and needed.seconds <= _LONGEST_DP
    if room and (n <= _SURELY_DP or (n <= _PERHAPS_DP and table.n_sets >= _MANY_SETS)):
        return _dp(table, means, deadline, heard)
    here = needed.seconds if room else math.inf
    pays = _gpu_that_pays(n, table.n_sets, here)
    if pays is not None:
        needed, room = pays, True
    # Twice the forecast: it is good to a factor of two.
    reserve = 2.0 * needed.seconds
    left = math.inf if deadline is None else deadline - time.monotonic()
    if not room or reserve > _SHARE_FOR_DP * left:
        return _bnc(table, means, deadline, heard)
    pivots = max(_LEAST_PIVOTS, _PIVOTS_PER_SECOND * forecast(n, threads=1).seconds)
    if pays is not None:
        pivots = max(_LEAST_PIVOTS, _PIVOTS_PER_SECOND * pays.seconds)
    until = None if deadline is None else deadline - reserve
    first = _bnc(table, means, until, heard, pivots)
    if first.is_proved or first.status == "interrupted":
        return first
    if pays is not None:
        second = _gpu_or_else(table, means, deadline, heard, can_dp=here < math.inf)
    else:
        second = _dp(table, means, deadline, heard)
    return second if second.is_proved else _together(first, second)


def _gpu_that_pays(n: int, n_sets: int, here: float) -> Forecast | None:
    """Forecast the work on the GPU, if there is one and it is worth the start."""
    if n > MAX_VARIABLES or here < _WORTH_A_GPU or find_spec("cupy") is None:
        return None
    try:
        gpu = find_gpu()
        needed = gpu.forecast(n, n_sets)
        fits = gpu.has_room(needed)
    except BestdagError:
        return None
    return needed if fits and needed.seconds < min(0.5 * here, _LONGEST_DP) else None


def _gpu_or_else(
    table: ScoreTable,
    means: Means,
    deadline: float | None,
    heard: _Heard | None,
    *,
    can_dp: bool,
) -> Solution:
    """Solve on the GPU, and on the processor when that fails."""
    try:
        found = _gpu(table, means, deadline, heard)
        note = f"exact: dynamic programming ran on the GPU, {find_gpu().name}"
        return replace(found, notes=(*found.notes, note))
    except (DeviceError, NotEnoughMemoryError) as error:
        note = f"exact: the GPU was tried and left ({error})"
        solve = _dp if can_dp else _bnc
        found = solve(table, means, deadline, heard)
        return replace(found, notes=(*found.notes, note))


def _together(first: Solution, second: Solution) -> Solution:
    """Join what two engines know when neither has proved its structure."""
    best = max(first, second, key=lambda result: result.score)
    bound = min(first.bound + first.resolution, second.bound + second.resolution)
    return replace(
        second,
        chosen=best.chosen,
        score=best.score,
        bound=max(bound, best.score),
        engines=("bnc", *second.engines),
        proofs=(),
        seconds=first.seconds + second.seconds,
    )
