"""The search that chooses a search, by sizes and never by a stopwatch."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

from bestdag.counts.engine import n_parent_sets
from bestdag.errors import require_choice, require_positive
from bestdag.scores.build import build_score_table
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search.base import Problem, SearchResult
from bestdag.search.exact.components import decompose
from bestdag.search.exact.dp import forecast
from bestdag.search.exact.search import Exact
from bestdag.search.order import OrderSearch

__all__ = ["Auto"]

# Seconds to score a parent set: natively per 10,000 rows, and in Python.
_SECONDS_PER_SET, _SECONDS_PER_SET_IN_PYTHON = 1e-6, 2e-4
# Of the budget, for listing parent sets.
_SHARE_FOR_SETS = 0.25
# Of the budget, for the exact search; the rest is for what must follow when it has no proof.
_SHARE_FOR_EXACT = 0.7
# Branch and cut is worth a try up to so many variables that depend on each other, and sets.
_MANY_VARIABLES, _MANY_SETS = 60, 30_000
# Up to here dynamic programming is a matter of its forecast.
_DP_VARIABLES = 30


class _Choice(NamedTuple):
    """Whether to try the exact search, and why."""

    exact: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Auto:
    """Exact search where its forecast fits the budget, else search over orders.

    Parameters
    ----------
    budget : float, default 60.0
        Seconds to plan with when the problem has no time limit. Only the exact search is cut
        short by it.
    engine : {"auto", "dp", "bnc"}, default "auto"
        Engine of the exact search. One that is asked for by name is a wish for exact search.

    Notes
    -----
    The choice depends on the numbers of variables, rows and parent sets, on the statements and on
    the budget: parent sets that take more than a quarter of the budget are not listed;
    components that dynamic programming cannot solve within the budget, and that have more than
    60 variables or 30,000 sets, are not given to the exact search. Without a limit on the number
    of parents, sets are listed size by size, and the number of those scored foretells the next.

    An exact search that ends without a proof is followed by the search over orders. The better
    structure is returned, with the bound of the exact search.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bic")
    >>> result.found.search, result.status
    ('exact', 'optimum proved')
    >>> print(result.found.notes[0])
    auto chose exact: 8 variables depend on each other, dynamic programming takes about 0.0 s
    """

    name: ClassVar[str] = "auto"

    budget: float = 60.0
    engine: Literal["auto", "dp", "bnc"] = "auto"

    def __post_init__(self) -> None:
        require_positive("auto", "budget", self.budget)
        require_choice("auto", "engine", self.engine, ("auto", "dp", "bnc"))

    def run(self, problem: Problem) -> SearchResult:
        """Choose and search; the notes of the result say what was chosen and why."""
        if self.engine != "auto":
            found = Exact(engine=self.engine).run(problem)
            note = f"auto chose exact: the engine '{self.engine}' was asked for"
            return replace(found, notes=(note, *found.notes))
        budget = problem.time_limit or self.budget
        try:
            choice = _choose(problem, budget)
        except KeyboardInterrupt:  # a structure that obeys the statements takes no time
            return replace(OrderSearch().run(problem.within(0.0)), status="interrupted")
        if not choice.exact:
            found = OrderSearch().run(problem)
            return replace(found, notes=(f"auto chose order: {choice.why}", *found.notes))
        note = f"auto chose exact: {choice.why}"
        exact = Exact().run(problem.within(_SHARE_FOR_EXACT * budget))
        if exact.is_proved or exact.status == "interrupted" or problem.out_of_time():
            return replace(exact, seconds=problem.seconds, notes=(note, *exact.notes))
        return _better(problem, exact, note)


def _better(problem: Problem, exact: SearchResult, note: str) -> SearchResult:
    """Search over orders after an exact search without a proof; return the better structure."""
    order = OrderSearch().run(problem)
    notes = (note, "the exact search ended without a proof; search over orders followed")
    if order.score > exact.score:
        bound = None if exact.bound is None else max(exact.bound, order.score)
        return replace(order, bound=bound, resolution=exact.resolution, notes=notes)
    return replace(exact, status=order.status, seconds=problem.seconds, notes=notes)


def _choose(problem: Problem, budget: float) -> _Choice:
    nodes = problem.nodes
    if nodes.required_edges or nodes.has_ancestral:
        return _Choice(False, "statements about paths and open edges are not for exact engines")
    if isinstance(problem.scores, ScoreTable):
        return _choose_for_table(problem.table(), problem, budget)
    scorer = problem.scores
    affordable = _SHARE_FOR_SETS * budget / _seconds_per_set(scorer)
    table = _listed(scorer, problem, affordable)
    if table is None:
        return _Choice(
            False, f"listing all parent sets takes more than {_SHARE_FOR_SETS * budget:.0f} s"
        )
    return _choose_for_table(table, problem, budget)


def _seconds_per_set(scorer: Scorer) -> float:
    if not scorer.has_kernel:
        return _SECONDS_PER_SET_IN_PYTHON
    return _SECONDS_PER_SET * max(1.0, scorer.dataset.n_rows / 10_000)


def _listed(scorer: Scorer, problem: Problem, affordable: float) -> ScoreTable | None:
    """List parent sets size by size; None when the next size is foretold to be too many."""
    n = len(problem.names)
    most = n - 1 if problem.max_parents is None else min(problem.max_parents, n - 1)
    before, added, growth = 0, 0, math.inf
    for size in range(1, most + 1):
        # Without pruning no size has more sets than this; with it, growth slows down.
        new = min(n * (n_parent_sets(n, size) - n_parent_sets(n, size - 1)), growth)
        if before + new > affordable:
            return None
        table = build_score_table(scorer, max_parents=size, knowledge=problem.knowledge)
        last, added = added, table.n_scored - before
        if added == 0:
            return table
        growth = added * added / last if last else math.inf
        before = table.n_scored
    return table if most else build_score_table(scorer, max_parents=0, knowledge=problem.knowledge)


def _choose_for_table(table: ScoreTable, problem: Problem, budget: float) -> _Choice:
    largest = max(decompose(table), key=lambda part: len(part.variables))
    n, n_sets = len(largest.variables), largest.table.n_sets
    if n <= _DP_VARIABLES:
        seconds = forecast(n, n_sets=n_sets, threads=problem.threads).seconds
        if seconds <= _SHARE_FOR_EXACT * budget:
            return _Choice(
                True,
                f"{n} variables depend on each other, dynamic programming takes about "
                f"{seconds:.1f} s",
            )
    sizes = f"{n} variables depend on each other, with {n_sets:,} parent sets"
    if n <= _MANY_VARIABLES and n_sets <= _MANY_SETS:
        return _Choice(True, f"{sizes}: branch and cut is worth {_SHARE_FOR_EXACT * budget:.0f} s")
    return _Choice(False, f"{sizes}: too many for a proof within {budget:.0f} s")
