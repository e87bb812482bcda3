"""The linear programs: a restricted master over some parent sets and cuts, by HiGHS, and new cuts.

Nothing here proves anything: values and duals are advice, and `relaxation` turns the duals into a
bound. A big-M column per child (an empty parent set at a cost above any good network's) keeps every
program feasible, so "infeasible" is never an answer that somebody could misread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bestdag import _core
from bestdag.search.exact.bnc.relaxation import Cut, OrderCut, Relaxation, Sets

__all__ = ["LpSolution", "Master", "Separator", "Solving"]

_Made = TypeVar("_Made")
# Work that asks for programs to be solved, one after another, and goes on with their objectives:
# so that whoever runs it can solve those of several nodes at once.
Solving = Generator[Callable[[], float | None], float | None, _Made]

_LEAST_VIOLATION = 0.02
_CUTS_PER_VARIABLE = 0.75  # taken in per round and kind
_ENOUGH_PER_VARIABLE = 0.25  # so many cuts make the next, slower, kind unnecessary
_ORDER_CUT_MEMBERS = 8
_NEARLY_TIGHT = 0.2  # slack of clusters that may go into halved sums
_STAND_IN_COST = 2.0**16  # the first incumbent costs about 2^12 (see relaxation)
_DUAL, _PRIMAL = 1, 4  # HiGHS simplex strategies
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class LpSolution:
    """Values and duals of a solved program."""

    objective: float
    support: NDArray[np.int64]  # sets with a positive value, ascending
    x: NDArray[np.float64]
    cut_duals: NDArray[np.float64]
    child_duals: NDArray[np.float64]
    big_m: float  # total value of the big-M columns


class Master:
    """Columns for sets, rows for children and cuts; grows, and forgets idle cuts."""

    def __init__(self, relaxation: Relaxation, should_stop: Callable[[], bool]) -> None:
        import highspy

        self._relaxation = relaxation
        self._kinds = highspy.HighsModelStatus
        self._should_stop = should_stop
        n = relaxation.sets.n
        self.n = n
        self.columns = np.empty(0, dtype=np.int64)  # set of each column after the big-M ones
        self.in_master = np.zeros(len(relaxation.sets), dtype=bool)
        self.cuts: list[int] = []  # cut of each row after the children's
        # Of each such row: how often each child's row ("one set is chosen") was taken away from it.
        self._taken = np.empty((0, n), dtype=np.int64)
        self.idle = np.empty(0, dtype=np.int64)  # solves since the cut was last binding
        self._allowed = np.empty(0, dtype=bool)
        self._strategy = 0
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {
            "output_flag": False,
            "presolve": "off",
            "solver": "simplex",
            "threads": 1,
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        }
        for name, value in options.items():
            highs.setOptionValue(name, value)
        self._highs = highs
        self._infinity = highspy.kHighsInf
        lp = highspy.HighsLp()
        lp.num_col_ = lp.num_row_ = n
        lp.col_cost_ = np.full(n, _STAND_IN_COST)
        lp.col_lower_ = np.zeros(n)
        lp.col_upper_ = np.full(n, self._infinity)
        lp.row_lower_ = lp.row_upper_ = np.ones(n)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.arange(n + 1, dtype=np.int32)
        lp.a_matrix_.index_ = np.arange(n, dtype=np.int32)
        lp.a_matrix_.value_ = np.ones(n)
        highs.passModel(lp)
        highs.cbSimplexInterrupt += self._on_iteration
        self.solves = self.pivots = 0

    def _on_iteration(self, event: Any) -> None:
        if self._should_stop():
            event.interrupt()

    def add_columns(self, sets: NDArray[np.int64]) -> None:
        """Bring sets into the program; they start at zero."""
        if not len(sets):
            return
        matrix = np.empty((len(self.cuts), len(sets)), dtype=np.int8)
        cuts = np.asarray(self.cuts, dtype=np.int64)
        self._relaxation.kernels.coefficients(cuts, sets, matrix)
        child_rows = self._relaxation.sets.child[sets]
        by_column = matrix.T - self._taken.T[child_rows]
        columns, rows = np.nonzero(by_column)
        counts = np.bincount(columns, minlength=len(sets)) + 1
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.empty(starts[-1], dtype=np.int32)
        value = np.empty(starts[-1])
        index[starts[:-1]] = child_rows
        value[starts[:-1]] = 1.0
        rest = np.ones(starts[-1], dtype=bool)
        rest[starts[:-1]] = False
        index[rest] = rows + self.n
        value[rest] = by_column[columns, rows]
        self._highs.addCols(
            len(sets),
            self._relaxation.lp_costs[sets],
            np.zeros(len(sets)),
            np.full(len(sets), self._infinity),
            starts[-1],
            starts[:-1].astype(np.int32),
            index,
            value,
        )
        self.columns = np.concatenate([self.columns, sets])
        self._allowed = np.concatenate([self._allowed, np.ones(len(sets), dtype=bool)])
        self.in_master[sets] = True

    def add_cuts(self, cuts: Sequence[int]) -> None:
        """Bring cuts of the relaxation into the program."""
        if not cuts:
            return
        matrix = np.empty((len(cuts), len(self.columns)), dtype=np.int8)
        self._relaxation.kernels.coefficients(
            np.asarray(cuts, dtype=np.int64), self.columns, matrix
        )
        descriptions = [self._relaxation.cuts[c] for c in cuts]
        big_m = np.array([cut.without_parents(self.n) for cut in descriptions])
        taken = self._most_frequent(matrix)
        children = self._relaxation.sets.child[self.columns]
        whole = np.concatenate([big_m - taken, matrix - taken[:, children]], axis=1)
        rows, columns = np.nonzero(whole)
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(cuts)))])
        self._highs.addRows(
            len(cuts),
            np.array([float(cut.right_side) for cut in descriptions]) - taken.sum(axis=1),
            np.full(len(cuts), self._infinity),
            len(rows),
            starts[:-1].astype(np.int32),
            columns.astype(np.int32),
            whole[rows, columns].astype(np.float64),
        )
        self.cuts.extend(cuts)
        self._taken = np.concatenate([self._taken, taken])
        self.idle = np.concatenate([self.idle, np.zeros(len(cuts), dtype=np.int64)])

    def _most_frequent(self, matrix: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return for each row the coefficient that most sets of each child have.

        Taken away, as the child's row allows, it leaves a row with fewer entries.
        """
        n_values, n_rows = int(matrix.max(initial=0)) + 1, len(matrix)
        children = self._relaxation.sets.child[self.columns]
        cells = (matrix.astype(np.int64) * n_rows + np.arange(n_rows)[:, None]) * self.n + children
        counts = np.bincount(cells.ravel(), minlength=n_values * n_rows * self.n)
        frequent: NDArray[np.int64] = np.argmax(counts.reshape(n_values, n_rows, self.n), axis=0)
        return frequent

    def drop_idle_cuts(self, age: int) -> None:
        """Forget cuts that were not binding in the last `age` solves."""
        rows = np.flatnonzero(self.idle >= age)
        if len(rows):
            self._highs.deleteRows(len(rows), (rows + self.n).astype(np.int32))
            keep = self.idle < age
            self.cuts = [c for c, k in zip(self.cuts, keep.tolist(), strict=True) if k]
            self._taken = self._taken[keep]
            self.idle = self.idle[keep]

    def allow(self, allowed: NDArray[np.bool_]) -> None:
        """Let only these sets (a mask over all sets) be positive."""
        self._set_allowed(allowed[self.columns])

    def _set_allowed(self, wanted: NDArray[np.bool_]) -> None:
        changed = np.flatnonzero(wanted != self._allowed)
        if len(changed):
            upper = np.where(wanted[changed], self._infinity, 0.0)
            self._highs.changeColsBounds(
                len(changed), (changed + self.n).astype(np.int32), np.zeros(len(changed)), upper
            )
            self._allowed = wanted

    def solve(self, *, primal: bool = False, iterations: int | None = None) -> float | None:
        """Solve from the last basis; the objective, or None when it was not solved to the end.

        With a limit on iterations the objective where it stopped, which is a guess only.
        """
        strategy = _PRIMAL if primal else _DUAL
        if strategy != self._strategy:
            self._highs.setOptionValue("simplex_strategy", strategy)
            self._strategy = strategy
        if iterations is not None:
            self._highs.setOptionValue("simplex_iteration_limit", iterations)
        self.solves += 1
        status = self._run()
        if iterations is not None:
            self._highs.setOptionValue("simplex_iteration_limit", 2**31 - 1)
            if status == self._kinds.kIterationLimit:
                return float(self._highs.getInfo().objective_function_value)
        if status != self._kinds.kOptimal and not self._should_stop():
            self._highs.clearSolver()  # numerical trouble: once more, from nothing
            status = self._run()
        if status != self._kinds.kOptimal:
            return None
        return float(self._highs.getInfo().objective_function_value)

    def _run(self) -> Any:
        self._highs.run()
        self.pivots += max(0, self._highs.getInfo().simplex_iteration_count)
        return self._highs.getModelStatus()

    def solution(self, objective: float) -> LpSolution:
        """Values and duals after a solve that returned an objective."""
        found = self._highs.getSolution()
        values = np.array(found.col_value)
        duals = np.array(found.row_dual)
        x = values[self.n :]
        positive = np.flatnonzero(x > 1e-7)
        order = np.argsort(self.columns[positive])
        cut_duals = duals[self.n :]
        self.idle = np.where(cut_duals > 1e-9, 0, self.idle + 1)
        return LpSolution(
            objective,
            self.columns[positive][order],
            x[positive][order],
            cut_duals,
            duals[: self.n] - np.einsum("c,cv->v", cut_duals, self._taken),
            float(values[: self.n].sum()),
        )

    def basis(self) -> Any:
        """Where the simplex method stands, for `restore`."""
        return self._highs.getBasis()

    def restore(self, basis: Any) -> None:
        """Go back to a basis of the same rows and columns."""
        self._highs.setBasis(basis)


