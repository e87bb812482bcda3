"""A whole table solved by components, each by the engine that suits it."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal, get_args

import numpy as np

from bestdag.checkpoint import RunState
from bestdag.errors import BestdagError, NotEnoughMemoryError
from bestdag.machine import thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate
from bestdag.search.exact.bnc.engine import BranchAndCut
from bestdag.search.exact.components import Component, Interim, Solution, decompose
from bestdag.search.exact.dp.component import DpCertificate
from bestdag.search.exact.dp.engine import MAX_VARIABLES, Forecast, forecast, solve_dp
from bestdag.search.exact.dp.gpu import DeviceError, Gpu, find_gpu
from bestdag.search.exact.frontier.certificate import FrontierCertificate
from bestdag.search.exact.frontier.engine import Frontier
from bestdag.search.exact.verification import verify_solution
from bestdag.search.result import Status
from bestdag.search.steps import Kept, result_of

__all__ = ["ENGINES", "ComponentProof", "EngineChoice", "Solver"]

EngineChoice = Literal["auto", "dp", "gpu", "bnc", "frontier"]
ENGINES: tuple[str, ...] = get_args(EngineChoice)

# Up to here 2^n steps take some milliseconds, and nothing is faster for sure; up to there about a
# tenth of a second to one.
_AT_ONCE_DP, _SURELY_DP = 20, 25
# Up to here few subsets may be left for `frontier`, which shows in about a tenth of a second.
_PERHAPS_FRONTIER = 40
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
    """What was proven about one component of the problem, which is in the whole table."""

    component: Component
    result: Solution
    whole: ScoreTable

    def verify(self) -> None:
        """Check the claim by other means than those that found it."""
        verify_solution(self.component.table, self.result)


@dataclass(frozen=True, slots=True, eq=False)
class SolvedComponent:
    """A solved component as it is saved, with the proof of one engine or the other."""

    solution: Solution
    certificate: Certificate | None
    subsets: DpCertificate | None
    frontier: FrontierCertificate | None = None

    @classmethod
    def of(cls, solved: Solution) -> SolvedComponent:
        """Take the proof out of a solution."""
        (proof,) = solved.proofs
        by_cuts = proof if isinstance(proof, Certificate) else None
        by_subsets = proof if isinstance(proof, DpCertificate) else None
        by_frontier = proof if isinstance(proof, FrontierCertificate) else None
        return cls(replace(solved, proofs=()), by_cuts, by_subsets, by_frontier)

    def whole(self) -> Solution:
        """Return the solution with its proof, which is not checked here."""
        proof = self.certificate or self.subsets or self.frontier
        return replace(self.solution, proofs=(proof,))


class Solver:
    """Solves tables by components; one that comes again, or was solved before, is not solved again.

    Parameters
    ----------
    engine : str
    threads : int or None
    deadline : float or None
        A value of `time.monotonic`.
    nodes_at_once : int
        Of branch and cut.
    state : RunState, optional
        What an earlier part of the run has solved.
    tell : callable, optional
        Given the share of a dynamic program that is done, and a line about it where it takes long;
        everything else is said by `steps`.
    start : sequence of sequence of int, optional
        The parents of every variable of the table in a good structure for engines to begin with;
        its sets need not be in the table.
    """

    def __init__(
        self,
        engine: EngineChoice,
        threads: int | None,
        deadline: float | None,
        nodes_at_once: int = 1,
        state: RunState | None = None,
        tell: Callable[[float | None, str], None] | None = None,
        start: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self._engine = engine
        self._start = start
        self._threads = threads
        self._deadline = deadline
        self._nodes_at_once = nodes_at_once
        self._state = RunState() if state is None else state
        self._tell = tell
        self._known: dict[str, Solution] = {}
        self.was_interrupted = False  # by Ctrl-C, whatever was proved

    def solve(self, table: ScoreTable, *, stopped: Status | None = None) -> Solution:
        """Solve to the end."""
        return result_of(self.steps(table, stopped=stopped))

    def steps(
        self, table: ScoreTable, *, stopped: Status | None = None
    ) -> Generator[Interim | Kept, None, Solution]:
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
            others = _Others(proofs, parts[number + 1 :], chosen)
            solved = yield from self._solved(part, others, is_over)
            proofs.append(ComponentProof(part, solved, table))
            _choose(chosen, part, solved.chosen)
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

    def _solved(
        self, part: Component, others: _Others, stopped: bool
    ) -> Generator[Interim | Kept, None, Solution]:
        """Solve one component, unless that was done before."""
        if len(part.variables) == 1:
            return _best_set(part.table)
        name = _name(part)
        if name in self._known:
            return self._known[name]
        before = self._state.get(name, SolvedComponent)
        if before is not None:
            self._known[name] = solved = before.whole()
            return solved
        deadline = time.monotonic() if stopped else self._deadline
        start = None if self._start is None else _positions(part, self._start)
        run = _Component(
            part, deadline, self._threads, self._nodes_at_once, self._tell, others, start
        )
        solved = yield from run.solved(self._engine)
        self.was_interrupted = self.was_interrupted or solved.was_interrupted
        if solved.is_proved:
            self._known[name] = solved
            yield Kept(name, SolvedComponent.of(solved))
        return solved


def _positions(part: Component, parents: Sequence[Sequence[int]]) -> list[int] | None:
    """Return for each child of a component its best set within the parents of a structure.

    None where a child has no such set. The choice is acyclic, as the structure is.
    """
    chosen = []
    for i, variable in enumerate(part.variables):
        sets = part.table.child(i)
        allowed = np.isin(part.variables, list(parents[variable]))
        n_outside = np.concatenate([[0], np.cumsum(~allowed[sets.members])])
        within = np.flatnonzero(np.diff(n_outside[sets.offsets]) == 0)
        if not len(within):
            return None
        chosen.append(int(within[0]))
    return chosen


def _choose(chosen: list[int], part: Component, sets: Sequence[int]) -> None:
    """Put the sets of a component into a choice for the whole table."""
    for place, variable in enumerate(part.variables):
        chosen[variable] = int(part.origins[place][sets[place]])


class _Others:
    """The components besides one: what is known of some, and what the others score at most."""

    def __init__(
        self,
        solved: Sequence[ComponentProof],
        unsolved: Sequence[Component],
        chosen: Sequence[int],
    ) -> None:
        tables = [other.table for other in unsolved]
        self._chosen = list(chosen)
        self._score = None if unsolved else math.fsum(proof.result.score for proof in solved)
        self._bound = math.fsum(
            [
                *(proof.result.bound for proof in solved),
                *(float(t.child(i).scores[0]) for t in tables for i in range(t.n_variables)),
            ]
        )

    def with_one(self, part: Component, now: Interim) -> Interim:
        """Return what is known of all, from what is known of the one that is being solved."""
        if self._score is None or now.score is None:
            return Interim(self._bound + now.bound)
        chosen = list(self._chosen)
        _choose(chosen, part, now.chosen)
        return Interim(self._bound + now.bound, self._score + now.score, tuple(chosen))


def _best_set(table: ScoreTable) -> Solution:
    """Solve a problem of one variable: nothing is in the way of its best set."""
    score = float(table.child(0).scores[0])
    return Solution(chosen=(0,), score=score, bound=score, status="optimum proved")


def _name(part: Component) -> str:
    """Return a name for what is known of a component, the same for the same sets and scores."""
    digest = hashlib.blake2b(repr(part.variables).encode(), digest_size=16)
    for i in range(len(part.variables)):
        sets = part.table.child(i)
        for array in (sets.offsets, sets.members, sets.scores):
            digest.update(array.tobytes())
    return f"component {digest.hexdigest()}"


class _Component:
    """One component and the engines that may solve it."""

    def __init__(
        self,
        part: Component,
        deadline: float | None,
        threads: int | None,
        nodes_at_once: int,
        tell: Callable[[float | None, str], None] | None,
        others: _Others,
        start: Sequence[int] | None,
    ) -> None:
        self._part, self._table, self._others, self._start = part, part.table, others, start
        self._deadline = deadline
        self._threads = threads
        self._nodes_at_once = nodes_at_once
        self._tell = tell
        self._line = ""  # about long work

    def solved(self, engine: EngineChoice) -> Generator[Interim, None, Solution]:
        """Solve it by an engine: "auto" tries those that are surely good, then `bnc`, then `dp`."""
        if engine == "bnc":
            return (yield from self._bnc())
        if engine == "dp":
            return self._dp()
        if engine == "gpu":
            return self._dp(find_gpu())
        if engine == "frontier":
            return (yield from self._frontier(patient=True))
        n = len(self._table.names)
        if not _AT_ONCE_DP < n <= _PERHAPS_FRONTIER:
            return (yield from self._by_either())
        first = yield from self._frontier(patient=False)
        if first.is_proved or first.status in ("interrupted", "time limit"):
            return first
        self._start = first.chosen
        second = yield from self._by_either()
        return second if second.is_proved else _together(first, second)

    def _dp(self, gpu: Gpu | None = None) -> Solution:
        is_heard = self._tell is not None
        return solve_dp(
            self._table,
            threads=self._threads,
            deadline=self._deadline,
            progress=self._share if is_heard else None,
            tell=self._say if is_heard else None,
            gpu=gpu,
        )

    def _share(self, share: float) -> None:
        assert self._tell is not None
        self._tell(share, self._line)

    def _say(self, line: str) -> None:
        assert self._tell is not None
        self._line = line
        self._tell(None, line)

    def _frontier(self, *, patient: bool) -> Generator[Interim, None, Solution]:
        """Search among few subsets."""
        steps = Frontier(
            self._table, deadline=self._deadline, patient=patient, incumbent=self._start
        ).steps()
        return (yield from self._heard(steps))

    def _bnc(
        self, *, before: float = 0.0, max_pivots: float = math.inf
    ) -> Generator[Interim, None, Solution]:
        """Branch and cut until so many seconds before the deadline."""
        steps = BranchAndCut(
            self._table,
            threads=1 if self._nodes_at_once == 1 else thread_count(self._threads, who="exact"),
            deadline=None if self._deadline is None else self._deadline - before,
            max_pivots=max_pivots,
            incumbent=self._start,
            nodes_at_once=self._nodes_at_once,
        ).steps()
        return (yield from self._heard(steps))

    def _heard(
        self, steps: Generator[Interim, None, Solution]
    ) -> Generator[Interim, None, Solution]:
        """Say what an engine knows of this component as what is known of all."""
        try:
            while True:
                yield self._others.with_one(self._part, next(steps))
        except StopIteration as end:
            solved: Solution = end.value
            return solved
        finally:
            steps.close()

    def _by_either(self) -> Generator[Interim, None, Solution]:
        table = self._table
        n = len(table.names)
        needed = forecast(n, n_sets=table.n_sets, threads=self._threads)
        room = n <= MAX_VARIABLES and needed.has_room and needed.seconds <= _LONGEST_DP
        if room and (n <= _SURELY_DP or (n <= _PERHAPS_DP and table.n_sets >= _MANY_SETS)):
            return self._dp()
        here = needed.seconds if room else math.inf
        pays = _gpu_that_pays(n, table.n_sets, here)
        if pays is not None:
            needed, room = pays, True
        # Twice the forecast: it is good to a factor of two.
        reserve = 2.0 * needed.seconds
        left = math.inf if self._deadline is None else self._deadline - time.monotonic()
        if not room or reserve > _SHARE_FOR_DP * left:
            return (yield from self._bnc())
        seconds = forecast(n, threads=1).seconds if pays is None else pays.seconds
        pivots = max(_LEAST_PIVOTS, _PIVOTS_PER_SECOND * seconds)
        first = yield from self._bnc(before=reserve, max_pivots=pivots)
        if first.is_proved or first.status == "interrupted":
            return first
        if pays is not None:
            second = yield from self._gpu_or_else(can_dp=here < math.inf)
        else:
            second = self._dp()
        return second if second.is_proved else _together(first, second)

    def _gpu_or_else(self, *, can_dp: bool) -> Generator[Interim, None, Solution]:
        """Solve on the GPU, and on the processor when that fails."""
        try:
            solved = self._dp(find_gpu())
            note = f"exact: dynamic programming ran on the GPU, {find_gpu().name}"
        except (DeviceError, NotEnoughMemoryError) as error:
            note = f"exact: the GPU was tried and left ({error})"
            solved = self._dp() if can_dp else (yield from self._bnc())
        return replace(solved, notes=(*solved.notes, note))


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


def _together(first: Solution, second: Solution) -> Solution:
    """Join what two engines know when neither has proved its structure."""
    best = max(first, second, key=lambda result: result.score)
    bound = min(first.bound + first.resolution, second.bound + second.resolution)
    return replace(
        second,
        chosen=best.chosen,
        score=best.score,
        bound=max(bound, best.score),
        engines=(*first.engines, *second.engines),
        proofs=(),
        seconds=first.seconds + second.seconds,
    )
