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
from bestdag.search.base import Problem, SearchResult, Status
from bestdag.search.exact.components import decompose
from bestdag.search.exact.dp import forecast
from bestdag.search.exact.search import Exact
from bestdag.search.order import OrderSearch

__all__ = ["Auto"]

# Seconds to score a parent set: natively per 10,000 rows, for small sets and others; in Python.
_SMALL, _SECONDS_PER_SET, _SECONDS_PER_LARGE_SET = 3, 1e-6, 1e-5
_SECONDS_PER_SET_IN_PYTHON = 2e-4
# Of the budget, for listing parent sets, by our count; the sizes before the last come again.
_SHARE_FOR_SETS = 0.1
_LEAST_SECONDS = 1e-3
# Of the budget, for dynamic programming.
_SHARE_FOR_DP = 0.5
# Of the time limit, for the search over orders that comes before a long exact search.
_SHARE_FIRST = 0.3
# An exact search that is foretold to take no more seconds needs no other before it.
_AT_ONCE = 1.0
# Branch and cut is worth a try up to so many variables that depend on each other, and sets.
_MANY_VARIABLES, _MANY_SETS = 60, 30_000
# Up to here dynamic programming is a matter of its forecast.
_DP_VARIABLES = 30
# What Ctrl-C leaves for a structure, in seconds.
_LAST_MOMENT = 0.1


class _Choice(NamedTuple):
    """Whether to try the exact search, and why."""

    exact: bool
    why: str
    seconds: float = math.inf  # foretold for the exact search


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
    the budget: parent sets that take more than a tenth of the budget are not listed;
    components that dynamic programming cannot solve within the budget, and that have more than
    60 variables or 30,000 sets, are not given to the exact search. Without a limit on the number
    of parents, sets are listed size by size, and the number of those scored foretells the next.

    An exact search that may take more than a second comes after the search over orders. When it
    ends without a proof, the better structure is returned, with the bound of the exact search.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bic")
    >>> result.found.search, result.status
    ('exact', 'optimum proved')
    >>> print(result.found.notes[0])
    auto chose exact: 7 variables depend on each other, dynamic programming takes about 0.0 s
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
        except KeyboardInterrupt:  # a moment is enough for a climb
            found = OrderSearch().run(problem.within(_LAST_MOMENT))
            note = "auto was interrupted while it listed parent sets; this is a quick climb"
            return replace(found, status="interrupted", notes=(note, *found.notes))
        if not choice.exact:
            found = OrderSearch().run(problem)
            return replace(found, notes=(f"auto chose order: {choice.why}", *found.notes))
        note = f"auto chose exact: {choice.why}"
        first = None if choice.seconds <= _AT_ONCE else _order_first(problem)
        if first is not None and first.status == "interrupted":
            return replace(first, notes=(note, *first.notes))
        exact = Exact().run(problem.within(budget))
        if exact.is_proved or (first is None and exact.status == "interrupted"):
            return replace(exact, seconds=problem.seconds, notes=(note, *exact.notes))
        return _better(problem, exact, first or OrderSearch().run(problem), note)


def _order_first(problem: Problem) -> SearchResult:
    """Search over orders before an exact search that may not end: whatever comes, this is there."""
    limit = problem.time_limit
    return OrderSearch().run(problem.within(math.inf if limit is None else _SHARE_FIRST * limit))


def _better(problem: Problem, exact: SearchResult, order: SearchResult, note: str) -> SearchResult:
    """Return the better structure, with the bound of the exact search."""
    notes = (note, "the exact search ended without a proof; order was searched too")
    status: Status = "time limit" if problem.out_of_time() else order.status
    if exact.status == "interrupted":
        status = "interrupted"
    if exact.score > order.score:
        return replace(exact, status=status, seconds=problem.seconds, notes=notes)
    bound = None if exact.bound is None else max(exact.bound, order.score)
    return replace(
        order,
        bound=bound,
        resolution=exact.resolution,
        status=status,
        seconds=problem.seconds,
        notes=notes,
    )


def _choose(problem: Problem, budget: float) -> _Choice:
    if isinstance(problem.scores, ScoreTable):
        return _choose_for_table(problem.table(), problem, budget, 0.0)
    listed = _listed(problem.scores, problem, _SHARE_FOR_SETS * budget)
    if listed is None:
        return _Choice(
            False, f"listing all parent sets takes more than {_SHARE_FOR_SETS * budget:.1f} s"
        )
    table, listing = listed
    problem.keep_table(table)
    return _choose_for_table(table, problem, budget, listing)


def _listed(scorer: Scorer, problem: Problem, seconds: float) -> tuple[ScoreTable, float] | None:
    """List parent sets size by size, with seconds by our count; None when that takes too long.

    Required parents do not count.
    """
    nodes = problem.nodes
    n = len(problem.names)
    most = n - 1 if problem.max_parents is None else min(problem.max_parents, n - 1)
    scored, added, growth, used = 0, 0, math.inf, 0.0
    for size in range(most + 1):
        # Without pruning no size has more sets than this; with it, growth slows down.
        smaller = n_parent_sets(n, size - 1) if size else 0
        new = min(n * (n_parent_sets(n, size) - smaller), growth)
        if used + new * _seconds_per_set(scorer, size) > seconds:
            return None
        left = problem.seconds_left
        table = build_score_table(
            scorer,
            max_parents={
                name: min(size + len(nodes.required_parents(v)), int(nodes.max_parents[v]))
                for v, name in enumerate(nodes.names)
            },
            knowledge=problem.knowledge,
            time_limit=None if math.isinf(left) else max(left, _LEAST_SECONDS),
        )
        if not table.complete:
            return None
        last, added = added, table.n_scored - scored
        if added == 0:
            break
        used += added * _seconds_per_set(scorer, size)
        growth = added * added / last if size > 1 else math.inf
        scored = table.n_scored
    return table, used


def _seconds_per_set(scorer: Scorer, size: int) -> float:
    if not scorer.has_kernel:
        return _SECONDS_PER_SET_IN_PYTHON
    seconds = _SECONDS_PER_SET if size <= _SMALL else _SECONDS_PER_LARGE_SET
    return seconds * max(1.0, scorer.dataset.n_rows / 10_000)


def _choose_for_table(
    table: ScoreTable, problem: Problem, budget: float, listing: float
) -> _Choice:
    largest = max(decompose(table), key=lambda part: len(part.variables))
    n, n_sets = len(largest.variables), largest.table.n_sets
    together = f"{n if n > 1 else 'no'} variables depend on each other"
    if n <= _DP_VARIABLES:
        seconds = forecast(n, n_sets=n_sets, threads=problem.threads).seconds
        if seconds <= _SHARE_FOR_DP * budget:
            return _Choice(
                True,
                f"{together}, dynamic programming takes about {seconds:.1f} s",
                math.inf if _has_paths(problem) else seconds + listing,
            )
    sizes = f"{together}, with {n_sets:,} parent sets"
    if n <= _MANY_VARIABLES and n_sets <= _MANY_SETS:
        return _Choice(True, f"{sizes}: branch and cut is worth a try")
    return _Choice(False, f"{sizes}: too many for a proof within {budget:.0f} s")


def _has_paths(problem: Problem) -> bool:
    """Whether statements are left that the exact search settles case by case."""
    return bool(problem.nodes.required_edges or problem.nodes.has_ancestral)
