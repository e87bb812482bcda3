"""Exact search: the best structure there is, with a proof."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bestdag.errors import InvalidParameterError, require_choice, require_count
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.registry import setting
from bestdag.scores.parent_sets.limits import n_parent_sets
from bestdag.scores.table import ScoreTable
from bestdag.search.bound import upper_bound, with_bound
from bestdag.search.exact.dp.all_sets import (
    WholeResult,
    can_share_sets,
    forecast_whole,
    solve_whole,
    solve_whole_each,
)
from bestdag.search.exact.dp.engine import Forecast
from bestdag.search.exact.kept import table_from, table_state
from bestdag.search.exact.solution import Solution
from bestdag.search.exact.solver import EngineChoice, Listener, Solver
from bestdag.search.exact.statements.search import NoStructureError, StatementTree
from bestdag.search.exact.statements.statements import Statements
from bestdag.search.hill_climb import HillClimb
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult, Status

__all__ = ["Exact"]

# Where all sets take no more seconds than this, nothing else is tried before.
_AT_ONCE = 10.0
# A forecast is good to a factor of two.
_CAUTION = 2.0
_SECONDS_PER_LISTED_SET = 1e-6  # for 10,000 rows
# Of the time that is left: for listing parent sets, and, when that was not enough, for the best
# choice of those that are listed; the rest is for a bound.
_SHARE_FOR_SETS, _SHARE_WITHOUT_ALL = 0.8, 0.5
# To split the problem into components, at least.
_SECONDS_PER_VARIABLE = 5e-4
# With more variables, and not all their sets, the cases that statements make are not searched: each
# takes too long.
_MANY_VARIABLES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Find a best structure and prove it.

    Parameters
    ----------
    engine : {"auto", "dp", "gpu", "bnc"}, default "auto"
        Dynamic programming over subsets (memory and time grow as 2^n in the number of variables
        that depend on each other), the same on an NVIDIA GPU (the extra ``bestdag[gpu]``), or
        branch-and-cut-and-price. "auto" chooses for each component of the problem by its numbers of
        variables and candidate sets, and goes on with "gpu" or "dp" where "bnc" has not finished
        after a fixed amount of work and memory allows.
    nodes_at_once : int, default 1
        Branch and cut works in rounds of so many nodes, whose linear programs threads solve at
        once. Graph, bound and number of nodes depend on it, never on the number of threads.

    Notes
    -----
    From data, up to about 25 variables (more with few rows), dynamic programming looks at all
    parent sets of every size without listing them, where the score is a sum over cells of functions
    of counts (all but BDe with a prior network, BD with tables, Min- and Max-BDeu). Where
    that would take more than ten seconds, the sets that pruning leaves are listed first, for as
    long as that would take.

    Most knowledge is honoured while parent sets are listed. Statements about ancestors and edges
    that may run either way are settled by a search above the engines: where the best structure
    breaks one, the problem is split into cases, each of which an engine solves. A file of local
    scores may lack the sets that such statements need; it is then refused, unless the best
    structure keeps to them by itself.
    """

    name: ClassVar[str] = "exact"

    engine: EngineChoice = setting("auto", "Engine of the exact search.")
    nodes_at_once: int = setting(1, "Number of branch-and-cut nodes processed in parallel.")

    def __post_init__(self) -> None:
        require_count("exact", "nodes_at_once", self.nodes_at_once, minimum=1)
        require_choice("exact", "engine", self.engine, ("auto", "dp", "gpu", "bnc"))

    def run(self, problem: Problem) -> SearchResult:
        """Solve; a time limit or Ctrl-C gives the best structure so far and a bound."""
        with problem.checkpoint.part(self.name, lambda: _lists_of(problem)) as saved:
            if saved is not None:
                problem.keep_table(table_from(problem.names, saved))
            return self._solved(problem)

    def _solved(self, problem: Problem) -> SearchResult:
        needed = None if self.engine in ("gpu", "bnc") else forecast_whole(problem)
        if needed is not None and _fits(needed, problem):
            if _is_worth_listing(problem, needed):
                try:
                    problem.tell("scoring parent sets")
                    table = problem.table(min(needed.seconds, problem.seconds_left))
                except KeyboardInterrupt:
                    return self._unproved(problem, _climb(problem).dag, "interrupted")
                if table.complete:
                    problem.keep_table(table)
                    return self._from_lists(problem)
            return self._whole(problem)
        return self._from_lists(problem)

    def run_each(self, problems: Sequence[Problem]) -> list[SearchResult]:
        """Solve problems that differ in the score alone, as `run` solves each.

        Where their scorers share what they read (`Scorer.by`), there are at most 16 variables and
        the scores allow it, every set of columns is counted once for all of them.
        """
        together = [k for k, problem in enumerate(problems) if can_share_sets(problem)]
        if self.engine in ("gpu", "bnc") or len(together) < 2:
            return [self.run(problem) for problem in problems]
        found = solve_whole_each([problems[k] for k in together])
        results = {
            k: self._proved(problems[k], one)
            for k, one in zip(together, found, strict=True)
            if one.proof is not None
        }
        return [results.get(k) or self.run(problem) for k, problem in enumerate(problems)]

    def _whole(self, problem: Problem) -> SearchResult:
        """Solve over all parent sets; the first structure is that of a climb."""
        climbed = _climb(problem)
        first = climbed.dag
        if climbed.status == "interrupted":
            return self._unproved(problem, first, "interrupted")
        try:
            found = solve_whole(problem, first, progress=_whole_progress(problem))
        except KeyboardInterrupt:
            return self._unproved(problem, first, "interrupted")
        if found.proof is None:
            return self._unproved(problem, first, "time limit", found.best_scores)
        return self._proved(problem, found)

    def _proved(self, problem: Problem, found: WholeResult) -> SearchResult:
        assert found.proof is not None
        result = problem.result(
            self,
            found.dag,
            found.score,
            "optimum proved",
            bound=found.score,
            engine="dp",
            resolution=found.proof.resolution,
            certificates=(found.proof,),
        )
        return _canonical(problem, result)

    def _unproved(
        self, problem: Problem, dag: Dag, status: Status, bound: float | None = None
    ) -> SearchResult:
        score = problem.scorer("exact").total(dag)
        return problem.result(self, dag, score, status, bound=bound)

    def _without_structure(self, problem: Problem, status: Status) -> SearchResult:
        """Return what other searches begin with."""
        return self._unproved(problem, _first(problem), status)

    def _from_lists(self, problem: Problem) -> SearchResult:
        """Solve by lists of candidate sets."""
        stopped: Status | None = None
        try:
            if not isinstance(problem.scores, ScoreTable) and len(problem.names) > _MANY_VARIABLES:
                problem.scores.total(_first(problem))  # so that it is known when Ctrl-C comes
            left = problem.seconds_left
            for_sets = min(
                _SHARE_FOR_SETS * left, left - _SECONDS_PER_VARIABLE * len(problem.names)
            )
            problem.tell("scoring parent sets")
            table = problem.table(None if math.isinf(left) else max(0.0, for_sets))
        except KeyboardInterrupt:
            if not isinstance(problem.scores, ScoreTable):
                return self._without_structure(problem, "interrupted")
            table = problem.table()
            stopped = "interrupted"
        if stopped is None and not table.complete:
            return self._without_all_sets(problem, table)
        return self._run(problem, table, problem.deadline, stopped)

    def _without_all_sets(self, problem: Problem, table: ScoreTable) -> SearchResult:
        """Find the best of the sets that are listed, and bound what the others may give."""
        deadline = problem.deadline
        if deadline is not None:
            deadline = time.monotonic() + _SHARE_WITHOUT_ALL * max(0.0, problem.seconds_left)
        found = self._run(problem, table, deadline, None)
        if found.is_proved:  # among these sets only; from data without a deadline memory was short
            is_short = deadline is None and not isinstance(problem.scores, ScoreTable)
            status: Status = "step limit" if is_short else "time limit"
            found = replace(found, status=status, resolution=0.0, certificates=())
        if found.status == "interrupted":
            return found
        bound = upper_bound(problem, table, deadline=problem.deadline, incumbent=found.score)
        return with_bound(found, bound, problem.seconds)

    def _run(
        self,
        problem: Problem,
        table: ScoreTable,
        deadline: float | None,
        stopped: Status | None,
    ) -> SearchResult:
        statements = Statements.of(problem.nodes)
        told = None if problem.reporter is None else _told(problem, table, statements)
        if table.complete and not isinstance(problem.scores, ScoreTable):
            problem.keep_table(table)
        solver = Solver(
            self.engine, problem.threads, deadline, told, self.nodes_at_once, problem.checkpoint
        )
        if statements.is_empty and not table.complete and table.n_sets == table.n_variables:
            score = math.fsum(float(table.child(i).scores[0]) for i in range(table.n_variables))
            chosen = (0,) * table.n_variables  # nothing to choose from
            status = stopped or "time limit"
            nothing = Solution(chosen=chosen, score=score, bound=score, status=status)
            return self._result(problem, table, nothing)
        if statements.is_empty:
            return self._result(problem, table, solver.solve(table, stopped=stopped))
        if not table.complete and len(problem.names) > _MANY_VARIABLES:
            return self._without_structure(problem, stopped or "time limit")
        tree = StatementTree(
            table,
            statements,
            solver,
            deadline=deadline,
            refuse=lambda: _refuse_pruned(problem, table, statements),
            has_others=not isinstance(problem.scores, ScoreTable),
        )
        try:
            found = tree.run(stopped)
        except NoStructureError as error:
            is_none = error.status == "optimum proved"
            if (is_none and table.complete) or isinstance(problem.scores, ScoreTable):
                raise
            return self._without_structure(problem, "time limit" if is_none else error.status)
        return self._result(problem, table, found)

    def _result(self, problem: Problem, table: ScoreTable, found: Solution) -> SearchResult:
        result = problem.result(
            self,
            _dag(table, found.chosen),
            found.score,
            found.status,
            # A bound over some of the sets is none over all of them.
            bound=max(found.bound, found.score) if table.complete else None,
            engine="+".join(found.engines) or None,
            resolution=found.resolution,
            certificates=found.proofs,
            notes=found.notes,
        )
        return _canonical(problem, result)