class Separator:
    """Finds violated cuts, and knows the number of every cut found so far."""

    def __init__(
        self, sets: Sets, kernels: _core.BranchAndCutKernels, relaxation: Relaxation
    ) -> None:
        self._kernels = kernels
        self._relaxation = relaxation
        self._numbers: dict[Cut | OrderCut, int] = {}
        self._most = max(20, int(_CUTS_PER_VARIABLE * sets.n))
        self._enough = int(_ENOUGH_PER_VARIABLE * sets.n)

    def number(self, cut: Cut | OrderCut) -> int:
        """Return the cut's number in the relaxation; it is added when new."""
        number = self._numbers.get(cut)
        if number is None:
            number = self._numbers[cut] = self._relaxation.add(cut)
        return number

    def violated(
        self, solution: LpSolution, present: Sequence[int], is_root: bool, thorough: bool
    ) -> list[int]:
        """Return numbers of cuts that the solution violates; `present` are in the program.

        Slower kinds are looked for when faster ones find little; if `thorough`, only halved sums,
        the slowest, wait for that. They are looked for at the root only: below it they take longer
        than they save.
        """
        cuts = [self._relaxation.cuts[c] for c in present]
        clusters = sorted({cut.terms[0] for cut in cuts if isinstance(cut, Cut) and not cut.halved})
        # The clusters at hand are good places to look for others.
        starts = [list(members) for members, _ in clusters]
        found: list[Cut | OrderCut] = []
        enough = inf if thorough else self._enough
        for k in (1, 2):
            near = self._kernels.separate(
                solution.support, solution.x, k, starts, _LEAST_VIOLATION, self._most
            )
            found.extend(Cut(((tuple(members), k),)) for members, _ in near)
            if len(found) >= enough:
                break
        if len(found) < enough:
            found.extend(self._order_cuts(solution))
        if is_root and len(found) < self._enough:
            found.extend(self._halves(solution, clusters))
        known = set(present)
        return [c for c in dict.fromkeys(map(self.number, found)) if c not in known]

    def _order_cuts(self, solution: LpSolution) -> list[OrderCut]:
        near = self._kernels.separate_order_cuts(
            solution.support,
            solution.x,
            _ORDER_CUT_MEMBERS,
            _LEAST_VIOLATION,
            self._most,
        )
        return [
            OrderCut(tuple(members), _rows_of(gains, 1 << len(members)), most)
            for members, gains, most, _ in near
        ]

    def _halves(
        self, solution: LpSolution, clusters: Sequence[tuple[tuple[int, ...], int]]
    ) -> list[Cut]:
        """Halved cuts from clusters that are nearly tight, in the program or not."""
        terms = set(clusters)
        for k in (1, 2):
            near = self._kernels.separate(solution.support, solution.x, k, [], -_NEARLY_TIGHT, 200)
            terms.update((tuple(members), k) for members, _ in near)
        ordered = sorted(terms)
        found = self._kernels.separate_halves(
            solution.support, solution.x, ordered, _LEAST_VIOLATION, max(5, self._most // 3)
        )
        return [
            Cut(tuple(ordered[t] for t in chosen), tuple(equations), halved=True)
            for chosen, equations, _ in found
        ]


def _rows_of(values: Sequence[int], length: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(values[k : k + length]) for k in range(0, len(values), length))
