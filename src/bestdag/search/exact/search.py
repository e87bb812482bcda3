"""Exact search: the best structure there is, with a proof."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

from bestdag.errors import InvalidParameterError, require_choice, require_count
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.registry import setting
from bestdag.scores.parent_sets.limits import n_parent_sets
from bestdag.scores.table import ScoreTable
from bestdag.search.bound import bound_steps
from bestdag.search.exact.components import Interim, Solution
from bestdag.search.exact.dp.all_sets import (
    WholeResult,
    can_share_sets,
    forecast_whole,
    solve_whole,
    solve_whole_each,
)
from bestdag.search.exact.dp.engine import Forecast
from bestdag.search.exact.solver import ENGINES, EngineChoice, Solver
from bestdag.search.exact.statements.search import NoStructureError, StatementTree
from bestdag.search.exact.statements.statements import Statements
from bestdag.search.hill_climb import HillClimb
from bestdag.search.problem import Problem
from bestdag.search.result import BoundSource, SearchResult, Status
from bestdag.search.steps import (
    Bounded,
    Event,
    Found,
    Kept,
    Note,
    Outcome,
    Phase,
    Proved,
    SearchEnd,
    Steps,
    follow,
)
from bestdag.wording import arg

__all__ = ["Exact"]

# Where all sets take no more seconds than this, nothing else is tried before.
_AT_ONCE = 10.0
# Where they take no more than this, and a hundredth of the time that is left, there is nothing to
# show meanwhile: no climb comes before.
_NO_CLIMB, _SHARE_WITHOUT_CLIMB = 0.1, 0.01
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
_OVER_ALL = "exact search over all parent sets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Find a best structure and prove it.

    Parameters
    ----------
    engine : {"auto", "dp", "gpu", "bnc", "frontier"}, default "auto"
        Dynamic programming over subsets (memory and time grow as 2^n in the number of variables
        that depend on each other), the same on an NVIDIA GPU (the extra ``bestdag[gpu]``),
        branch-and-cut-and-price, or dynamic programming over those subsets alone that a bound does
        not rule out, for up to 64 variables. "auto" chooses for each component of the problem by
        its numbers of variables and candidate sets: with 21 to 40 variables it tries "frontier"
        until it shows that too many subsets are left, and it goes on with "gpu" or "dp" where "bnc"
        has not finished after a fixed amount of work and memory allows.
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
        require_choice("exact", "engine", self.engine, ENGINES)

    def steps(self, problem: Problem) -> Steps:
        """Solve; a time limit or Ctrl-C leaves the best structure so far and a bound."""
        if not problem.has_table:
            lists = problem.state.get(_lists_name(problem), ScoreTable)
            if lists is not None:
                problem.keep_table(lists)
        needed = None if self.engine not in ("auto", "dp") else forecast_whole(problem)
        if needed is None or not _fits(needed, problem):
            yield from self._from_lists(problem)
            return
        if _is_worth_listing(problem, needed):
            yield Phase("scoring parent sets")
            try:
                table = problem.table(min(needed.seconds, problem.seconds_left))
            except KeyboardInterrupt:
                yield from _climb(problem)
                raise
            if table.complete:
                yield from _kept_lists(problem, table)
                yield from self._from_lists(problem)
                return
        is_quick = needed.seconds <= min(_NO_CLIMB, _SHARE_WITHOUT_CLIMB * problem.seconds_left)
        yield from self._whole(problem, climbs=not is_quick)

    def run_each(self, problems: Sequence[Problem]) -> list[SearchResult]:
        """Solve problems that differ in the score alone, as `Problem.solve` solves each.

        Where their scorers share what they read (`Scorer.by`), there are at most 16 variables and
        the scores allow it, every set of columns is counted once for all of them.
        """
        together = [k for k, problem in enumerate(problems) if can_share_sets(problem)]
        if self.engine not in ("auto", "dp") or len(together) < 2:
            return [problem.solve(self) for problem in problems]
        solved = solve_whole_each([problems[k] for k in together])
        proved = {
            k: problems[k].solve(_Solved(_proved(problems[k], one)))
            for k, one in zip(together, solved, strict=True)
            if one.proof is not None
        }
        return [
            replace(proved[k], settings=asdict(self)) if k in proved else problem.solve(self)
            for k, problem in enumerate(problems)
        ]

    def _whole(self, problem: Problem, *, climbs: bool) -> Steps:
        """Solve over all parent sets; the first structure may be that of a climb."""
        climbed = (yield from _climb(problem)).best if climbs else None
        first = _first(problem) if climbed is None else climbed.structure
        yield Phase(_OVER_ALL)
        solved = solve_whole(problem, first, progress=_whole_progress(problem))
        if solved.proof is not None:
            yield _proved(problem, solved)
            return
        if solved.best_scores is not None:
            yield Bounded(solved.best_scores, BoundSource(kind="best local scores"))
        raise SearchEnd("time limit")

    def _from_lists(self, problem: Problem) -> Steps:
        """Solve by lists of candidate sets."""
        stopped: Status | None = None
        n = len(problem.names)
        yield Phase("scoring parent sets")
        try:
            if not isinstance(problem.scores, ScoreTable) and n > _MANY_VARIABLES:
                first = _first(problem)  # so that there is one when Ctrl-C comes
                yield Found(first, problem.scores.total(first))
            left = problem.seconds_left
            for_sets = min(_SHARE_FOR_SETS * left, left - _SECONDS_PER_VARIABLE * n)
            table = problem.table(None if math.isinf(left) else max(0.0, for_sets))
        except KeyboardInterrupt:
            if not isinstance(problem.scores, ScoreTable):
                raise
            table = problem.table()
            stopped = "interrupted"
        deadline = problem.deadline
        has_all = stopped is not None or table.complete
        if not has_all and deadline is not None:
            deadline = time.monotonic() + _SHARE_WITHOUT_ALL * max(0.0, problem.seconds_left)
        solved = yield from self._solved(problem, table, deadline, stopped)
        if has_all and isinstance(solved, Solution) and solved.is_proved:
            yield from map(Note, solved.notes)
            yield Proved(
                _canonical(problem, _dag(table, solved.chosen)),
                solved.score,
                solved.resolution,
                solved.proofs,
                engine=_engine(solved),
            )
            return
        score, status = yield from _best_so_far(problem, table, solved)
        if status == "interrupted":
            raise KeyboardInterrupt
        if not has_all:  # bound what the others may give
            if status == "optimum proved":  # among these sets; without a deadline memory was short
                is_short = deadline is None and not isinstance(problem.scores, ScoreTable)
                status = "step limit" if is_short else "time limit"
            yield from bound_steps(problem, table, deadline=problem.deadline, incumbent=score)
        raise SearchEnd(status)

    def _solved(
        self,
        problem: Problem,
        table: ScoreTable,
        deadline: float | None,
        stopped: Status | None,
    ) -> Generator[Event, None, Solution | Status]:
        """Solve among the sets of a table; where no structure is found, returns why."""
        statements = Statements.of(problem.nodes)
        phase, among = "exact search", f"among {table.n_sets:,} parent sets"
        yield Phase(phase, among)
        if table.complete:
            yield from _kept_lists(problem, table)

        def tell(share: float | None, line: str) -> None:
            problem.report(phase, line or among, share=share)

        solver = Solver(
            self.engine,
            problem.threads,
            deadline,
            self.nodes_at_once,
            problem.state,
            None if problem.reporter is None else tell,
            None if problem.start is None else problem.parents(problem.start),
        )
        if statements.is_empty and not table.complete and table.n_sets == table.n_variables:
            score = math.fsum(float(table.child(i).scores[0]) for i in range(table.n_variables))
            chosen = (0,) * table.n_variables  # nothing to choose from
            status = stopped or "time limit"
            return Solution(chosen=chosen, score=score, bound=score, status=status)
        if statements.is_empty:
            return (yield from _events(table, solver.steps(table, stopped=stopped)))
        if not table.complete and len(problem.names) > _MANY_VARIABLES:
            return stopped or "time limit"
        tree = StatementTree(
            table,
            statements,
            solver,
            deadline=deadline,
            refuse=lambda: _refuse_pruned(problem, table, statements),
            has_others=not isinstance(problem.scores, ScoreTable),
        )
        try:
            return (yield from _events(table, tree.steps(stopped)))
        except NoStructureError as error:
            is_none = error.status == "optimum proved"
            if (is_none and table.complete) or isinstance(problem.scores, ScoreTable):
                raise
            return "time limit" if is_none else error.status


class _Solved(NamedTuple):
    """A search for which the work has been done."""

    proof: Proved
    name: str = Exact.name

    def steps(self, _: Problem) -> Steps:
        """Say the proof."""
        yield self.proof


def _events(
    table: ScoreTable, steps: Generator[Interim | Kept, None, Solution]
) -> Generator[Event, None, Solution]:
    """Say what engines know as they go on: a bound over some of the sets is none over all."""
    best = -math.inf
    try:
        while True:
            event = next(steps)
            if isinstance(event, Kept):
                yield event
                continue
            if event.score is not None and event.score > best:
                best = event.score
                yield Found(partial(_dag, table, event.chosen), best)
            if table.complete and math.isfinite(event.bound):
                yield Bounded(event.bound, BoundSource(kind="exact search"))
    except StopIteration as end:
        solved: Solution = end.value
        return solved
    finally:
        steps.close()


def _best_so_far(
    problem: Problem, table: ScoreTable, solved: Solution | Status
) -> Generator[Event, None, tuple[float, Status]]:
    """Say the best structure without a proof, or one that other searches begin with."""
    if not isinstance(solved, Solution):
        first = _first(problem)
        score = problem.scorer("exact").total(first)
        yield Found(first, score)
        return score, solved
    if table.complete:
        source = BoundSource(kind="exact search")
        yield Bounded(max(solved.bound, solved.score), source, solved.resolution)
    yield from map(Note, solved.notes)
    yield Found(_dag(table, solved.chosen), solved.score, engine=_engine(solved))
    return solved.score, solved.status


def _engine(solved: Solution) -> str | None:
    return "+".join(solved.engines) or None


def _proved(problem: Problem, solved: WholeResult) -> Proved:
    assert solved.proof is not None
    dag = _canonical(problem, solved.dag)
    return Proved(dag, solved.score, solved.proof.resolution, (solved.proof,), engine="dp")


def _kept_lists(problem: Problem, table: ScoreTable) -> Steps:
    """Remember lists of parent sets that are complete, here and in the file of the run."""
    if not isinstance(problem.scores, ScoreTable):
        problem.keep_table(table)
        name = _lists_name(problem)
        if name not in problem.state:
            yield Kept(name, table)


def _lists_name(problem: Problem) -> str:
    """Return what the file of a run calls the lists: those of each limit of parents are others."""
    return "lists" if problem.max_parents is None else f"lists {problem.max_parents}"


def _whole_progress(problem: Problem) -> Callable[[float], None] | None:
    if problem.reporter is None:
        return None
    return lambda share: problem.report(_OVER_ALL, share=share)


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


def _climb(problem: Problem) -> Generator[Event, None, Outcome]:
    return follow(HillClimb(reinsert=False), problem.without_start(), as_move="climb")


def _canonical(problem: Problem, dag: Dag) -> Dag:
    """Of equivalent structures return one that does not depend on how the proof was found."""
    scorer = problem.scores
    if (
        isinstance(scorer, ScoreTable)
        or not scorer.is_score_equivalent
        or problem.max_parents is not None
        or not problem.knowledge.is_empty
    ):
        return dag
    return dag.cpdag().to_dag()


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
            raise InvalidParameterError(
                "exact: statements about ancestors and required edges may need parent sets of "
                f"{child!r} that the score file lacks (files leave out sets that a subset beats); "
                f"learn from the data, or give {arg('max_parents')} if the file lists every set up "
                "to that size"
            )


def _n_sets(nodes: NodeKnowledge, child: int) -> int:
    """How many sets a child may have."""
    n_required = len(nodes.required_parents(child))
    free = len(nodes.allowed_parents(child)) - n_required
    most = min(free, int(nodes.max_parents[child]) - n_required)
    return sum(math.comb(free, k) for k in range(most + 1))