def _lists_of(problem: Problem) -> dict[str, Any] | None:
    """Return the lists of parent sets, once they are complete; those of a file are there again."""
    is_needed = not isinstance(problem.scores, ScoreTable) and problem.has_table
    return table_state(problem.table()) if is_needed else None


def _whole_progress(problem: Problem) -> Callable[[float], None] | None:
    if problem.reporter is None:
        return None
    return lambda share: problem.tell("exact search over all parent sets", share=share)


def _told(problem: Problem, table: ScoreTable, statements: Statements) -> Listener:
    """Say how far the engines are; where there are statements, each solves a case of many."""
    phase, among = "exact search", f"among {table.n_sets:,} parent sets"
    problem.tell(phase, among)

    def tell(
        *,
        score: float | None = None,
        bound: float | None = None,
        share: float | None = None,
        detail: str | None = None,
    ) -> None:
        if not statements.is_empty:
            score = bound = None
        bound = bound if table.complete else None
        problem.tell(phase, detail or among, score=score, bound=bound, share=share)

    return tell


def _fits(needed: Forecast, problem: Problem) -> bool:
    return needed.has_room and _CAUTION * needed.seconds <= problem.seconds_left


def _is_worth_listing(problem: Problem, needed: Forecast) -> bool:
    """Whether lists may be the faster way: few parents, or bounds that may leave few sets."""
    if problem.has_table:
        return True
    n = len(problem.names)
    most = n - 1 if problem.max_parents is None else problem.max_parents
    rows = problem.scorer("exact").n_rows
    seconds = n * n_parent_sets(n, most) * _SECONDS_PER_LISTED_SET * max(1.0, rows / 10_000)
    return needed.seconds > _AT_ONCE or seconds < needed.seconds


