"""How a walking search runs: to its end, to a limit, or to Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bestdag.errors import require_count
from bestdag.search.climbing.starts import random_parents, tree_parents
from bestdag.search.climbing.walk import Walk
from bestdag.search.feasible import Parents
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult

__all__ = ["STARTS", "finish", "require_limits", "walk_for"]

STARTS = ("empty", "random", "tree")


def require_limits(who: str, candidates: int | None, max_steps: int | None) -> None:
    """Check settings that several searches have."""
    if candidates is not None:
        require_count(who, "candidates", candidates, minimum=1)
    if max_steps is not None:
        require_count(who, "max_steps", max_steps)


def walk_for(search: Any, problem: Problem, *, remember: bool) -> Walk:
    """Make the walk that the settings of a search ask for."""
    return Walk(
        search.name,
        problem,
        problem.nodes,
        n_candidates=search.candidates,
        max_steps=search.max_steps,
        remember=remember,
    )


def finish(
    search: Any, walk: Walk, body: Callable[[Walk], None], start_from: str = "empty"
) -> SearchResult:
    """Run the body of a search and return the best structure it met, however it ended."""

    def run() -> None:
        with walk.part(walk.who, walk.state) as saved:
            if saved is not None:
                walk.recall(saved)
            walk.prepare()
            if saved is None:
                walk.begin(_first_parents(walk, start_from))
            else:
                walk.go_on(saved)
            body(walk)

    problem = walk.problem
    status = problem.until_stopped(run)
    dag = problem.dag(walk.best_parents())
    score = walk.best_score if walk.has_begun else problem.scorer(walk.who).total(dag)
    return problem.result(search, dag, score, status, trace=walk.trace(), notes=walk.notes)


def _first_parents(walk: Walk, start_from: str) -> Parents:
    if walk.problem.start is None and start_from == "random":
        return random_parents(walk, 0)
    if walk.problem.start is None and start_from == "tree":
        return tree_parents(walk)
    return walk.base
