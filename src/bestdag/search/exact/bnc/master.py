"""The linear programs: a restricted master over some parent sets and some cuts, by HiGHS.

Nothing here proves anything: values and duals are advice, and `relaxation` turns the duals into a
bound. A big-M column per child (an empty parent set at a cost above any good network's) keeps every
program feasible, so "infeasible" is never an answer that somebody could misread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bestdag.search.exact.bnc.relaxation import Relaxation

__all__ = ["LpSolution", "Master", "Solving"]

_Made = TypeVar("_Made")
# Work that asks for programs to be solved, one after another, and goes on with their objectives:
# so that whoever runs it can solve those of several nodes at once.
Solving = Generator[Callable[[], float | None], float | None, _Made]

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
        columns, rows = np.nonzero(matrix.T)
        counts = np.bincount(columns, minlength=len(sets)) + 1
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.empty(starts[-1], dtype=np.int32)
        value = np.empty(starts[-1])
        index[starts[:-1]] = child_rows
        value[starts[:-1]] = 1.0
        rest = np.ones(starts[-1], dtype=bool)
        rest[starts[:-1]] = False
        index[rest] = rows + self.n
        value[rest] = matrix.T[columns, rows]
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
        whole = np.concatenate([big_m, matrix], axis=1)
        rows, columns = np.nonzero(whole)
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(cuts)))])
        self._highs.addRows(
            len(cuts),
            np.array([float(cut.right_side) for cut in descriptions]),
            np.full(len(cuts), self._infinity),
            len(rows),
            starts[:-1].astype(np.int32),
            columns.astype(np.int32),
            whole[rows, columns].astype(np.float64),
        )
        self.cuts.extend(cuts)
        self.idle = np.concatenate([self.idle, np.zeros(len(cuts), dtype=np.int64)])

    def drop_idle_cuts(self, age: int) -> None:
        """Forget cuts that were not binding in the last `age` solves."""
        rows = np.flatnonzero(self.idle >= age)
        if len(rows):
            self._highs.deleteRows(len(rows), (rows + self.n).astype(np.int32))
            keep = self.idle < age
            self.cuts = [c for c, k in zip(self.cuts, keep.tolist(), strict=True) if k]
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
        # From the basis alone, not from what else the solver remembers: a program that is made
        # again, with its basis, goes the same way.
        basis = self._highs.getBasis()
        self._highs.clearSolver()
        if basis.valid:
            self._highs.setBasis(basis)
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
            duals[: self.n],
            float(values[: self.n].sum()),
        )

    def state(self) -> dict[str, Any]:
        """Return what is in the program, and where the simplex method stands."""
        basis = self._highs.getBasis()
        return {
            "columns": self.columns,
            "allowed": self._allowed,
            "cuts": list(self.cuts),
            "idle": self.idle,
            "pivots": self.pivots,
            "column_status": np.array([int(one) for one in basis.col_status], np.int8),
            "row_status": np.array([int(one) for one in basis.row_status], np.int8),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Be, as an empty program, what another one was."""
        import highspy

        self.add_columns(state["columns"])
        self.add_cuts(state["cuts"])
        self._set_allowed(state["allowed"])
        self.idle = state["idle"]
        self.pivots = state["pivots"]
        basis = highspy.HighsBasis()
        basis.col_status = [highspy.HighsBasisStatus(one) for one in state["column_status"]]
        basis.row_status = [highspy.HighsBasisStatus(one) for one in state["row_status"]]
        if len(basis.col_status) == self.n + len(self.columns):
            basis.valid = True
            self._highs.setBasis(basis)

    def basis(self) -> Any:
        """Where the simplex method stands, for `restore`."""
        return self._highs.getBasis()

    def restore(self, basis: Any) -> None:
        """Go back to a basis of the same rows and columns."""
        self._highs.setBasis(basis)