def _first(problem: Problem) -> Dag:
    """Return the structure that searches begin with."""
    return problem.without_start().feasible_dag("exact")


def _climb(problem: Problem) -> SearchResult:
    return problem.without_start().solve(HillClimb(reinsert=False))


def _canonical(problem: Problem, found: SearchResult) -> SearchResult:
    """Of equivalent structures return one that does not depend on how the proof was found."""
    scorer = problem.scores
    if (
        not found.is_proved
        or isinstance(scorer, ScoreTable)
        or not scorer.is_score_equivalent
        or problem.max_parents is not None
        or not problem.knowledge.is_empty
    ):
        return found
    dag = found.dag.cpdag().to_dag()
    return found if dag == found.dag else replace(found, dag=dag)


def _dag(table: ScoreTable, chosen: Sequence[int]) -> Dag:
    names = table.names
    arcs = [
        (names[p], child)
        for i, child in enumerate(names)
        for p in table.child(i).parents(chosen[i])
    ]
    return Dag(names, arcs)


def _refuse_pruned(problem: Problem, table: ScoreTable, statements: Statements) -> None:
    """Refuse a given table that may lack sets which the statements need."""
    if not isinstance(problem.scores, ScoreTable) or not statements.need_more_arcs:
        return
    for i, child in enumerate(problem.names):
        if len(table.child(i)) != _n_sets(problem.nodes, i):
            what = (
                "exact: statements about ancestors and required edges may need parent sets of "
                f"{child!r} that the score file lacks (files leave out sets that a subset beats); "
                "learn from the data, or give"
            )
            if_whole = "if the file lists every set up to that size"
            raise InvalidParameterError(f"{what} max_parents {if_whole}").with_option(
                f"{what} --max-parents {if_whole}"
            )


def _n_sets(nodes: NodeKnowledge, child: int) -> int:
    """How many sets a child may have."""
    n_required = len(nodes.required_parents(child))
    free = len(nodes.allowed_parents(child)) - n_required
    most = min(free, int(nodes.max_parents[child]) - n_required)
    return sum(math.comb(free, k) for k in range(most + 1))
