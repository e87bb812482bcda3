"""A search above the engines, for statements that no single family decides.

The engines solve the problem without the statements. Where the best structure keeps to them, it is
the best there is; where not, the problem is split into cases that it is in none of (see
`statements`), and the case with the highest bound comes next. Each case is the table with fewer
sets, so both engines serve.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.errors import GraphError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.components import Interim, Solution
from bestdag.search.exact.solver import Solver
from bestdag.search.exact.statements.proof import Case, StatementProof
from bestdag.search.exact.statements.statements import Limit, Narrowed, Narrower, Statements
from bestdag.search.result import Status
from bestdag.search.steps import Kept, result_of

__all__ = ["NoStructureError", "StatementTree"]

# Once stopped without a structure, so many first structures are looked at to find one; no longer
# than this where others are at hand.
_MOST_TRIES, _SECONDS_FOR_FIRST = 300, 0.05


class NoStructureError(GraphError):
    """No structure was found that satisfies all constraints, and how the search ended."""

    def __init__(self, message: str, status: Status) -> None:
        super().__init__(message)
        self.status: Status = status


class _OpenCase(NamedTuple):
    minus_bound: float
    number: int  # of the case, and the tie-break
    limits: tuple[Limit, ...]


class _Found(NamedTuple):
    chosen: tuple[int, ...]  # positions in the whole table
    score: float


class StatementTree:
    """One search; `run` does it.

    Parameters
    ----------
    table : ScoreTable
        All sets that the structure may have, also those that a subset beats where a statement asks
        for more arcs.
    statements : Statements
    solver : Solver
    deadline : float, optional
        A value of `time.monotonic`.
    refuse : callable, optional
        Called when the best structure without the statements breaks one; may raise.
    has_others : bool, default False
        Whether the caller has a structure in case none is found in time.
    """

    def __init__(
        self,
        table: ScoreTable,
        statements: Statements,
        solver: Solver,
        *,
        deadline: float | None = None,
        refuse: Callable[[], None] | None = None,
        has_others: bool = False,
    ) -> None:
        self._table = table
        self._statements = statements
        self._solver = solver
        self._deadline = math.inf if deadline is None else deadline
        self._refuse = refuse
        self._has_others = has_others
        self._narrower = Narrower(table)
        self._cases = [Case()]
        self._open = [_OpenCase(-math.inf, 0, ())]
        self._current: _OpenCase | None = None  # neither done nor waiting
        self._best: _Found | None = None
        self._resolution = 0.0
        self._engines: set[str] = set()

    def run(self, stopped: Status | None = None) -> Solution:
        """Search to the end."""
        return result_of(self.steps(stopped))

    def steps(self, stopped: Status | None = None) -> Generator[Interim | Kept, None, Solution]:
        """Search; with `stopped` only for a first structure.

        Says what is solved, and what is known of all cases together after each.
        """
        status: Status = stopped or "optimum proved"
        try:
            while self._open and status == "optimum proved":
                if self._best is not None and -self._open[0].minus_bound <= self._best.score:
                    break
                if self._solver.was_interrupted:
                    status = "interrupted"
                elif time.monotonic() >= self._deadline:
                    status = "time limit"
                else:
                    self._current = heapq.heappop(self._open)
                    status = yield from self._process(self._current)
                    yield self._interim()
        except KeyboardInterrupt:
            status = "interrupted"
        if status != "optimum proved":
            if self._current is not None:
                heapq.heappush(self._open, self._current)
            self._best = self._best or self._first_structure(status)
        if self._best is None:
            if status == "optimum proved":
                raise NoStructureError(
                    "exact: no structure from the candidate parent sets satisfies all constraints; "
                    "allow more parents or leave a constraint out",
                    status,
                )
            raise NoStructureError(
                f"exact: {status} reached before a structure that satisfies all constraints was "
                "found; allow more time or leave a constraint out",
                status,
            )
        return self._outcome(self._best, status)

    def _interim(self) -> Interim:
        bounds = [-case.minus_bound for case in self._open]
        if self._current is not None:
            bounds.append(-self._current.minus_bound)
        if self._best is None:
            return Interim(max(bounds, default=math.inf))
        return Interim(max([self._best.score, *bounds]), self._best.score, self._best.chosen)

    def _outcome(self, best: _Found, status: Status) -> Solution:
        bound = best.score
        proofs: tuple[object, ...] = ()
        if status != "optimum proved":
            bound = max([bound, *(-case.minus_bound for case in self._open)])
        else:
            proofs = (
                StatementProof(
                    self._table,
                    self._statements,
                    best.chosen,
                    best.score,
                    self._resolution,
                    tuple(self._cases),
                ),
            )
        return Solution(
            chosen=best.chosen,
            score=best.score,
            bound=bound,
            resolution=self._resolution,
            status=status,
            engines=tuple(sorted(self._engines)),
            proofs=proofs,
        )

    def _process(self, case: _OpenCase) -> Generator[Kept, None, Status]:
        narrowed = self._narrower.narrowed(case.limits)
        if narrowed is None:
            self._current = None
            return "optimum proved"
        solved = yield from self._solved(narrowed.table)
        self._engines.update(solved.engines)
        found = self._in_whole_table(narrowed, solved)
        kept = self._keep(found)
        if not solved.is_proved:
            bound = solved.bound + solved.resolution
            self._current = case._replace(minus_bound=max(case.minus_bound, -bound))
            return solved.status
        self._resolution = max(self._resolution, solved.resolution)
        self._cases[case.number].results = _results(solved)
        if not kept:
            if case.number == 0 and self._refuse is not None:
                self._refuse()
            if self._best is None or solved.score > self._best.score:
                self._branch(case, found, solved.score)
        self._current = None
        return "optimum proved"

    def _solved(self, table: ScoreTable) -> Generator[Kept, None, Solution]:
        """Solve a case, whose score and bound are not those of the problem."""
        steps = self._solver.steps(table)
        try:
            while True:
                event = next(steps)
                if isinstance(event, Kept):
                    yield event
        except StopIteration as end:
            solved: Solution = end.value
            return solved
        finally:
            steps.close()

    def _keep(self, found: _Found) -> bool:
        """Take a structure that keeps to the statements; whether it does."""
        if not self._statements.are_kept(self._parents(found)):
            return False
        if self._best is None or found.score > self._best.score:
            self._best = found
        return True

    def _branch(self, case: _OpenCase, found: _Found, bound: float) -> None:
        numbers = []
        for more in self._split(case, found):
            numbers.append(len(self._cases))
            self._cases.append(Case())
            heapq.heappush(self._open, _OpenCase(-bound, numbers[-1], (*case.limits, *more)))
        self._cases[case.number].children = tuple(numbers)

    def _split(self, case: _OpenCase, found: _Found) -> list[tuple[Limit, ...]]:
        split = self._statements.split(self._parents(found), self._lengths(case, found))
        assert split is not None
        self._cases[case.number].split = split
        return split.alternatives(self._statements.n)

    def _lengths(self, case: _OpenCase, found: _Found) -> npt.NDArray[np.float64]:
        """Return what a child's score loses with each parent, [parent, child]."""
        chosen = enumerate(found.chosen)
        scores = np.array([self._table.child(i).scores[k] for i, k in chosen], dtype=np.float64)
        lengths: npt.NDArray[np.float64] = scores - self._narrower.best_with(case.limits)
        return lengths

    def _first_structure(self, status: Status) -> _Found | None:
        """Look for some structure depth first, with the engines' first structures only."""
        tries = 0
        until = time.monotonic() + (_SECONDS_FOR_FIRST if self._has_others else math.inf)
        waiting = [*sorted(self._open, reverse=True), _OpenCase(-math.inf, 0, ())]
        while waiting and tries < _MOST_TRIES and time.monotonic() < until:
            case = waiting.pop()
            narrowed = self._narrower.narrowed(case.limits)
            if narrowed is None:
                continue
            tries += 1
            solved = self._solver.solve(narrowed.table, stopped=status)
            found = self._in_whole_table(narrowed, solved)
            if self._keep(found):
                return found
            cases = [(*case.limits, *more) for more in self._split(case, found)]
            # The last is taken first: a whole way, then the case whose best sets are the best.
            cases.sort(key=self._best_scores)
            way = self._statements.way(self._parents(found), self._lengths(case, found))
            if way is not None:
                cases.append((*case.limits, *way))
            waiting += [case._replace(limits=limits) for limits in cases]
        return None

    def _best_scores(self, limits: tuple[Limit, ...]) -> float:
        narrowed = self._narrower.narrowed(limits)
        if narrowed is None:
            return -math.inf
        return math.fsum(
            float(narrowed.table.child(i).scores[0]) for i in range(self._statements.n)
        )

    def _in_whole_table(self, narrowed: Narrowed, solved: Solution) -> _Found:
        pairs = zip(narrowed.origins, solved.chosen, strict=True)
        return _Found(tuple(int(origin[k]) for origin, k in pairs), solved.score)

    def _parents(self, found: _Found) -> list[tuple[int, ...]]:
        return [self._table.child(i).parents(k) for i, k in enumerate(found.chosen)]


def _results(solved: Solution) -> dict[tuple[int, ...], Solution]:
    return {proof.component.variables: proof.result for proof in solved.proofs}
