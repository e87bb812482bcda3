"""The default search among the sets of a file of local scores."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bestdag.errors import GraphError
from bestdag.search.exact.components import decompose
from bestdag.search.exact.dp.engine import forecast
from bestdag.search.exact.search import Exact
from bestdag.search.order.search import OrderSearch
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult

if TYPE_CHECKING:
    from bestdag.search.auto import Auto

__all__ = ["AT_ONCE", "BOUND", "search_table"]

# What comes within so many seconds needs nothing before it.
AT_ONCE = 1.0
# How the note about it begins.
BOUND = "bound on the best score: "


def search_table(settings: Auto, problem: Problem) -> SearchResult:
    """Search among the sets of a score file: orders first, unless the proof takes no time."""
    left = settings.budget - problem.seconds if problem.deadline is None else math.inf
    within = problem.within(left)
    if problem.reporter is not None:
        problem.reporter.until(within.deadline)
    largest = max(decompose(problem.table()), key=lambda part: len(part.variables))
    n, n_sets = len(largest.variables), largest.table.n_sets
    together = f"{n if n > 1 else 'no'} variables depend on each other"
    paths = problem.nodes.required_edges or problem.nodes.has_ancestral
    seconds = math.inf if paths else forecast(n, n_sets=n_sets, threads=problem.threads).seconds
    note = f"auto chose exact: {together}, with {n_sets:,} parent sets"
    first: SearchResult | None = None

    if seconds > AT_ONCE:
        limit = problem.time_limit
        share = math.inf if limit is None else 0.3 * limit
        with suppress(GraphError):  # what it does not find, exact search may
            first = OrderSearch().run(within.within(share))
        if first is not None and first.status == "interrupted":
            return replace(first, notes=(note, *first.notes))
    exact = Exact().run(within)
    if exact.is_proved or first is None:
        return replace(exact, seconds=problem.seconds, notes=(note, *exact.notes))
    notes = (note, "the exact search ended without a proof; order was searched too")
    best = exact if exact.score > first.score else first
    bound = exact.bound
    return replace(
        best,
        bound=None if bound is None else max(bound, best.score),
        resolution=exact.resolution,
        status=exact.status,
        seconds=problem.seconds,
        notes=(*notes, *(n for n in exact.notes if n.startswith(BOUND))),
    )
