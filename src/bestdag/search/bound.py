"""An upper bound on the score of every structure, whatever search found the one at hand."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bestdag.errors import GraphError
from bestdag.graph.knowledge import Knowledge
from bestdag.machine import memory_limit
from bestdag.progress import listening
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.limits import limits_within, with_bonuses
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.prior import ArcPrior
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.components import Component, decompose
from bestdag.search.exact.solver import Solver
from bestdag.search.problem import Problem
from bestdag.search.result import BoundSource, SearchResult
from bestdag.search.steps import Bounded, Outcome, result_of

__all__ = ["bound_after", "bound_steps", "shared_with_bound", "upper_bound"]

_Result = TypeVar("_Result", bound=SearchResult)

# Of the time there is: for listing parent sets; the rest is for linear programs.
_SHARE_FOR_SETS = 0.4
# Linear programs work on so many sets at most, and on fewer when there is little time.
_MOST_SETS, _SETS_PER_SECOND, _LEAST_SETS_PER_CHILD = 200_000, 40_000, 8
# Bounds that differ by no more than this share are equal, but for rounding.
_EQUAL = 1e-9
# Where there is less time than lists of parents take to make, they are made only if it is no more
# than this, in seconds.
_AT_ONCE = 0.05
# Not worth beginning for less, in seconds.
_LEAST_SECONDS = 0.2
# To split the problem into components, at least.
_SECONDS_PER_VARIABLE = 5e-4
# Of a time limit, what a search asked for by name leaves for the bound; without a limit the bound
# gets as long as the search took, and at least so many seconds.
_SHARE_FOR_BOUND, _SECONDS_FOR_BOUND = 0.25, 2.0


def upper_bound(
    problem: Problem,
    table: ScoreTable | None = None,
    *,
    deadline: float | None = None,
    incumbent: float = -math.inf,
) -> Bounded:
    """Bound the score of every structure that your constraints allow, by `bound_steps`.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.examples import example
    >>> from bestdag.scores.scorer import Scorer
    >>> problem = Problem(Scorer(read(example("asia.csv")), "bic"))
    >>> bound = upper_bound(problem)
    >>> round(bound.value, 6), bound.source.words()
    (-4488.374176, 'all components solved to optimality')
    """
    return result_of(bound_steps(problem, table, deadline=deadline, incumbent=incumbent))


def bound_steps(
    problem: Problem,
    table: ScoreTable | None = None,
    *,
    deadline: float | None = None,
    incumbent: float = -math.inf,
) -> Generator[Bounded, None, Bounded]:
    """Bound the score of every structure, better and better; returns the best bound.

    First by the sum over the variables of the best local score, where sets that are not listed
    have the bound of an open set, and by the likelihood of the joint distribution; then, while
    there is time, by proofs and linear programs over listed and open sets, component by component.

    Parameters
    ----------
    problem : Problem
        Statements about paths are not looked at, which can only raise the bound.
    table : ScoreTable, optional
        Parent sets that are listed already, with open sets if it is not complete. By default, and
        when nothing is known of what it lacks, sets are listed here.
    deadline : float, optional
        A value of `time.monotonic`. However early it is, the first bound is given.
    incumbent : float, optional
        Score of a structure: the work ends when the bound reaches it.
    """
    end = math.inf if deadline is None else deadline
    listing = None
    if table is None or not table.is_bounded:
        left = max(0.0, end - time.monotonic())
        if isinstance(problem.scores, ScoreTable):
            table = problem.table(left) if table is None else table
        elif table is None and problem.listing_takes > max(left, _AT_ONCE):
            joint = _joint_bound(problem, problem.scores)
            if joint.value is not None or problem.scores.native is None:
                yield joint
                return joint
            listing = ParentSetListing(problem.scores, problem.nodes)  # late, or no bound at all
        elif problem.listing_takes <= max(left, _AT_ONCE):
            listing = ParentSetListing(problem.scores, problem.nodes)
    best: Bounded | None = None
    while True:
        if listing is not None:
            listing.run(max(0.0, _SHARE_FOR_SETS * (end - time.monotonic())))
            table = listing.table()
        assert table is not None
        best = _better(best, _first_bound(problem, table, is_first=best is None))
        yield best
        if table.is_bounded and best.value is not None and best.value > incumbent:
            tightened = yield from _tightened(problem, table, end, incumbent)
            if tightened is not None:
                best = _better(best, tightened)
        if listing is None or listing.is_over or end - time.monotonic() < _LEAST_SECONDS:
            return best


def bound_after(
    result: _Result,
    scores: LocalScores,
    *,
    knowledge: Knowledge | None,
    max_parents: int | None,
    time_limit: float | None,
    threads: int | None,
) -> _Result:
    """Return a result of these scores with the lower of its own bound and one worked out now."""
    seconds = max(_SECONDS_FOR_BOUND, result.seconds) if time_limit is None else time_limit
    problem = Problem(
        scores, knowledge=knowledge, max_parents=max_parents, time_limit=seconds, workers=threads
    )
    if result.limits.exempt:
        problem.require_families(result.limits.exempt)
    known = Outcome()
    changes: dict[str, Any] = {}
    if result.bound_source is not None:
        known.take(Bounded(result.bound, result.bound_source, result.resolution))
    with memory_limit(None), listening(problem.reporter):
        problem.report("bounding the best score", score=result.score)
        try:
            for bound in bound_steps(problem, deadline=problem.deadline, incumbent=result.score):
                known.take(bound)
        except KeyboardInterrupt:
            changes["status"] = "interrupted"
    if known.bound is not None:
        value = known.bound.value
        changes["bound"] = None if value is None else max(value, result.score)
        changes["bound_source"] = known.bound.source
        changes["resolution"] = 0.0 if value is None else known.bound.resolution
    return replace(result, seconds=result.seconds + problem.seconds, **changes)


def shared_with_bound(time_limit: float | None) -> tuple[float | None, float | None]:
    """Divide a time limit between a search and the bound that follows it.

    Examples
    --------
    >>> shared_with_bound(8.0), shared_with_bound(None)
    ((6.0, 2.0), (None, None))
    """
    if time_limit is None:
        return None, None
    return (1.0 - _SHARE_FOR_BOUND) * time_limit, _SHARE_FOR_BOUND * time_limit


def _better(one: Bounded | None, other: Bounded) -> Bounded:
    """Return the lower bound of the two; of equals, the other, which took more work."""
    if one is None or one.value is None:
        return other if one is None or other.value is not None else one
    if other.value is None:
        return one
    is_lower = other.value <= one.value + _EQUAL * max(1.0, abs(one.value))
    return Bounded(min(one.value, other.value), other.source if is_lower else one.source)


def _first_bound(problem: Problem, table: ScoreTable, *, is_first: bool) -> Bounded:
    """Bound without any proof about cycles."""
    bound = _none(problem)
    if table.is_bounded:
        total = _sum_up(_best(table, i) for i in range(table.n_variables))
        bound = Bounded(total, BoundSource(kind="best local scores"))
    if is_first and not isinstance(problem.scores, ScoreTable) and not table.complete:
        bound = _better(bound, _joint_bound(problem, problem.scores))
    return bound


def _joint_bound(problem: Problem, scorer: LocalScores) -> Bounded:
    """Bound by what no distribution over all variables exceeds."""
    joint = _joint_cap(problem, scorer)
    if joint == math.inf:
        return _none(problem)
    return Bounded(joint, BoundSource(kind="joint likelihood"))


def _best(table: ScoreTable, i: int) -> float:
    """Return the most that a set of child number i may score."""
    listed, missing = table.child(i).scores, table.open_sets(i)
    assert missing is not None
    best = float(listed[0])
    return max(best, float(missing.scores[0])) if len(missing) else best


def _joint_cap(problem: Problem, scorer: LocalScores) -> float:
    prior, native = scorer.structure_prior, scorer.native
    if native is None or (prior is not None and not isinstance(prior, ArcPrior)):
        return math.inf
    cap = native.total_cap()
    if prior is None or math.isinf(cap):
        return cap
    limits = with_bonuses(limits_within(problem.nodes, len(problem.names)), problem.names, prior)
    return _sum_up(
        [cap, *(t for x in limits for t in (x.bonus, *np.maximum(x.bonuses, 0.0).tolist()))]
    )


def _none(problem: Problem) -> Bounded:
    """Say why there is no bound."""
    return Bounded(None, BoundSource(kind="none", reason=_why_not(problem)))


def _why_not(problem: Problem) -> str:
    if isinstance(problem.scores, ScoreTable):
        return "the table is not complete, and it says nothing about the sets it lacks"
    prior = problem.scores.structure_prior
    if prior is not None and not isinstance(prior, ArcPrior):
        return "not all parent sets were scored, and the structure prior is not a sum over arcs"
    name = problem.scores.score.name
    return f"not all parent sets were scored, and none is known for {name}"


def _sum_up(terms: Iterable[float]) -> float:
    """Sum, rounded up."""
    return math.nextafter(math.fsum(terms), math.inf)


def _tightened(
    problem: Problem, table: ScoreTable, end: float, incumbent: float
) -> Generator[Bounded, None, Bounded | None]:
    """Bound by proofs and linear programs; None when there is no time for any."""
    left = end - time.monotonic()
    n_sets = int(min(_SETS_PER_SECOND * left, _MOST_SETS))
    most = n_sets // table.n_variables
    least = max(_LEAST_SECONDS, _SECONDS_PER_VARIABLE * table.n_variables)
    if left < least or most < _LEAST_SETS_PER_CHILD:
        return None
    threads = problem.threads or 1
    has_all = table.complete and table.n_sets <= n_sets
    optimistic = table if has_all else table.optimistic(most, threads=threads)
    parts = sorted(decompose(optimistic), key=lambda part: len(part.variables))
    values = [
        _sum_up(_best(part.table, i) for i in range(part.table.n_variables)) for part in parts
    ]
    n_proved = 0  # variables
    is_interrupted = False
    for number, part in enumerate(parts):
        if _sum_up(values) <= incumbent or is_interrupted:
            break
        if len(part.variables) == 1:  # nothing to choose but its best set
            n_proved += 1
            continue
        share = len(part.variables) / sum(len(p.variables) for p in parts[number:])
        now = time.monotonic()
        until = math.inf if math.isinf(end) else now + share * (end - now)
        if until - now < _LEAST_SECONDS / 4:
            continue
        value, is_proved, is_interrupted = _solved(problem, part, until)
        values[number] = min(values[number], value)
        n_proved += is_proved * len(part.variables)
    source = _source(n_proved, table.n_variables, optimistic.n_sets, is_exact=has_all)
    bound = Bounded(_sum_up(values), source)
    yield bound
    if is_interrupted:
        raise KeyboardInterrupt
    return bound


def _solved(problem: Problem, part: Component, until: float) -> tuple[float, bool, bool]:
    """Bound one component: the bound, whether it is reached, and whether Ctrl-C came."""
    solver = Solver("auto", problem.threads, None if math.isinf(until) else until)
    if problem.reporter is not None:
        problem.reporter.remind()
    try:
        solved = solver.solve(part.table)
    except GraphError:  # every choice has a cycle: the knowledge allows no structure at all
        return math.inf, False, False
    value = _sum_up([solved.bound, solved.resolution])
    return value, solved.is_proved, solved.status == "interrupted"


def _source(n_proved: int, n: int, n_sets: int, *, is_exact: bool) -> BoundSource:
    if is_exact and n_proved == n:
        return BoundSource(kind="proof")
    return BoundSource(
        kind="best listed" if n_proved == n else "relaxation",
        n_sets=n_sets,
        has_open_sets=not is_exact,
        n_solved=n_proved,
        n_variables=n,
    )
